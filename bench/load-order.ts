import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** One request; `{n}` in its body becomes a text that is new each time, every `{uuid}` a UUID of its own, every `{view}` the one of the request, every `{now}` the time in milliseconds. */
export interface Ask {
  kind: 'read' | 'write'
  method: string
  url: string
  headers: Record<string, string>
  body?: string | undefined
}

export interface LoadOrder {
  /** Tells the texts of one run from those of another. */
  name: string
  /** Asked in turn, again and again. */
  asks: readonly Ask[]
  seconds: number
  /** Callers of a closed loop, each with one request at a time; with a rate, how many connections there are at most. */
  connections: number
  /** Requests a second, open loop. */
  rate?: number
}

/** Milliseconds. */
export interface Percentiles {
  count: number
  p50: number
  p99: number
  most: number
}

export interface Figures {
  seconds: number
  asked: number
  /** By kind and status: `read 200`. */
  counts: Record<string, number>
  /** Answers of 429 and 503. */
  refusals: number
  refusalsWithRetryAfter: number
  /** Of good answers: from when the request was due, and from when it went out. */
  reads: { fromDue: Percentiles; fromSent: Percentiles }
  writes: { fromDue: Percentiles; fromSent: Percentiles }
  /** Of one processor, that the asking took. */
  cpuShare: number
}

export interface LoadGenerator {
  run(order: LoadOrder): Promise<Figures>
  stop(): Promise<void>
}

/** Starts the process that asks, where `cpus` are given on these alone. */
export function startLoadGenerator(cpus?: string): LoadGenerator {
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', fileURLToPath(new URL('load.ts', import.meta.url))]
  const [command = '', ...args] = cpus === undefined ? program : ['taskset', '-c', cpus, ...program]
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const gone = once(child, 'exit')
  return {
    async run(order) {
      child.send(order)
      const [figures] = await Promise.race([
        once(child, 'message'),
        gone.then(() => Promise.reject(new Error('the load generator has ended'))),
      ])
      return figures as Figures
    },
    async stop() {
      if (child.connected) child.disconnect()
      await gone
    },
  }
}

export function percentiles(times: readonly number[]): Percentiles {
  const sorted = Float64Array.from(times).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), most: at(1) }
}
