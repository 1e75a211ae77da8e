import { parseArgs } from 'node:util'
import { asSuperuser } from '../../e2e/support/database.ts'
import { startTestPlatform, type TestPlatform } from '../../e2e/support/test-platform.ts'
import { endOnSignal } from '../end-on-signal.ts'
import { type ReportFigure, singleValue } from '../figure.ts'
import { type LoadGenerator, type LoadRequest, startLoadGenerator } from '../load-order.ts'
import { type FilledPlatform, startFilledPlatform } from '../overload/filled-platform.ts'
import { cpuSeconds } from '../process-cpu.ts'
import { median, medianRatio } from '../ratio.ts'
import { measureHeavyReports } from './abuse.ts'
import { copyRate, makeTables, startBareIntake } from './bare.ts'
import { untilCounted } from './counted.ts'
import { readGathering } from './gathering.ts'
import { compareReports } from './report.ts'

const rows = ['hundred', 'relay', 'one', 'report', 'abuse'] as const
type Row = (typeof rows)[number]
/** Minimum ratio of each intake row to its baseline. For `report`: maximum ratio of the large report's time to the small one's. */
const goals = { hundred: 0.25, relay: 0.25, one: 0.6, report: 1.5 }
/** Maximum time after the last event of a round until every report includes all events. */
const BEHIND_SECONDS = 5
const WARM_SECONDS = 5
/** Processes whose CPU time per event is printed. */
const PROCESSES = ['gateway', 'analytics', 'postgres'] as const
/** Number of closed-loop callers. */
const CALLERS = { hundred: 64, relay: 64, one: 128 }
/**
 * Kinds of requests: an interrupted player sends events of its own view, a backend sends events of
 * many views.
 */
const titles = {
  hundred: '100 events per request, all of one view',
  relay: '100 events per request, each of its own view',
  one: 'one event per request',
}

/**
 * Compares the intake of events through gateway and analytics into PostgreSQL with a baseline, and a
 * year's report over many views with one over few views. Also measures how large reports of one
 * organisation slow down others.
 */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      pairs: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '5' },
      views: { type: 'string', default: '10000000' },
    },
  })
  const chosen = rows.filter((row) => values.only === undefined || values.only === row)
  const [pairs, seconds, views] = [values.pairs, values.seconds, values.views].map(Number)
  if (chosen.length === 0 || !pairs || !seconds || !views)
    throw new Error(`--only must be one of ${rows.join(', ')}; the other options must be numbers`)
  // Only the rows that send events require playable videos.
  const intake = chosen.some((row) => row !== 'report' && row !== 'abuse')
  const { platform, filled, stop } = intake ? await startFilledPlatform(20) : await startEmptyPlatform()
  const generator = startLoadGenerator()
  const end = async () => {
    await generator.stop()
    await stop()
  }
  endOnSignal(end)
  try {
    const database = await asSuperuser(
      platform,
      async ({ host, port, password }) => `postgres://postgres:${password}@${host}:${port}/vitascope`,
    )
    const videoIds = filled.map(({ videoId }) => videoId)
    for (const row of chosen) {
      if (row === 'abuse') await measureHeavyReports(platform, generator, 2 * seconds, report)
      else if (row === 'report') report(await compareReports(platform, { views, pairs, goal: goals.report }))
      else await compareIntake(row, { generator, platform, database, videoIds, pairs, seconds }, report)
    }
  } finally {
    await end()
  }
}

async function startEmptyPlatform(): Promise<Omit<FilledPlatform, 'sourceUrl'>> {
  const platform = await startTestPlatform({ VITASCOPE_LIMITS: 'off' })
  return { platform, filled: [], stop: platform.remove }
}

interface IntakeBench {
  generator: LoadGenerator
  platform: TestPlatform
  database: string
  videoIds: readonly string[]
  pairs: number
  seconds: number
}

