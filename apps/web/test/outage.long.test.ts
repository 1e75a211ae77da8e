import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserPath } from '@vitascope/testing'
import { outageKinds, runOutage } from './outage-run.ts'
import { type OutageSetup, startOutageSetup } from './outage-setup.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe

/** Runs of each kind; `CONCURRENCY` of them run concurrently. */
const RUNS = 10
const CONCURRENCY = 5

describeInBrowser('playback', () => {
  let setup: OutageSetup

  beforeAll(async () => {
    setup = await startOutageSetup(browserFile ?? '')
  }, 120_000)
  afterAll(() => setup?.stop())

  test.each(outageKinds)(
    'resumes by itself within 5 s after each of ten outages of the kind "%s"',
    async (kind) => {
      const run = async () => {
        const proxy = await setup.openProxy()
        // Responses with 503 arrive at once, so two minutes allow many retries of the player.
        const seconds = kind === 'unavailable' ? 120 : 5 + 15 * Math.random()
        return runOutage({ kind, browser: setup.browser, proxy, path: '/player/long?autoplay=1&muted=1', seconds })
      }
      const settled = []
      while (settled.length < RUNS) settled.push(...(await Promise.allSettled(Array.from({ length: CONCURRENCY }, run))))
      const results = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      const failures = settled.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []))
      console.log(kind, JSON.stringify(results), failures.join('\n'))
      expect(failures).toEqual([])
      for (const { resumedAfterMs, requests, outageMs, maxMediaRequestsPerSecond } of results) {
        expect(resumedAfterMs).toBeLessThan(5_000)
        expect(maxMediaRequestsPerSecond).toBeLessThanOrEqual(1)
        expect(requests).toBeLessThanOrEqual(outageMs / 1000)
      }
    },
    900_000,
  )
})
