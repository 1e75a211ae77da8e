import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, statfs } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { makeTokenKeys } from '@vitascope/security'
import type { PlatformConfig } from './config.ts'
import { createPrincipalKeys, type PrincipalKeyFiles } from './principal-keys.ts'
import { StartError } from './start-error.ts'

/** The data folder, locked by this process until `release`. */
export interface DataFolder {
  path: string
  /** Paths of the files that contain the secrets. */
  secrets: { masterKey: string; tokenKeys: string; uploadSigningKey: string; idempotencyHashKey: string; postgresPassword: string }
  principalKeys: PrincipalKeyFiles
  release(): Promise<void>
}

/** Minimum free disk space for PostgreSQL and encoding. */
const MIN_FREE_BYTES = 256 * 1024 * 1024

/**
 * Creates the folder and its secrets if they are missing, and locks it. Throws if another process
 * uses it or its disk is full.
 */
export async function openDataFolder(config: PlatformConfig): Promise<DataFolder> {
  const path = config.dataDir
  const lock = await explainFileErrors(path, async () => {
    await mkdir(join(path, 'secrets'), { recursive: true, mode: 0o700 })
    const folderLock = await lockFolder(path)
    const { bavail, bsize } = await statfs(path)
    if (bavail * bsize < MIN_FREE_BYTES) {
      await close(folderLock)
      const free = Math.floor((bavail * bsize) / 1024 / 1024)
      throw new StartError(`the disk of ${path} is full (${free} MB free): free at least 256 MB, or set VITASCOPE_DATA_DIR to another one`)
    }
    return folderLock
  })
  const secret = (name: string, configuredFile: string | undefined, createValue: () => string) =>
    configuredFile === undefined
      ? explainFileErrors(path, () => findOrCreateSecret(join(path, 'secrets', name), createValue))
      : Promise.resolve(configuredFile)
  const random = () => randomBytes(32).toString('base64url')
  return {
    path,
    secrets: {
      masterKey: await secret('master-key', config.secretFiles.masterKey, random),
      tokenKeys: await secret('token-keys', config.secretFiles.tokenKeys, makeTokenKeys),
      uploadSigningKey: await secret('upload-signing-key', config.secretFiles.uploadSigningKey, random),
      idempotencyHashKey: await secret('idempotency-hash-key', config.secretFiles.idempotencyHashKey, random),
      postgresPassword: await secret('postgres-password', undefined, random),
    },
    principalKeys: await explainFileErrors(path, () => createPrincipalKeys(join(path, 'secrets'))),
    release: () => close(lock),
  }
}

/**
 * Locks the folder with a listening socket named after it. The kernel assigns the name to one
 * process, and releases it when that process ends for any reason. The socket sends the process id
 * to each client.
 */
async function lockFolder(path: string): Promise<Server> {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32)
  const address = process.platform === 'linux' ? `\0vitascope-${name}` : join(path, 'running.sock')
  const server = createServer((socket) => socket.end(String(process.pid)))
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(address, resolve))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new StartError(
      `Vitascope already runs on ${path} (process ${await readLockHolder(address)}): stop it first, or set VITASCOPE_DATA_DIR`,
    )
  }
  server.unref()
  return server
}

function readLockHolder(address: string): Promise<string> {
  return new Promise((resolve) => {
    let processId = ''
    connect(address)
      .on('data', (data) => (processId += data))
      .on('error', () => resolve('unknown'))
      .on('close', () => resolve(processId || 'unknown'))
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}

/** Returns the path of the file of a secret. Creates the file if it does not exist. After a crash the file is complete or missing. */
async function findOrCreateSecret(file: string, createValue: () => string): Promise<string> {
  try {
    if ((await readFile(file, 'utf8')).trim() !== '') {
      await chmod(file, 0o600)
      return file
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const partial = `${file}.part`
  const handle = await open(partial, 'w', 0o600)
  await handle.writeFile(`${createValue()}\n`)
  await handle.sync()
  await handle.close()
  await rename(partial, file)
  return file
}

/** Runs a function and replaces file system errors by a `StartError` that says what to do. */
async function explainFileErrors<T>(path: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC') throw new StartError(`the disk of ${path} is full: free some space, or set VITASCOPE_DATA_DIR to another one`)
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
      throw new StartError(`${path} cannot be written (${code}): set VITASCOPE_DATA_DIR to a folder of yours`)
    }
    if (code === 'ENOTDIR' || code === 'EEXIST') throw new StartError(`${path} is not a folder: set VITASCOPE_DATA_DIR to another one`)
    throw error
  }
}
