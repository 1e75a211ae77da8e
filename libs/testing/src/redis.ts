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
  /** Forgets all that it holds. */
  flush(): Promise<void>
  /** Fills it with junk and allows it 1 MB, so that it refuses whatever takes room. */
  fill(): Promise<void>
  /** Takes the junk and the bound of `fill` away again. */
  makeRoom(): Promise<void>
  stop(): Promise<void>
}

const FILL = `for nth = 1, 4000 do redis.call('set', 'junk:' .. nth, string.rep('x', 1000)) end`
const EMPTY = `for nth = 1, 4000 do redis.call('del', 'junk:' .. nth) end`

/** A server of the test's own, which writes nothing to disk; needs `redisPath()`. */
export async function startRedis(): Promise<TestRedis> {
  const program = redisPath()
  if (program === undefined) throw new Error('there is no redis-server here')
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-redis-'))
  const port = await freePort()
  const run = async () => {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
    const child = spawn(program, args, { stdio: 'ignore' })
    await waitFor(async () => (await ask(port, 'PING')) === '+PONG', { timeout: 20_000, describe: 'Redis to answer' })
    return child
  }
  let child = await run()
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  const told = async (...words: string[]) => {
    const answer = await ask(port, ...words)
    if (answer.startsWith('-')) throw new Error(`Redis refuses ${words[0]}: ${answer}`)
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
    async start() {
      child = await run()
    },
    flush: () => told('FLUSHALL'),
    async fill() {
      await told('EVAL', FILL, '0')
      await told('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
      await told('CONFIG', 'SET', 'maxmemory', '1mb')
    },
    async makeRoom() {
      await told('CONFIG', 'SET', 'maxmemory', '0')
      await told('EVAL', EMPTY, '0')
    },
    async stop() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The first line of the answer, whose first character says what it is: `+OK`, `-ERR …`. */
function ask(port: number, ...words: string[]): Promise<string> {
  const command = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(`*${words.length}\r\n${command}`))
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text
      if (answer.includes('\r\n')) socket.end(() => resolve(answer.slice(0, answer.indexOf('\r\n'))))
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('Redis ended before it had answered')))
  })
}
