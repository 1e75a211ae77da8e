import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** What came of steady calls. */
export interface LoadReport {
  answered: number
  /** Status, or the fault of the connection, with the address. */
  lost: string[]
  /** Of every call, answered or lost. */
  timesMs: number[]
}

/** The time that this share of the calls did not exceed. */
export function percentile({ timesMs }: LoadReport, share: number): number {
  return Math.round(timesMs.toSorted((a, b) => a - b)[Math.ceil(timesMs.length * share) - 1] ?? 0)
}

/** Calls the addresses in turn, so many a second, whether or not the ones before are answered, until `end`; none is repeated. */
export function startLoad(urls: readonly string[], { perSecond, key }: { perSecond: number; key: string }) {
  const authorization = `Basic ${Buffer.from(`${key}:x`).toString('base64')}`
  // A connection each: one that is kept has a pod at its end, whatever becomes of the service.
  const agent = new Agent({ keepAlive: false })
  const report: LoadReport = { answered: 0, lost: [], timesMs: [] }
  const under = new Set<Promise<void>>()
  let isOver = false
  const once = (url: string) =>
    new Promise<void>((resolve) => {
      const begun = performance.now()
      const settle = (fault?: string) => {
        report.timesMs.push(performance.now() - begun)
        if (fault === undefined) report.answered++
        else report.lost.push(`${new Date().toISOString()} ${fault} ${url}`)
        resolve()
      }
      const call = get(url, { agent, headers: { authorization }, timeout: 30_000 }, (answer) => {
        answer.resume()
        answer.on('end', () => settle(answer.statusCode === 200 ? undefined : String(answer.statusCode)))
        answer.on('error', (error) => settle(error.message))
      })
      call.on('timeout', () => call.destroy(new Error('no answer in 30 s')))
      call.on('error', (error) => settle(error.message))
    })
  const running = (async () => {
    const begun = performance.now()
    for (let nth = 0; !isOver; nth++) {
      const call = once(urls[nth % urls.length] ?? '').finally(() => under.delete(call))
      under.add(call)
      await delay(Math.max(0, begun + ((nth + 1) * 1_000) / perSecond - performance.now()))
    }
    await Promise.all(under)
  })()
  return {
    async end(): Promise<LoadReport> {
      isOver = true
      await running
      return report
    },
  }
}
