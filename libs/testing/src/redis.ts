import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vitascope/embedded-postgres'
import { findProgram } from './programs.ts'
import { waitFor } from './wait-for.ts'

/** A Redis or Valkey of this machine; undefined when there is none. */
export function redisPath(): string | undefined {
  return findProgram(['valkey-server', 'redis-server'])
}

export interface TestRedis {
  url: string
  /** It stops to answer, and keeps its connections. */
  pause(): void
  resume(): void
  kill(): Promise<void>
  /** On the same port, empty. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** A server of the test's own, which writes nothing to disk; needs `redisPath()`. */
export async function startRedis(): Promise<TestRedis> {
  const program = redisPath()
  if (program === undefined) throw new Error('there is no redis-server here')
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-redis-'))
  const port = await freePort()
  const run = async () => {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
    const child = spawn(program, args, { stdio: 'ignore' })
    await waitFor(() => answers(port), { timeout: 20_000, describe: 'Redis to answer' })
    return child
  }
  let child = await run()
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
    async start() {
      child = await run()
    },
    async stop() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end('PING\r\n'))
    socket.once('data', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
  })
}
