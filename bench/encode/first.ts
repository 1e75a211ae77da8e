import { execFile } from 'node:child_process'
import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  audioChunk,
  chunkFolder,
  chunkKeys,
  type EncodePlan,
  encodeChunk,
  type FfmpegTools,
  planEncode,
  probeSource,
} from '@vitascope/media'
import { waitFor } from '@vitascope/testing'
import { singleValue } from '../figure.ts'
import { median, medianRatio } from '../ratio.ts'
import type { BenchRun } from './bench-run.ts'
import { makeSource } from './make-source.ts'

const goals = { seconds: 4, ratio: 1.3 }
const content = 'mandelbrot=s=1280x720:r=30:end_scale=0.02:end_pts=18000,noise=alls=4:allf=t'

/**
 * Measures the time from a fetched source to the first segment of every rendition and audio track,
 * for a short and a long source.
 */
export async function benchFirst({ pairs, tools, folder, report }: BenchRun): Promise<void> {
  const short = await makeSource(tools, { content, seconds: 10 }, join(folder, 'short.mp4'))
  const long = join(folder, 'long.mp4')
  await promisify(execFile)(tools.ffmpeg, ['-loglevel', 'error', '-stream_loop', '59', '-i', short, '-c', 'copy', long])
  const times = { short: [] as number[], long: [] as number[] }
  for (let pair = 0; pair < pairs; pair++) {
    times.short.push(await secondsToPlay(tools, short, join(folder, `short-${pair}`)))
    times.long.push(await secondsToPlay(tools, long, join(folder, `long-${pair}`)))
  }
  const ratio = medianRatio(times.long.map((seconds, pair) => seconds / (times.short[pair] ?? seconds)))
  const [short10, long600] = [median(times.short), median(times.long)]
  const seconds = {
    row: 'first',
    title: 'first segments of the slower of both sources',
    unit: 's',
    value: singleValue(Math.max(short10, long600)),
  }
  report({ ...seconds, goal: { atMost: goals.seconds } })
  report({
    ...{
      row: 'first-ratio',
      title: 'first segments of a 10 min source, against a 10 s source',
      value: ratio,
      goal: { atMost: goals.ratio },
    },
    detail: `${long600.toFixed(2)} s, ${short10.toFixed(2)} s`,
  })
}

/**
 * Encodes audio and the first chunk concurrently, like a worker with one normal and one light slot.
 */
async function secondsToPlay(tools: FfmpegTools, source: string, scratch: string): Promise<number> {
  const started = performance.now()
  await mkdir(scratch)
  const plan = planEncode({ probe: await probeSource({ source, scratch, tools }), tools })
  const enough = new AbortController()
  const runs = [0, audioChunk(plan)].map((chunkIndex) =>
    encodeChunk({ plan, chunkIndex, source, scratch, tools, signal: enough.signal }).catch((error: unknown) => {
      if (!enough.signal.aborted) throw error
    }),
  )
  const ended = Promise.all(runs)
  await Promise.race([waitUntilPlayable(plan, scratch), ended.then(() => waitUntilPlayable(plan, scratch))])
  const seconds = (performance.now() - started) / 1000
  enough.abort()
  await ended
  return seconds
}

/** Waits until the first segment of every rendition and audio track exists. Throws if one does not appear. */
async function waitUntilPlayable(plan: EncodePlan, scratch: string): Promise<void> {
  const firstSegments = [0, audioChunk(plan)].flatMap((chunk) =>
    chunkKeys(plan, chunk).map((key) => join(scratch, chunkFolder(chunk), key, 'seg-00001.m4s')),
  )
  const allExist = async () => (await Promise.all(firstSegments.map(fileExists))).every((exists) => exists)
  await waitFor(allExist, { timeout: 60_000, interval: 20, describe: 'the first segments' })
}

async function fileExists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}
