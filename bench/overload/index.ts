import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { leaveOneCore } from '../cores.ts'
import { endOnSignal } from '../end-on-signal.ts'
import { type ReportFigure, singleValue } from '../figure.ts'
import { shuffle } from '../load/model.ts'
import { type Figures, type LoadRequest, startLoadGenerator } from '../load-order.ts'
import { type FilledOrganisation, startFilledPlatform } from './filled-platform.ts'

const goals = {
  /** Minimum ratio of the goodput to the capacity for the accepted mix. */
  goodput: 0.85,
  /** Maximum ratio of the p99 of accepted reads to their p99 at capacity. */
  p99: 2,
  /** Minimum share of writes that succeed. */
  writes: 0.99,
  /** Minimum share of rejections with `Retry-After`. */
  retryAfter: 1,
}
/** Callers of the closed loop, enough to keep the platform busy. */
const CALLERS = 32
/** Maximum number of connections of the open loop. */
const CONNECTIONS = 1_024
/** Share of writes in the requests that measure the capacity. */
const WRITE_SHARE = 0.1
/** Number of different requests of a mix. They are sent repeatedly. */
const MIX_SIZE = 4_000
const WARM_UP_SECONDS = 8
const LIGHT_LOAD_SECONDS = 4
/** Pause after the overload, before the capacity is measured again. */
const RECOVERY_MS = 3_000

/**
 * Measures the capacity, which is the goodput of a closed loop: successful responses per second. Then sends a multiple
 * of that rate in an open loop, by default three times the capacity for a minute. Throws if a request has no response, or
 * a response with another status than 200, 429 or 503.
 */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '60' },
      'capacity-seconds': { type: 'string', default: '15' },
      times: { type: 'string', default: '3' },
      videos: { type: 'string', default: '320' },
    },
  })
  const [seconds, capacitySeconds, times, videos] = [values.seconds, values['capacity-seconds'], values.times, values.videos].map(Number)
  if (!seconds || !capacitySeconds || !times || !videos) throw new Error('every option must be a number above 0')
  const core = leaveOneCore()
  console.log(
    core === undefined
      ? 'the platform and the load generator share all processors'
      : `the load generator runs on processor ${core}, the platform on all others`,
  )
  const { platform, filled, stop } = await startFilledPlatform(videos)
  const generator = startLoadGenerator(core)
  const end = async () => {
    await generator.stop()
    await stop()
  }
  endOnSignal(end)
  try {
    const runClosedLoop = (requests: readonly LoadRequest[], length = capacitySeconds, callers = CALLERS) =>
      generator.run({ name: `${Math.random()}`, requests, seconds: length, connections: callers })
    const requests = createMix(platform.url, filled, WRITE_SHARE)
    await runClosedLoop(requests, WARM_UP_SECONDS)
    // Light load, as platforms usually have it. The gateway learns its baseline latency from it.
    printCapacity('light load (2 callers)', await runClosedLoop(requests, LIGHT_LOAD_SECONDS, 2))
    const before = await runClosedLoop(requests)
    printCapacity(`capacity (${CALLERS} callers, 9 reads to 1 write)`, before)
    const rate = times * computeGoodput(before)
    const figures = await generator.run({ name: 'overload', requests, seconds, connections: CONNECTIONS, rate })
    await delay(RECOVERY_MS)
    const after = await runClosedLoop(requests)
    printCapacity('capacity again', after)
    const share = count(figures, 'write', 200) / (computeGoodput(figures) * figures.seconds)
    // Writes have priority, so their share of the accepted requests is larger than their share of the sent requests.
    const sameMix = await runClosedLoop(createMix(platform.url, filled, share))
    printCapacity(`capacity for the accepted mix (${percent(share)} writes)`, sameMix)
    reportFigures(figures, { rate, seconds }, { capacities: [before, after], sameMix }, report)
  } finally {
    await end()
  }
}

/**
 * Returns requests in random order with exactly this share of writes. Of nine reads, four are reads of a
 * video by guests from many addresses, three are reads of a video with API keys, and two are lists of
 * videos with API keys.
 */
function createMix(url: string, filled: readonly FilledOrganisation[], writeShare: number): LoadRequest[] {
  const writes = Math.round(MIX_SIZE * writeShare)
  const requests = Array.from({ length: MIX_SIZE }, (_, nth): LoadRequest => {
    const { videoId, keys } = pick(filled)
    const headers = { authorization: `Bearer ${pick(keys)}` }
    const video = `${url}/v2/video/${videoId}`
    if (nth < writes) return { kind: 'write', method: 'PATCH', url: video, headers, body: '{"video_title":"title {n}"}' }
    const guest = { 'x-forwarded-for': `203.0.113.${nth % 250}` }
    if (nth % 9 < 4) return { kind: 'read', method: 'GET', url: video, headers: guest }
    return { kind: 'read', method: 'GET', url: nth % 9 < 7 ? video : `${url}/v2/video?limit=20`, headers }
  })
  return shuffle(requests)
}

