import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '@vitascope/embedded-postgres'
import { endOnSignal } from '../end-on-signal.ts'
import { type ReportFigure, singleValue } from '../figure.ts'
import { proportionalMib } from '../process-memory.ts'
import { median } from '../ratio.ts'

const GOALS = { seconds: 6, mib: 900 }
const READY_TIMEOUT_MS = 300_000

/**
 * Measures `npm start` in a folder that an earlier start has filled, and the memory of all its
 * processes while they are idle.
 */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: 'string', default: '5' }, 'idle-seconds': { type: 'string', default: '60' } },
  })
  const [rounds, idleSeconds] = [Number(values.rounds), Number(values['idle-seconds'])]
  if (!rounds || !idleSeconds) throw new Error('--rounds and --idle-seconds must be numbers above 0')
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-bench-start-'))
  let platform: StartedPlatform | undefined
  const end = async () => {
    await platform?.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  endOnSignal(end)
  try {
    const seconds: number[] = []
    // The first start is not counted. It creates the database.
    for (let round = 0; round <= rounds; round++) {
      await platform?.stop()
      platform = await startByNpm(folder)
      console.log(`  start ${round}: ready after ${platform.seconds.toFixed(1)} s`)
      if (round > 0) seconds.push(platform.seconds)
    }
    const [low, high] = [Math.min(...seconds), Math.max(...seconds)]
    report({
      ...{ row: 'ready', title: `second npm start until ready (median, fastest and slowest of ${rounds})`, unit: 's' },
      ...{ value: { median: median(seconds), low, high }, goal: { atMost: GOALS.seconds } },
    })
    await delay(idleSeconds * 1_000)
    const mib = proportionalMib(platform?.pid)
    report({
      ...{ row: 'memory', title: `memory (PSS) of all processes, ${idleSeconds} s after the start`, unit: 'MiB' },
      ...{ value: singleValue(mib), goal: { atMost: GOALS.mib } },
    })
  } finally {
    await end()
  }
}

interface StartedPlatform {
  pid: number | undefined
  /** Time until it printed that it is ready. */
  seconds: number
  stop(): Promise<void>
}

async function startByNpm(folder: string): Promise<StartedPlatform> {
  const [port, opsPort] = [await freePort(), await freePort()]
  const env = {
    ...process.env,
    VITASCOPE_DATA_DIR: folder,
    VITASCOPE_PORT: String(port),
    VITASCOPE_OPS_PORT: String(opsPort),
  }
  const started = performance.now()
  const child = spawn('npm', ['start'], { env, stdio: ['ignore', 'pipe', 'pipe'], cwd: join(import.meta.dirname, '../..') })
  const exited = once(child, 'exit')
  await waitUntilReady(child)
  return {
    pid: child.pid,
    seconds: (performance.now() - started) / 1_000,
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

async function waitUntilReady(child: ChildProcess): Promise<void> {
  const output: string[] = []
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on('line', (line) => {
        output.push(line)
        if (line.includes('Vitascope is ready')) resolve()
      })
    }
    child.once('exit', (code) => reject(new Error(`npm start exited with ${code}:\n${output.slice(-20).join('\n')}`)))
    setTimeout(() => reject(new Error(`npm start is not ready:\n${output.slice(-20).join('\n')}`)), READY_TIMEOUT_MS).unref()
  })
  await ready
}
