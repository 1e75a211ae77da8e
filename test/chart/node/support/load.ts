import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** Result of a steady load. */
export interface LoadReport {
  /** Number of responses with status 200. */
  responses: number
  /** Time, status or connection error, and URL of each other call. */
  lost: string[]
  /** Durations of all calls, including failed ones. */
  timesMs: number[]
}

/** Returns the duration in milliseconds that this share of the calls did not exceed. */
export function percentile({ timesMs }: LoadReport, share: number): number {
  return Math.round(timesMs.toSorted((a, b) => a - b)[Math.ceil(timesMs.length * share) - 1] ?? 0)
}

/**
 * Calls the URLs in turn at a fixed rate per second until `end`, independent of earlier responses
 * and without retries.
 */
export function startLoad(urls: readonly string[], { perSecond, key }: { perSecond: number; key: string }) {
  const authorization = `Basic ${Buffer.from(`${key}:x`).toString('base64')}`
  // Each request uses a new connection, because a kept connection stays with its pod even when the
  // Service changes.
  const agent = new Agent({ keepAlive: false })
  const report: LoadReport = { responses: 0, lost: [], timesMs: [] }
  const pending = new Set<Promise<void>>()
  let isOver = false
  const sendRequest = (url: string) =>
    new Promise<void>((resolve) => {
      const started = performance.now()
      const settle = (fault?: string) => {
        report.timesMs.push(performance.now() - started)
        if (fault === undefined) report.responses++
        else report.lost.push(`${new Date().toISOString()} ${fault} ${url}`)
        resolve()
      }
      const call = get(url, { agent, headers: { authorization }, timeout: 30_000 }, (result) => {
        result.resume()
        result.on('end', () => settle(result.statusCode === 200 ? undefined : String(result.statusCode)))
        result.on('error', (error) => settle(error.message))
      })
      call.on('timeout', () => call.destroy(new Error('no response in 30 s')))
      call.on('error', (error) => settle(error.message))
    })
  const running = (async () => {
    const started = performance.now()
    for (let nth = 0; !isOver; nth++) {
      const call = sendRequest(urls[nth % urls.length] ?? '').finally(() => pending.delete(call))
      pending.add(call)
      await delay(Math.max(0, started + ((nth + 1) * 1_000) / perSecond - performance.now()))
    }
    await Promise.all(pending)
  })()
  return {
    async end(): Promise<LoadReport> {
      isOver = true
      await running
      return report
    },
  }
}
