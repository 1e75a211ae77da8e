import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '@vitascope/embedded-postgres'
import { asSuperuser } from '../../e2e/support/database.ts'
import type { TestPlatform } from '../../e2e/support/test-platform.ts'
import { requestsPerSecond } from '../bytes/wrk.ts'
import { endOnSignal } from '../end-on-signal.ts'
import type { ReportFigure } from '../figure.ts'
import { type FilledOrganisation, startFilledPlatform } from '../overload/filled-platform.ts'
import { cpuSeconds } from '../process-cpu.ts'
import { median, medianRatio } from '../ratio.ts'
import { type Copies, copyVideos } from './copy-videos.ts'
import { zipfSample } from './zipf-sample.ts'

const CONNECTIONS = 32
/** Number of requested paths of popular videos. wrk requests them in random order. */
const PATHS = 20_000
const SIDES = ['platform', 'baseline'] as const
type Side = (typeof SIDES)[number]

interface Row {
  name: string
  description: string
  goal: number | undefined
  platform: { paths: string[]; headers: Record<string, string> }
  baseline: { paths: string[] }
}

/**
 * Compares reads of videos with the same reads by a bare Express server with prepared statements.
 */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      pairs: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '4' },
      videos: { type: 'string', default: '100000' },
    },
  })
  const [pairs, seconds, videos] = [Number(values.pairs), Number(values.seconds), Number(values.videos)]
  if (!pairs || !seconds || !videos) throw new Error('--pairs, --seconds and --videos must be numbers')
  const { platform, filled, stop } = await startFilledPlatform(4)
  endOnSignal(stop)
  const baseline = await startBaseline(platform)
  try {
    const copies = await copyVideos(platform, filled, videos)
    for (const row of buildRows(copies, filled).filter(({ name }) => values.only === undefined || values.only === name)) {
      const sides = {
        platform: { origin: platform.url, ...row.platform, pids: [platform.pid('gateway'), platform.pid('catalogue')] },
        baseline: { origin: baseline.url, ...row.baseline, pids: baseline.pids },
      }
      const bytes = { platform: await responseBytes(sides.platform), baseline: await responseBytes(sides.baseline) }
      const rates: Record<Side, number[]> = { platform: [], baseline: [] }
      const milliseconds: Record<Side, number[]> = { platform: [], baseline: [] }
      // The first round is not counted. It fills caches and prepares statements.
      for (let pair = 0; pair <= pairs; pair++) {
        for (const side of pair % 2 ? SIDES : SIDES.toReversed()) {
          const cpu = () => sides[side].pids.map(cpuSeconds).reduce((sum, seconds) => sum + seconds, 0)
          const before = cpu()
          const rate = await requestsPerSecond({ ...sides[side], connections: CONNECTIONS, seconds })
          if (pair === 0) continue
          rates[side].push(rate)
          milliseconds[side].push(((cpu() - before) * 1_000) / (rate * seconds))
        }
      }
      const ratio = medianRatio(rates.platform.map((rate, index) => rate / (rates.baseline[index] ?? Number.NaN)))
      for (const side of SIDES)
        console.log(
          `  ${side}: ${Math.round(median(rates[side]))}/s, ${median(milliseconds[side]).toFixed(2)} ms of CPU each without PostgreSQL, ${bytes[side]} bytes`,
        )
      report({
        ...{ row: row.name, title: `${row.description}, against bare Express`, value: ratio },
        ...(row.goal !== undefined && { goal: { atLeast: row.goal } }),
        detail: `${Math.round(median(rates.platform))}/s, baseline ${Math.round(median(rates.baseline))}/s`,
      })
    }
  } finally {
    await baseline.stop()
    await stop()
  }
}

function buildRows({ ids, organisationId }: Copies, filled: readonly FilledOrganisation[]): Row[] {
  const popular = zipfSample(ids, PATHS)
  const headers = { authorization: `Basic ${Buffer.from(`${filled[0]?.keys[0]}:x`).toString('base64')}` }
  const guestRow = (name: string, description: string, goal: number | undefined, videoIds: readonly string[]): Row => ({
    ...{ name, description, goal },
    platform: { paths: videoIds.map((id) => `/v2/video/${id}`), headers: {} },
    baseline: { paths: videoIds.map((id) => `/video/${id}`) },
  })
  return [
    guestRow('guest', `GET /v2/video/{id} without a key, ${ids.length} videos, Zipf(1.0)`, 1, popular),
    guestRow('guest-uniform', `the same with every video equally often, so most are not cached`, undefined, ids),
    {
      ...{ name: 'list', description: 'GET /v2/video?limit=20 with a key', goal: 0.5 },
      platform: { paths: ['/v2/video?limit=20'], headers },
      baseline: { paths: [`/organisation/${organisationId}`] },
    },
  ]
}

/** Returns the size of the first response in bytes. Throws unless it contains the title of the video. */
async function responseBytes({ origin, paths, headers }: { origin: string; paths: string[]; headers?: Record<string, string> }) {
  const response = await fetch(`${origin}${paths[0]}`, { headers: headers ?? {} })
  const text = await response.text()
  if (!response.ok || !text.includes('Rocket launch')) throw new Error(`${origin}${paths[0]} returned ${response.status}: ${text}`)
  return Buffer.byteLength(text)
}

async function startBaseline(platform: TestPlatform): Promise<{ url: string; pids: number[]; stop(): Promise<void> }> {
  const port = await freePort()
  const url = await asSuperuser(
    platform,
    async (client) => `postgres://postgres:${encodeURIComponent(String(client.password))}@${client.host}:${client.port}/vitascope`,
  )
  const child = fork(join(import.meta.dirname, 'baseline.ts'), [String(port), url])
  const [pids] = (await once(child, 'message')) as [number[]]
  return {
    url: `http://127.0.0.1:${port}`,
    pids,
    async stop() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}
