import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { killFamily } from '../processes.ts'
import { SYSTEM_KEY } from '../test-platform.ts'

/** A platform in processes of its own, as `npm start` runs it. */
export interface KillablePlatform {
  url: string
  /** Kills every process with SIGKILL, and waits until they have ended. */
  kill(): Promise<void>
  stop(): Promise<void>
}

export interface PlatformPlace {
  dataDir: string
  port: number
  opsPort: number
  settings: Readonly<Record<string, string>>
}

const ROOT = join(import.meta.dirname, '../../..')
const OUTPUT_LINES = 60

/** Starts a platform, and waits until it is ready. */
export async function startKillablePlatform({ dataDir, port, opsPort, settings }: PlatformPlace): Promise<KillablePlatform> {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('VITASCOPE_')))
  const env = {
    ...inherited,
    VITASCOPE_PORT: String(port),
    VITASCOPE_OPS_PORT: String(opsPort),
    VITASCOPE_DATA_DIR: dataDir,
    VITASCOPE_SYSTEM_KEY: SYSTEM_KEY,
    VITASCOPE_SOURCE_ALLOW: '127.0.0.0/8',
    VITASCOPE_LIMITS: 'off',
    ...settings,
  }
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(ROOT, 'tools/start.ts')], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  try {
    await waitUntilReady(child)
  } catch (error) {
    await killAll(child)
    throw error
  }
  return {
    url: `http://127.0.0.1:${port}`,
    kill: () => killAll(child),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await exited
    },
  }
}

function waitUntilReady(child: ChildProcess): Promise<void> {
  const lines: string[] = []
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on('line', (line) => {
        if (lines.push(line) > OUTPUT_LINES) lines.shift()
        if (process.env['VITASCOPE_TEST_LOG']) process.stderr.write(`${line}\n`)
        if (line.includes('Vitascope is ready')) resolve()
      })
    }
    child.once('exit', (code) => reject(new Error(`the platform exited with ${code}:\n${lines.join('\n')}`)))
  })
}

async function killAll({ pid }: ChildProcess): Promise<void> {
  if (pid !== undefined) await killFamily(pid)
}
