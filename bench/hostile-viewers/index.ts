import { randomBytes } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '@vitascope/embedded-postgres'
import type { VideoRecord } from '../../e2e/support/video-steps.ts'
import { endOnSignal } from '../end-on-signal.ts'
import type { ReportFigure } from '../figure.ts'
import { startFilledPlatform } from '../overload/filled-platform.ts'
import { median, medianRatio } from '../ratio.ts'
import { startHostileViewers } from './hostile.ts'

/** Maximum ratio of the other viewers' 95th percentile during an attack to the one without an attack. */
const GOAL = 1.1
/** Segments per second of the other viewers. */
const RATE = 50
const SEGMENT_BYTES = 560_000
const LARGE_BYTES = 64 * 1024 * 1024

/**
 * Measures how long other viewers wait for segments with and without hostile connections, in interleaved
 * pairs.
 */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      connections: { type: 'string', default: '200' },
      addresses: { type: 'string', default: '20' },
      pairs: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '8' },
    },
  })
  const [connections = 0, addresses = 0, pairs = 0, seconds = 0] = [values.connections, values.addresses, values.pairs, values.seconds].map(
    Number,
  )
  if (!connections || !addresses || !pairs || !seconds) throw new Error('every option must be a number above 0')
  const port = await freePort()
  const { platform, filled, stop } = await startFilledPlatform(4, {
    VITASCOPE_DELIVERY_PUBLIC_LISTEN: `127.0.0.1:${port}`,
    VITASCOPE_DELIVERY_PUBLIC_URL: `http://127.0.0.1:${port}`,
    // The default limits, as in production.
    VITASCOPE_LIMITS: '{}',
  })
  endOnSignal(stop)
  try {
    const { body: video } = await platform.guest.get<VideoRecord>(`/video/${filled[0]?.videoId}`)
    const { pathname } = new URL(video.uri.hls)
    const base = pathname.split('/').slice(0, 4).join('/')
    const folder = join(platform.dataDir, 'storage', 'media', video.media_id)
    const [set = ''] = await readdir(folder)
    await mkdir(join(folder, set, 'bench'), { recursive: true })
    for (let nth = 0; nth < 16; nth++) await writeFile(join(folder, set, 'bench', `${nth}.m4s`), randomBytes(SEGMENT_BYTES))
    await writeFile(join(folder, set, 'bench', 'large.mp4'), randomBytes(LARGE_BYTES))
    const measure = () => measureViewers(port, `${base}/bench`, seconds)
    await measure()
    const ratios: number[] = []
    const p95: Record<'calm' | 'attacked', number[]> = { calm: [], attacked: [] }
    for (let pair = 0; pair < pairs; pair++) {
      const calm = await measure()
      const attack = startHostileViewers({ host: '127.0.0.1', port, path: `${base}/bench/large.mp4`, connections, addresses })
      await delay(2_000)
      const attacked = await measure()
      console.log(`pair ${pair + 1}: p95 ${calm.toFixed(1)} ms, with ${attack.open()} hostile connections ${attacked.toFixed(1)} ms`)
      attack.stop()
      p95.calm.push(calm)
      p95.attacked.push(attacked)
      ratios.push(attacked / calm)
      await delay(2_000)
    }
    report({
      ...{ row: 'p95', title: `p95 of ${RATE} segments/s during an attack, against no attack`, value: medianRatio(ratios) },
      goal: { atMost: GOAL },
      detail: `${median(p95.attacked).toFixed(1)} ms with ${connections} hostile connections, ${median(p95.calm).toFixed(1)} ms without`,
    })
  } finally {
    await stop()
  }
}

/** Requests segments at a constant rate and returns the 95th percentile of their times in milliseconds. Throws if one fails. */
async function measureViewers(port: number, path: string, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const times: Promise<number>[] = []
  const startedMs = performance.now()
  for (let nth = 0; nth < RATE * seconds; nth++) {
    await delay(Math.max(0, startedMs + (nth * 1_000) / RATE - performance.now()))
    times.push(readSegment(agent, port, `${path}/${nth % 16}.m4s`))
  }
  const sorted = (await Promise.all(times)).sort((a, b) => a - b)
  agent.destroy()
  return sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN
}

function readSegment(agent: Agent, port: number, path: string): Promise<number> {
  const startedMs = performance.now()
  return new Promise((resolve, reject) => {
    const request = get({ agent, host: '127.0.0.1', port, path, headers: { 'X-Forwarded-For': '203.0.113.7' } }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode !== 200 || bytes !== SEGMENT_BYTES)
          reject(new Error(`${path} returned ${response.statusCode}, ${bytes} bytes`))
        else resolve(performance.now() - startedMs)
      })
    })
    request.on('error', reject)
  })
}
