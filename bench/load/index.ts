import { randomBytes } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '@vitascope/embedded-postgres'
import type { TestPlatform } from '../../e2e/support/test-platform.ts'
import type { VideoRecord } from '../../e2e/support/video-steps.ts'
import { leaveOneCore } from '../cores.ts'
import { endOnSignal } from '../end-on-signal.ts'
import { type ReportFigure, singleValue } from '../figure.ts'
import { type Figures, KINDS, type Kind, type LoadGenerator, startLoadGenerator } from '../load-order.ts'
import { type FilledOrganisation, startFilledPlatform } from '../overload/filled-platform.ts'
import { proportionalMib } from '../process-memory.ts'
import { median } from '../ratio.ts'
import { type Audience, buildRequests, computeRates, MODEL, type Platform, type WatchedVideo } from './model.ts'

const GOALS = { viewers: 1_000, goodput: 0.85, growthMib: 100 }
/** At this load and below, the platform keeps up. */
const KEEPS_UP = { goodput: 0.98, p99Ms: 1_000 }
/** Number of viewers of each step, as multiples of the viewers of the model. */
const STEPS = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4]
const OVERLOAD = 3
const VIDEOS = 20
const SEGMENTS = 64
const CONNECTIONS = 1_024
const WARM_SECONDS = 10
const PROCESSES = ['gateway', 'auth', 'catalogue', 'encoding', 'delivery', 'analytics', 'collaboration', 'worker', 'postgres']

/**
 * Sends the requests of viewers and editors to the whole platform, at an increasing scale until it
 * no longer keeps up, then at three times that scale, and then for minutes at half of it.
 */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      viewers: { type: 'string', default: '1000' },
      editors: { type: 'string', default: '50' },
      seconds: { type: 'string', default: '20' },
      minutes: { type: 'string', default: '30' },
    },
  })
  const [viewers, editors, seconds, minutes] = [values.viewers, values.editors, values.seconds, values.minutes].map(Number)
  if (!viewers || !editors || !seconds || minutes === undefined || !(minutes >= 0))
    throw new Error('every option must be a number above 0; --minutes may be 0')
  const core = leaveOneCore()
  const port = await freePort()
  const started = await startFilledPlatform(VIDEOS, {
    VITASCOPE_DELIVERY_PUBLIC_LISTEN: `127.0.0.1:${port}`,
    VITASCOPE_DELIVERY_PUBLIC_URL: `http://127.0.0.1:${port}`,
  })
  const generator = startLoadGenerator(core)
  const end = async () => {
    await generator.stop()
    await started.stop()
  }
  endOnSignal(end)
  try {
    const platform = {
      url: started.platform.url,
      sourceUrl: started.sourceUrl,
      videos: await writeVideos(started.platform, started.filled),
    }
    const load = { generator, platform }
    await sendLoad(load, { viewers: viewers * 0.1, editors: editors * 0.1 }, WARM_SECONDS)
    const knee = await findKnee(load, { viewers, editors }, seconds, report)
    const overload = { viewers: knee.audience.viewers * OVERLOAD, editors: knee.audience.editors * OVERLOAD }
    const atOverload = await sendLoad(load, overload, seconds)
    printStep(overload, atOverload)
    report({
      ...{ row: 'goodput', title: `goodput at ${OVERLOAD} times the load that the platform keeps up with, against that load` },
      ...{ value: singleValue(goodput(atOverload) / goodput(knee.figures)), goal: { atLeast: GOALS.goodput } },
      detail: `${goodput(atOverload).toFixed(0)}/s, ${goodput(knee.figures).toFixed(0)}/s`,
    })
    if (minutes > 0) {
      const half = { viewers: knee.audience.viewers / 2, editors: knee.audience.editors / 2 }
      const growthMib = await measureGrowth(started.platform, () => sendLoad(load, half, minutes * 60), minutes)
      report({
        ...{ row: 'memory', title: `growth of all processes (PSS) over ${minutes} min at half of that load`, unit: 'MiB' },
        ...{ value: singleValue(growthMib), goal: { atMost: GOALS.growthMib } },
      })
    }
  } finally {
    await end()
  }
}

interface Load {
  generator: LoadGenerator
  platform: Platform
}

/** Returns the largest step that the platform keeps up with. */
async function findKnee(
  load: Load,
  model: Audience,
  seconds: number,
  report: ReportFigure,
): Promise<{ audience: Audience; figures: Figures }> {
  let knee: { audience: Audience; figures: Figures } | undefined
  for (const step of STEPS) {
    const audience = { viewers: Math.round(model.viewers * step), editors: Math.max(1, Math.round(model.editors * step)) }
    const figures = await sendLoad(load, audience, seconds)
    printStep(audience, figures)
    if (step === 1)
      for (const kind of KINDS.filter((name) => figures.times[name].fromDue.count > 0)) {
        const { p50, p99, p999 } = figures.times[kind].fromDue
        const detail = `p50 ${p50.toFixed(1)} ms, p99.9 ${p999.toFixed(0)} ms`
        report({ row: `p99-${kind}`, title: `p99 of ${kind}s at ${audience.viewers} viewers`, unit: 'ms', value: singleValue(p99), detail })
      }
    if (!keepsUp(figures, audience)) break
    knee = { audience, figures }
  }
  if (!knee) throw new Error(`the platform does not keep up with ${STEPS[0]} of the load of the model`)
  report({
    ...{ row: 'knee', title: `viewers that the platform keeps up with (and ${knee.audience.editors} editors)`, unit: 'viewers' },
    ...{
      value: singleValue(knee.audience.viewers),
      goal: { atLeast: GOALS.viewers },
      detail: `${goodput(knee.figures).toFixed(0)} requests/s`,
    },
  })
  return knee
}

