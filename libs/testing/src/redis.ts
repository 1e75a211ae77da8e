import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vitascope/embedded-postgres'
import { findProgram } from './programs.ts'
import { waitFor } from './wait-for.ts'

/** Returns the path of a Valkey or Redis server, or undefined if none is installed. */
export function redisPath(): string | undefined {
  return findProgram(['valkey-server', 'redis-server'])
}

export interface TestRedis {
  url: string
  /** Suspends the server: it stops responding, but its connections stay open. */
  pause(): void
  resume(): void
  kill(): Promise<void>
  /** Starts the server again on the same port, without data. */
  start(): Promise<void>
  /** Deletes all data. */
  flush(): Promise<void>
  /** Fills the server with junk and limits its memory to 1 MB, so that it rejects further writes. */
  fill(): Promise<void>
  /** Deletes the junk and removes the limit of `fill`. */
  removeJunk(): Promise<void>
  stop(): Promise<void>
}

const PONG = '+PONG\r\n'
const RESPONSE_TIMEOUT_MS = 10_000
const FILL = `for nth = 1, 4000 do redis.call('set', 'junk:' .. nth, string.rep('x', 1000)) end`
const EMPTY = `for nth = 1, 4000 do redis.call('del', 'junk:' .. nth) end`

/** Starts a server without persistence; requires `redisPath()`. */
export async function startRedis(): Promise<TestRedis> {
  const program = redisPath()
  if (program === undefined) throw new Error('no Valkey or Redis server is installed')
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-redis-'))
  const port = await freePort()
  const run = async () => {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
    const child = spawn(program, args, { stdio: 'ignore' })
    await waitFor(async () => (await call(port, 'PING')) === '+PONG', { timeout: 20_000, describe: 'Redis to respond' })
    return child
  }
  let child = await run()
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  const sendCommand = async (...words: string[]) => {
    const result = await call(port, ...words)
    if (result.startsWith('-')) throw new Error(`Redis rejects ${words[0]}: ${result}`)
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
    async start() {
      child = await run()
    },
    flush: () => sendCommand('FLUSHALL'),
    async fill() {
      await sendCommand('EVAL', FILL, '0')
      await sendCommand('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
      await sendCommand('CONFIG', 'SET', 'maxmemory', '1mb')
    },
    async removeJunk() {
      await sendCommand('CONFIG', 'SET', 'maxmemory', '0')
      await sendCommand('EVAL', EMPTY, '0')
    },
    async stop() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Returns the first line of a response. Its first character is the type: `+OK`, `-ERR …`. */
async function call(port: number, ...words: string[]): Promise<string> {
  const response = await callRedis(port, ...words)
  return response.slice(0, response.indexOf('\r\n'))
}

/** Returns the complete response to a command (RESP2). It ends at the response to PING, which follows the command. */
export function callRedis(port: number, ...words: string[]): Promise<string> {
  const commands = [words, ['PING']].map((command) => {
    const parts = command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
    return `*${parts.length}\r\n${parts.join('')}`
  })
  return new Promise((resolve, reject) => {
    let result = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(commands.join('')))
    socket.setTimeout(RESPONSE_TIMEOUT_MS, () => socket.destroy(new Error('Redis does not respond')))
    socket.setEncoding('utf8').on('data', (text: string) => {
      result += text
      if (result.length > PONG.length && result.endsWith(PONG)) socket.end(() => resolve(result.slice(0, -PONG.length)))
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('Redis ended before it responded')))
  })
}
