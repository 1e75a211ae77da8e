import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, open, readFile, statfs } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { makeTokenKeys } from '@vitascope/access'
import type { StandaloneConfig } from './config.ts'
import { StartRefused } from './start-refused.ts'

/** The data folder, held by this process: nobody else starts on it until `release`. */
export interface DataFolder {
  path: string
  secrets: { principalKey: string; masterKey: string; tokenKeys: string; postgresPassword: string }
  release(): Promise<void>
}

/** Below this, PostgreSQL and encoding could not work. */
const LEAST_FREE_BYTES = 256 * 1024 * 1024

/** Makes the folder and its secrets where they are missing, and holds it. Refuses when another one runs on it or its disk is full. */
export async function openDataFolder(config: StandaloneConfig): Promise<DataFolder> {
  const path = config.dataDir
  const guard = await explained(path, async () => {
    await mkdir(join(path, 'secrets'), { recursive: true, mode: 0o700 })
    const held = await hold(path)
    const { bavail, bsize } = await statfs(path)
    if (bavail * bsize < LEAST_FREE_BYTES) {
      await close(held)
      const free = Math.floor((bavail * bsize) / 1024 / 1024)
      throw new StartRefused(
        `the disk of ${path} is full (${free} MB free): free at least 256 MB, or set VITASCOPE_DATA_DIR to another one`,
      )
    }
    return held
  })
  const secret = (name: string, given: string | undefined, make: () => string) =>
    given === undefined ? explained(path, () => keptSecret(join(path, 'secrets', name), make)) : Promise.resolve(given)
  const random = () => randomBytes(32).toString('base64url')
  return {
    path,
    secrets: {
      principalKey: await secret('principal-key', config.secretFiles.principalKey, random),
      masterKey: await secret('master-key', config.secretFiles.masterKey, random),
      tokenKeys: await secret('token-keys', config.secretFiles.tokenKeys, makeTokenKeys),
      postgresPassword: await secret('postgres-password', undefined, random),
    },
    release: () => close(guard),
  }
}

/**
 * A listening socket named after the folder: the kernel gives the name to one process, and frees it with that process's end,
 * however it ends. Who connects is told the process id.
 */
async function hold(path: string): Promise<Server> {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32)
  const address = process.platform === 'linux' ? `\0vitascope-${name}` : join(path, 'running.sock')
  const server = createServer((socket) => socket.end(String(process.pid)))
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(address, resolve))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new StartRefused(`Vitascope runs on ${path} already (process ${await holder(address)}): stop it first, or set VITASCOPE_DATA_DIR`)
  }
  server.unref()
  return server
}

function holder(address: string): Promise<string> {
  return new Promise((resolve) => {
    let said = ''
    connect(address)
      .on('data', (data) => (said += data))
      .on('error', () => resolve('unknown'))
      .on('close', () => resolve(said || 'unknown'))
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}

/** The path of a file that holds a secret, made with mode 0600 when it is not there; half-written ones cannot be. */
async function keptSecret(file: string, make: () => string): Promise<string> {
  try {
    if ((await readFile(file, 'utf8')).trim() !== '') {
      await chmod(file, 0o600)
      return file
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const handle = await open(file, 'w', 0o600)
  await handle.writeFile(`${make()}\n`)
  await handle.sync()
  await handle.close()
  return file
}

async function explained<T>(path: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC') throw new StartRefused(`the disk of ${path} is full: free some space, or set VITASCOPE_DATA_DIR to another one`)
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
      throw new StartRefused(`${path} cannot be written (${code}): set VITASCOPE_DATA_DIR to a folder of yours`)
    }
    if (code === 'ENOTDIR' || code === 'EEXIST') throw new StartRefused(`${path} is not a folder: set VITASCOPE_DATA_DIR to another one`)
    throw error
  }
}
