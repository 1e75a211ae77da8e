import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Kinds of requests, whose times are reported separately. */
export const KINDS = ['read', 'write', 'segment', 'event', 'upload'] as const
export type Kind = (typeof KINDS)[number]

/**
 * One request. In its body, `{n}` becomes a new text each time, every `{uuid}` a new UUID, every
 * `{view}` one UUID per request, and every `{now}` the time in milliseconds.
 */
export interface LoadRequest {
  kind: Kind
  method: string
  url: string
  headers: Record<string, string>
  body?: string | undefined
}

export interface LoadOrder {
  /** Distinguishes the texts of this run from those of other runs. */
  name: string
  /** Requests, sent in turn and repeatedly. */
  requests: readonly LoadRequest[]
  seconds: number
  /**
   * Number of closed-loop callers, each with one request at a time. With a rate, it is the maximum
   * number of connections.
   */
  connections: number
  /** Requests per second of an open loop: they are sent at this rate without waiting for responses. */
  rate?: number
}

/** Percentiles in milliseconds. */
export interface Percentiles {
  count: number
  p50: number
  p99: number
  p999: number
  max: number
}

export interface Figures {
  seconds: number
  sent: number
  /** By kind and status: `read 200`. */
  counts: Record<string, number>
  /** Responses of 429 and 503. */
  rejections: number
  rejectionsWithRetryAfter: number
  /**
   * Times of responses below 300: from the due time of the request, and from the time when a connection
   * was available for it.
   */
  times: Record<Kind, { fromDue: Percentiles; fromSend: Percentiles }>
  /** CPU time of the load generator as a share of one processor. */
  cpuShare: number
}

export interface LoadGenerator {
  run(order: LoadOrder): Promise<Figures>
  stop(): Promise<void>
}

/** Starts the load generator process. With `cpus`, it is pinned to these processors. */
export function startLoadGenerator(cpus?: string): LoadGenerator {
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', fileURLToPath(new URL('load.ts', import.meta.url))]
  const [command = '', ...args] = cpus === undefined ? program : ['taskset', '-c', cpus, ...program]
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' })
  const exited = once(child, 'exit')
  return {
    async run(order) {
      child.send(order)
      const [figures] = await Promise.race([
        once(child, 'message'),
        exited.then(() => Promise.reject(new Error('the load generator has exited'))),
      ])
      return figures as Figures
    },
    async stop() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}

export function percentiles(times: readonly number[]): Percentiles {
  const sorted = Float64Array.from(times).sort()
  const percentile = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { count: sorted.length, p50: percentile(0.5), p99: percentile(0.99), p999: percentile(0.999), max: percentile(1) }
}
