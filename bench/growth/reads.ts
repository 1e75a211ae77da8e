import { createTenant } from '../../e2e/support/video-steps.ts'
import { requestsPerSecond } from '../bytes/wrk.ts'
import { endOnSignal } from '../end-on-signal.ts'
import type { ReportFigure } from '../figure.ts'
import { startFilledPlatform } from '../overload/filled-platform.ts'
import { median, medianRatio } from '../ratio.ts'
import { copyVideos } from '../reads/copy-videos.ts'
import { zipfSample } from '../reads/zipf-sample.ts'

const GOAL = 0.9
const CONNECTIONS = 32
/** Number of videos of the small platform. On both platforms, this many videos are read. */
const SMALL_VIDEOS = 1_000
const PATHS = 20_000
const SIDES = ['small', 'large'] as const
type Side = (typeof SIDES)[number]

interface ReadGrowth {
  row: string
  large: { videos: number; organisations: number }
  pairs: number
  seconds: number
}

/**
 * Compares reads of a platform with many videos with reads of one that has 1,000 videos of one
 * organisation. On both, 1,000 videos are read. If the large platform has more organisations, the
 * organisation whose videos are listed has 1,000 videos on both.
 */
export async function compareReads({ row, large, pairs, seconds }: ReadGrowth, report: ReportFigure): Promise<void> {
  const started: Awaited<ReturnType<typeof startGrown>>[] = []
  const end = async () => {
    for (const { stop } of started) await stop()
  }
  endOnSignal(end)
  try {
    for (const size of [{ videos: SMALL_VIDEOS, organisations: 1 }, large]) started.push(await startGrown(size))
    const [small, grown] = started
    if (!small || !grown) throw new Error('a platform is missing')
    const sides = { small, large: grown }
    for (const kind of ['guest', 'list'] as const) {
      const rates: Record<Side, number[]> = { small: [], large: [] }
      // The first round is not counted. It fills caches.
      for (let pair = 0; pair <= pairs; pair++) {
        for (const side of pair % 2 ? SIDES : SIDES.toReversed()) {
          const rate = await requestsPerSecond({ ...sides[side].reads[kind], connections: CONNECTIONS, seconds })
          if (pair > 0) rates[side].push(rate)
        }
      }
      const size = row === 'videos' ? `${large.videos} videos` : `${large.organisations} organisations`
      const path = kind === 'guest' ? 'GET /v2/video/{id} by guests' : 'GET /v2/video?limit=20 with a key'
      report({
        ...{ row: `${row}-${kind}`, title: `${path} with ${size}, against ${SMALL_VIDEOS} videos of one organisation` },
        ...{ value: medianRatio(rates.large.map((rate, pair) => rate / (rates.small[pair] ?? Number.NaN))), goal: { atLeast: GOAL } },
        detail: `${Math.round(median(rates.large))}/s, ${Math.round(median(rates.small))}/s`,
      })
    }
  } finally {
    await end()
  }
}

async function startGrown({ videos, organisations }: { videos: number; organisations: number }) {
  const { platform, filled, stop } = await startFilledPlatform(4)
  try {
    const organisationIds: string[] = []
    while (organisationIds.length < organisations - 1) organisationIds.push((await createTenant(platform.system)).organisationId)
    const own = organisations === 1 ? videos : SMALL_VIDEOS
    const { ids } = await copyVideos(platform, filled, videos, { own, organisationIds })
    const popular = zipfSample(ids.slice(0, SMALL_VIDEOS), PATHS)
    const authorization = `Basic ${Buffer.from(`${filled[0]?.keys[0]}:x`).toString('base64')}`
    const reads = {
      guest: { origin: platform.url, paths: popular.map((id) => `/v2/video/${id}`) },
      list: { origin: platform.url, paths: ['/v2/video?limit=20'], headers: { authorization } },
    }
    return { reads, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