function sendLoad({ generator, platform }: Load, audience: Audience, seconds: number): Promise<Figures> {
  const rate = sumRates(audience)
  return generator.run({ name: `${Math.random()}`, requests: buildRequests(platform, audience), seconds, connections: CONNECTIONS, rate })
}

function keepsUp(figures: Figures, audience: Audience): boolean {
  const kinds: Kind[] = ['read', 'segment', 'event']
  const isPrompt = kinds.every((kind) => figures.times[kind].fromDue.p99 <= KEEPS_UP.p99Ms)
  return isPrompt && goodput(figures) >= KEEPS_UP.goodput * sumRates(audience)
}

function sumRates(audience: Audience): number {
  return Object.values(computeRates(audience)).reduce((sum, rate) => sum + rate, 0)
}

/** Returns good responses per second. */
function goodput({ times, seconds }: Figures): number {
  return KINDS.reduce((sum, kind) => sum + times[kind].fromDue.count, 0) / seconds
}

function printStep({ viewers, editors }: Audience, figures: Figures): void {
  console.log(
    `  ${viewers} viewers, ${editors} editors: ${goodput(figures).toFixed(0)}/s of ${sumRates({ viewers, editors }).toFixed(0)}/s; the load generator used ${(100 * figures.cpuShare).toFixed(0)} % of a processor`,
  )
  for (const kind of KINDS) {
    const { p50, p99, p999, count } = figures.times[kind].fromDue
    if (count > 0) console.log(`    ${kind}: ${count}, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, p99.9 ${p999.toFixed(1)} ms`)
  }
  const others = Object.entries(figures.counts).filter(([outcome, count]) => count > 0 && !/ 20\d$/.test(outcome))
  if (others.length > 0) console.log(`    other responses: ${others.map(([outcome, count]) => `${outcome}: ${count}`).join(', ')}`)
}

/** Returns the memory of all processes. Throws if one does not run, because a restarted process has less memory. */
function measureMib(platform: TestPlatform): number {
  return PROCESSES.reduce((sum, name) => {
    const pid = platform.pid(name)
    if (pid === undefined) throw new Error(`${name} does not run during the load`)
    return sum + proportionalMib(pid)
  }, 0)
}

/** Returns the growth of memory in MiB: the median of the last fifth of the time minus the median of the second fifth. */
async function measureGrowth(platform: TestPlatform, send: () => Promise<unknown>, minutes: number): Promise<number> {
  const samples: number[] = []
  const intervalMs = (minutes * 60_000) / 50
  const ended = new AbortController()
  const sampling = (async () => {
    while (!ended.signal.aborted) {
      samples.push(measureMib(platform))
      await delay(intervalMs, undefined, { signal: ended.signal }).catch(() => undefined)
    }
  })()
  await Promise.all([send().finally(() => ended.abort()), sampling])
  const fifth = (nth: number) => median(samples.slice((samples.length * nth) / 5, (samples.length * (nth + 1)) / 5))
  const parts = [0, 1, 2, 3, 4].map(fifth)
  console.log(`  memory (PSS) by fifths of the time: ${parts.map((mib) => `${mib.toFixed(0)} MiB`).join(', ')}`)
  return fifth(4) - fifth(1)
}

/** Writes segments into the rendition set of each video. */
async function writeVideos(platform: TestPlatform, filled: readonly FilledOrganisation[]): Promise<WatchedVideo[]> {
  const segments = Array.from({ length: SEGMENTS }, (_, nth) => `${nth}.m4s`)
  const written = new Set<string>()
  const videos: WatchedVideo[] = []
  for (const { videoId, organisationId, keys } of filled) {
    const { body: video } = await platform.guest.get<VideoRecord>(`/video/${videoId}`)
    const folder = join(platform.dataDir, 'storage', 'media', video.media_id)
    const [set = ''] = await readdir(folder)
    if (!written.has(video.media_id)) {
      await mkdir(join(folder, set, 'bench'), { recursive: true })
      for (const segment of segments) await writeFile(join(folder, set, 'bench', segment), randomBytes(MODEL.segmentBytes))
      written.add(video.media_id)
    }
    const files = `${video.uri.hls.split('/').slice(0, 6).join('/')}/bench`
    videos.push({ videoId, organisationId, key: keys[0] ?? '', files, segments })
  }
  return videos
}