async function compareIntake(
  row: Exclude<Row, 'report' | 'abuse'>,
  { generator, platform, database, videoIds, pairs, seconds }: IntakeBench,
  report: ReportFigure,
): Promise<void> {
  await makeTables(database)
  const bare = row === 'one' ? await startBareIntake(database) : undefined
  const each = row === 'one' ? 1 : 100
  const measure = async (base: string, path: string, name: string, length: number) => {
    const requests = videoIds.map((videoId) => eventRequest(`${base}${path}`, videoId, each, row === 'hundred'))
    const figures = await generator.run({ name, requests, seconds: length, connections: CALLERS[row] })
    const done = figures.counts['write 202'] ?? 0
    if (Object.keys(figures.counts).join() !== 'write 202')
      throw new Error(`not every event was accepted: ${JSON.stringify(figures.counts)}`)
    return { events: done * each, rate: (done * each) / figures.seconds, generatorCpu: figures.cpuShare * figures.seconds }
  }
  /**
   * Returns the events per second, the seconds until reports include all events, and the CPU
   * microseconds per event. Waits until reports include all events, so that their merge does not slow
   * down the baseline. The CPU time of the merge is included.
   */
  const measurePlatform = async (name: string, length = seconds) => {
    const cpu = () => PROCESSES.map((process) => cpuSeconds(platform.pid(process)))
    const before = cpu()
    const { events, rate, generatorCpu } = await measure(platform.url, '/v2/analytics/events', name, length)
    const behind = await untilCounted(database)
    const each = [...cpu().map((used, nth) => used - (before[nth] ?? 0)), generatorCpu].map((used) => (used * 1e6) / events)
    return { rate, behind, each }
  }
  const measureBaseline = async (name: string, length = seconds) =>
    bare ? (await measure(bare.url, '/', name, length)).rate : copyRate(database, videoIds, length)
  try {
    await measurePlatform('warm', WARM_SECONDS)
    await measureBaseline('warm bare', 2)
    const began = await readGathering(platform.metricsUrl)
    const pairsRun: { measured: Awaited<ReturnType<typeof measurePlatform>>; baseline: number }[] = []
    for (let pair = 0; pair < pairs; pair++) {
      // The order alternates, so that neither side gains from a machine that warms up or slows
      // down.
      const first = pair % 2 === 0 ? await measurePlatform(`${pair}`) : undefined
      const baseline = await measureBaseline(`bare ${pair}`)
      pairsRun.push({ measured: first ?? (await measurePlatform(`${pair}`)), baseline })
    }
    const rates = pairsRun.map((pair) => ({ measured: pair.measured.rate, baseline: pair.baseline }))
    const [measuredRate, baselineRate] = [median(rates.map((pair) => pair.measured)), median(rates.map((pair) => pair.baseline))]
    report({
      ...{ row, title: `durable events, ${titles[row]}, against ${bare ? 'a bare server with group commit' : 'COPY'}` },
      ...{ value: medianRatio(rates.map((pair) => pair.measured / pair.baseline)), goal: { atLeast: goals[row] } },
      detail: `${measuredRate.toFixed(0)}/s, baseline ${baselineRate.toFixed(0)}/s`,
    })
    const each = [...PROCESSES, 'load generator'].map((process, nth) => {
      return `${process} ${median(pairsRun.map((pair) => pair.measured.each[nth] ?? Number.NaN)).toFixed(1)}`
    })
    console.log(`  CPU microseconds per event, including the merge into reports: ${each.join(', ')}`)
    const ended = await readGathering(platform.metricsUrl)
    const inserts = ended.inserts - began.inserts
    const prompt = (100 * (ended.prompt - began.prompt)) / inserts
    console.log(`  ${prompt.toFixed(1)} % of ${inserts} inserts began within 20 ms of their first event`)
    const behind = Math.max(...pairsRun.map((pair) => pair.measured.behind))
    const title = 'time after the last event until reports are complete'
    report({ row: `${row}-behind`, title, unit: 's', value: singleValue(behind), goal: { atMost: BEHIND_SECONDS } })
  } finally {
    await bare?.stop()
  }
}

/** Returns a request as a player sends it. `{view}` has the same value within a request. */
function eventRequest(url: string, videoId: string, count: number, ofOneView: boolean): LoadRequest {
  const viewId = ofOneView ? '{view}' : '{uuid}'
  const event = (second: number) =>
    `{"video_id":"${videoId}","view_id":"${viewId}","type":"progress","position":${second + 1},"watched":[[${second},${second + 1}]],"language":"en","subtitle":"","at":{now}}`
  const events = Array.from({ length: count }, (_, nth) => event(nth % 4))
  return { kind: 'write', method: 'POST', url, headers: { 'user-agent': 'Mozilla/5.0' }, body: `[${events.join()}]` }
}