function pick<T>(list: readonly T[]): T {
  const element = list[Math.floor(Math.random() * list.length)]
  if (element === undefined) throw new Error('the list is empty')
  return element
}

function reportFigures(
  figures: Figures,
  offered: { rate: number; seconds: number },
  { capacities, sameMix }: { capacities: readonly [Figures, Figures]; sameMix: Figures },
  report: ReportFigure,
): void {
  const capacity = (computeGoodput(capacities[0]) + computeGoodput(capacities[1])) / 2
  // Responses that arrive after the end of the overload count as well.
  const goodput = countSuccesses(figures) / offered.seconds
  const baselineP99 = (capacities[0].times.read.fromDue.p99 + capacities[1].times.read.fromDue.p99) / 2
  const writes = Object.entries(figures.counts).flatMap(([outcome, n]) => (outcome.startsWith('write ') ? [n] : []))
  console.log(
    `overload: ${offered.rate.toFixed(0)}/s offered for ${offered.seconds} s (${(offered.rate / capacity).toFixed(2)} times capacity)`,
  )
  console.log(
    `  responses: ${Object.entries(figures.counts)
      .map(([outcome, n]) => `${outcome}: ${n}`)
      .join(', ')}`,
  )
  console.log(`  goodput ${goodput.toFixed(0)}/s of capacity ${capacity.toFixed(0)}/s: ${percent(goodput / capacity)}`)
  printTimes('accepted reads, from the due time', figures.times.read.fromDue)
  printTimes('accepted reads, from the time of sending', figures.times.read.fromSend)
  printTimes('accepted writes, from the due time', figures.times.write.fromDue)
  console.log(`  the load generator used ${percent(figures.cpuShare)} of a processor`)
  const load = `at ${(offered.rate / capacity).toFixed(1)} times capacity`
  const writesDone = count(figures, 'write', 200) / writes.reduce((sum, n) => sum + n, 0)
  const withRetryAfter = figures.rejections === 0 ? 1 : figures.rejectionsWithRetryAfter / figures.rejections
  const p99 = singleValue(figures.times.read.fromDue.p99 / baselineP99)
  report({
    row: 'goodput',
    title: `goodput ${load}, against capacity for the accepted mix`,
    value: singleValue(goodput / computeGoodput(sameMix)),
    goal: { atLeast: goals.goodput },
    detail: `${goodput.toFixed(0)}/s`,
  })
  report({ row: 'p99', title: `p99 of accepted reads ${load}, against p99 at capacity`, value: p99, goal: { atMost: goals.p99 } })
  report({ row: 'writes', title: `share of writes that succeed ${load}`, value: singleValue(writesDone), goal: { atLeast: goals.writes } })
  report({
    row: 'retry-after',
    title: `share of rejections with Retry-After`,
    value: singleValue(withRetryAfter),
    goal: { atLeast: goals.retryAfter },
  })
  const unexpected = Object.keys(figures.counts).filter(
    (outcome) => !/^(read|write) (200|429|503)$/.test(outcome) && figures.counts[outcome] !== 0,
  )
  if (unexpected.length > 0) throw new Error(`unexpected status codes: ${unexpected.join(', ')}`)
}

function printCapacity(title: string, figures: Figures): void {
  const { fromDue } = figures.times.read
  console.log(
    `${title}: ${computeGoodput(figures).toFixed(0)}/s, reads p50 ${ms(fromDue.p50)}, p99 ${ms(fromDue.p99)}; the load generator used ${percent(figures.cpuShare)} of a processor`,
  )
  console.log(
    `  responses: ${Object.entries(figures.counts)
      .map(([text, n]) => `${text}: ${n}`)
      .join(', ')}`,
  )
}

function printTimes(title: string, { p50, p99, max }: Figures['times']['read']['fromDue']): void {
  console.log(`  ${title}: p50 ${ms(p50)}, p99 ${ms(p99)}, maximum ${ms(max)}`)
}

const ms = (time: number) => `${time.toFixed(1)} ms`
const percent = (share: number) => `${(100 * share).toFixed(1)} %`
const count = ({ counts }: Figures, kind: string, status: number) => counts[`${kind} ${status}`] ?? 0
const countSuccesses = (figures: Figures) => count(figures, 'read', 200) + count(figures, 'write', 200)
/** Returns the successful responses per second. */
const computeGoodput = (figures: Figures) => countSuccesses(figures) / figures.seconds
