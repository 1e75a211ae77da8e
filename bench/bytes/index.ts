import { randomBytes } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '@vitascope/embedded-postgres'
import type { TestPlatform } from '../../e2e/support/test-platform.ts'
import type { VideoRecord } from '../../e2e/support/video-steps.ts'
import { endOnSignal } from '../end-on-signal.ts'
import type { ReportFigure } from '../figure.ts'
import { startFilledPlatform } from '../overload/filled-platform.ts'
import { cpuSeconds } from '../process-cpu.ts'
import { median, medianRatio } from '../ratio.ts'
import { startAccelFront, startFileServer } from './nginx.ts'
import { requestsPerSecond } from './wrk.ts'

/** Number and size of the segments of a row. */
const ROWS = {
  hot: { count: 64, bytes: 560_000 },
  large: { count: 4_096, bytes: 1_048_576 },
}
const GOAL = 0.9
/** The largest limit that a setting may have. */
const MAX_LIMIT = 1_000_000
const CONNECTIONS = 32
/** `public`: the public address of delivery. `proxied`: the same files through the gateway. */
const SIDES = ['nginx', 'public', 'proxied'] as const
type Side = (typeof SIDES)[number]
/** Folder of the benchmark's segments in the first rendition set. */
const FOLDER = 'bench'

/**
 * Compares segments of a video from the public address with the same files from nginx. The same
 * files through the gateway are measured for comparison. With `--accel`, nginx is in front of the
 * public address and sends the files.
 */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      pairs: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '4' },
      accel: { type: 'boolean', default: false },
    },
  })
  const rows = Object.entries(ROWS).filter(([name]) => values.only === undefined || values.only === name)
  const [pairs, seconds] = [Number(values.pairs), Number(values.seconds)]
  if (rows.length === 0 || !pairs || !seconds)
    throw new Error(`--only must be one of ${Object.keys(ROWS).join(', ')}; the other options must be numbers`)
  const listen = `127.0.0.1:${await freePort()}`
  const { platform, filled, stop } = await startFilledPlatform(4, {
    VITASCOPE_DELIVERY_PUBLIC_LISTEN: listen,
    VITASCOPE_DELIVERY_PUBLIC_URL: `http://${listen}`,
    ...(values.accel && { VITASCOPE_DELIVERY_ACCEL_PATH: '/objects/', VITASCOPE_TRUST_PROXY: '127.0.0.1' }),
    // All requests come from one address and have the same token.
    VITASCOPE_LIMITS: JSON.stringify({ media: MAX_LIMIT, address_mb: MAX_LIMIT, token_mb: MAX_LIMIT, video_mb: MAX_LIMIT }),
  })
  endOnSignal(stop)
  const objects = join(platform.dataDir, 'storage')
  const nginx = await startFileServer(objects)
  const front = values.accel ? await startAccelFront(listen, objects) : undefined
  try {
    for (const [name, { count, bytes }] of rows) {
      const set = await protectedSet(platform, filled[0]?.videoId ?? '', filled[0]?.keys[0] ?? '')
      const files = await writeSegments(join(platform.dataDir, 'storage', set.prefix, FOLDER), count, bytes)
      const sides = {
        nginx: { origin: nginx.url, paths: files.map((file) => `/${set.prefix}/${FOLDER}/${file}`) },
        public: { origin: front?.url ?? set.url.origin, paths: files.map((file) => `${set.url.pathname}${FOLDER}/${file}`) },
        proxied: { origin: platform.url, paths: files.map((file) => `${set.url.pathname}${FOLDER}/${file}`) },
      }
      const rates: Record<Side, number[]> = { nginx: [], public: [], proxied: [] }
      const milliseconds: Record<Side, number[]> = { nginx: [], public: [], proxied: [] }
      const pids = {
        nginx: [nginx.pid],
        public: [platform.pid('delivery'), ...(front ? [front.pid] : [])],
        proxied: [platform.pid('delivery'), platform.pid('gateway')],
      }
      // The first round is not counted. It fills the disk cache.
      for (let pair = 0; pair <= pairs; pair++) {
        for (const side of pair % 2 ? SIDES : SIDES.toReversed()) {
          const cpu = () => pids[side].map(cpuSeconds).reduce((sum, seconds) => sum + seconds, 0)
          const before = cpu()
          const rate = await requestsPerSecond({ ...sides[side], connections: CONNECTIONS, seconds })
          if (pair === 0) continue
          rates[side].push(rate)
          milliseconds[side].push(((cpu() - before) * 1_000) / (rate * seconds))
        }
      }
      const computeRatio = (side: Side) => medianRatio(rates[side].map((rate, index) => rate / (rates.nginx[index] ?? Number.NaN)))
      const [ratio, proxied] = [computeRatio('public'), computeRatio('proxied')]
      for (const side of SIDES)
        console.log(`  ${side}: ${Math.round(median(rates[side]))}/s, ${median(milliseconds[side]).toFixed(2)} ms of CPU each`)
      const title = `${count} segments of ${bytes} bytes with tokens`
      const formatRates = (side: Side) => `${Math.round(median(rates[side]))}/s, nginx ${Math.round(median(rates.nginx))}/s`
      report({ row: name, title: `${title}, against nginx`, value: ratio, goal: { atLeast: GOAL }, detail: formatRates('public') })
      report({
        row: `${name}-proxied`,
        title: `${title} through the gateway, against nginx`,
        value: proxied,
        detail: formatRates('proxied'),
      })
    }
  } finally {
    await nginx.stop()
    await front?.stop()
    await stop()
  }
}

/**
 * Changes a video so that its files require a token. Returns the base URL of its rendition set with a token, and the
 * prefix of the set in storage.
 */
async function protectedSet(platform: TestPlatform, videoId: string, key: string): Promise<{ url: URL; prefix: string }> {
  const api = platform.withKey(key)
  await api.patch(`/video/${videoId}`, { security: { token_required_platform: true } })
  const { body: video } = await api.get<VideoRecord>(`/video/${videoId}`)
  const { body: issued } = await api.post<{ token: string }>(`/video/${videoId}/token`, { expires_in: 86_400 })
  const hls = new URL(video.uri.hls)
  const [, , id, version] = hls.pathname.split('/')
  const folder = `media/${video.media_id}`
  const [set = ''] = await readdir(join(platform.dataDir, 'storage', folder))
  return { url: new URL(`/delivery/${id}/${version?.split('~')[0]}~${issued.token}/`, hls), prefix: `${folder}/${set}` }
}

async function writeSegments(folder: string, count: number, bytes: number): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  const files = Array.from({ length: count }, (_, nth) => `segment-${nth}.m4s`)
  for (const file of files) await writeFile(join(folder, file), randomBytes(bytes))
  return files
}
