import { setTimeout as delay } from 'node:timers/promises'
import { asSuperuser } from '../../e2e/support/database.ts'
import { residentMib } from '../../e2e/support/resident-memory.ts'
import type { TestPlatform } from '../../e2e/support/test-platform.ts'
import { createTenant, type Tenant } from '../../e2e/support/video-steps.ts'
import { type ReportFigure, singleValue } from '../figure.ts'
import { type LoadGenerator, percentiles } from '../load-order.ts'

const VIDEOS = 2_000
const DAYS = 120
const HEAVY_CALLERS = 20
const LIGHT_CALLERS = 2
/**
 * Slowest response in milliseconds; ratio of the other requests' p99 to their p99 without load;
 * memory growth in MiB.
 */
const goals = { slowestMs: 5_000, maxRatio: 2, memoryMib: 100 }

/**
 * Measures response times and memory while 20 callers request the largest reports of one organisation, and
 * two others read small ones. Throws if a large report returns 500. Other rejections of large reports are
 * only printed.
 */
export async function measureHeavyReports(
  platform: TestPlatform,
  generator: LoadGenerator,
  seconds: number,
  report: ReportFigure,
): Promise<void> {
  const [large, small] = [await createTenant(platform.system), await createTenant(platform.system)]
  await insertViewCounts(platform, large, VIDEOS)
  await insertViewCounts(platform, small, 5)
  const period = 'date_start=2012-01-01&date_end=9999-12-31'
  const views = `/analytics/views/${large.organisationId}`
  const ids = (count: number) => encodeURIComponent(JSON.stringify({ video_id: videoIds(large, count) }))
  const heavyPaths = [
    `${views}/per-day?${period}`,
    `${views}/per-video?detailed=1&limit=1000&${period}`,
    `${views}/per-day?${period}&filter=${ids(400)}`,
    `${views}/per-video?detailed=1&limit=1000&start=1001&${period}`,
    `${views}/per-day?${period}&filter=${ids(100_000)}`,
  ]
  const lightPath = `/analytics/views/${small.organisationId}/per-day?${period}`
  const fetchReport = async (key: string, path: string) => {
    const started = performance.now()
    const response = await fetch(`${platform.url}/v2${path}`, { headers: { authorization: `Bearer ${key}` } })
    const { length } = await response.text()
    return {
      status: response.status,
      ms: performance.now() - started,
      length,
      retryAfter: Number(response.headers.get('retry-after') ?? 0),
    }
  }
  const fetchUntil = async (key: string, paths: readonly string[], until: number, first: number) => {
    const responses: (Awaited<ReturnType<typeof fetchReport>> & { path: string })[] = []
    for (let nth = first; performance.now() < until; nth++) {
      const path = paths[nth % paths.length] ?? ''
      const response = await fetchReport(key, path)
      responses.push({ ...response, path })
      if (response.retryAfter > 0) await delay(response.retryAfter * 1_000)
    }
    return responses
  }
  /**
   * Measures the requests of the other callers. Their own process sends them, so that receiving the
   * large responses does not delay them.
   */
  const measureOthers = async (name: string) => {
    const headers = { authorization: `Bearer ${small.key}` }
    const requests = [{ kind: 'read' as const, method: 'GET', url: `${platform.url}/v2${lightPath}`, headers }]
    const { times, counts } = await generator.run({ name, requests, seconds, connections: LIGHT_CALLERS })
    if (Object.keys(counts).join() !== 'read 200') throw new Error(`other requests failed: ${JSON.stringify(counts)}`)
    return times.read.fromSend
  }

  for (const path of [...heavyPaths, lightPath]) await fetchReport(path === lightPath ? small.key : large.key, path)
  await measureOthers('warm')
  const alone = await measureOthers('alone')
  const memory = memoryMib(platform)
  let max = memory
  const sampling = setInterval(() => {
    max = Math.max(max, memoryMib(platform))
  }, 100)
  const until = performance.now() + seconds * 1_000
  const heavyCalls = Array.from({ length: HEAVY_CALLERS }, (_, nth) => fetchUntil(large.key, heavyPaths, until, nth))
  const [underLoad, heavyResponses] = await Promise.all([measureOthers('underLoad'), Promise.all(heavyCalls)])
  clearInterval(sampling)

  const all = heavyResponses.flat()
  for (const [nth, path] of heavyPaths.entries()) {
    const samePath = all.filter((response) => response.path === path)
    const { p50, max: slowest } = percentiles(samePath.map(({ ms }) => ms))
    const statuses = JSON.stringify(
      Object.fromEntries([...Map.groupBy(samePath, ({ status }) => status)].map(([status, ones]) => [status, ones.length])),
    )
    console.log(
      `  ${nth + 1}. ${path.split('?')[0]?.replace(/.*\/(?=per-)/, '')}: ${statuses}, median ${p50.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms`,
    )
  }
  const slowest = Math.max(...all.map(({ ms }) => ms))
  const faults = all.filter(({ status }) => status === 500).length
  if (faults > 0) throw new Error(`${faults} reports failed with status 500`)
  report({
    row: 'abuse-slowest',
    title: `slowest of ${HEAVY_CALLERS} concurrent large reports`,
    unit: 'ms',
    value: singleValue(slowest),
    goal: { atMost: goals.slowestMs },
  })
  const detail = `p99 ${underLoad.p99.toFixed(1)} ms, without load ${alone.p99.toFixed(1)} ms`
  report({
    row: 'abuse-others',
    title: 'p99 of a small report during large ones, against no load',
    value: singleValue(underLoad.p99 / alone.p99),
    goal: { atMost: goals.maxRatio },
    detail,
  })
  report({
    row: 'abuse-memory',
    title: 'memory growth of gateway and analytics during large reports',
    unit: 'MiB',
    value: singleValue(max - memory),
    goal: { atMost: goals.memoryMib },
  })
}

function videoIds({ organisationId }: Tenant, count: number): string[] {
  return Array.from({ length: count }, (_, nth) => `${Number(organisationId)}${String(nth + 1).padStart(6, '0')}`)
}

/** Returns the resident memory of gateway and analytics together, in MiB. */
function memoryMib(platform: TestPlatform): number {
  return residentMib(platform, 'gateway') + residentMib(platform, 'analytics')
}

/** Inserts the rows that the merge of events would have written: each video on each day, and their sums by organisation. */
async function insertViewCounts(platform: TestPlatform, tenant: Tenant, videos: number): Promise<void> {
  await asSuperuser(platform, async (client) => {
    await client.query('set search_path = analytics')
    await client.query('insert into video (video_id, organisation_id, duration_ms) select unnest($1::bigint[]), $2, 60000', [
      videoIds(tenant, videos),
      tenant.organisationId,
    ])
    await client.query(
      `insert into video_day (video_id, day, language, organisation_id, loads, plays, completes, bounces, share_ppm, viewing_ms, buckets, furthest)
       select video_id, day, 'en', $2, 9, 7, 3, 1, 5000000, 300000, array_fill(7::bigint, '{21}'), array_fill(1::bigint, '{21}')
       from unnest($1::bigint[]) as video_id, generate_series(current_date - $3::int, current_date - 1, interval '1 day') as day`,
      [videoIds(tenant, videos), tenant.organisationId, DAYS],
    )
    await client.query(
      `insert into organisation_day (organisation_id, day, language, subtitle, loads, plays, completes, bounces)
       select organisation_id, day, language, '', sum(loads), sum(plays), sum(completes), sum(bounces) from video_day where organisation_id = $1 group by 1, 2, 3`,
      [tenant.organisationId],
    )
    await client.query('analyze video, video_day, organisation_day')
  })
}
