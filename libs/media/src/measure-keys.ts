import type { ProbedFile, ProbedStream } from './ffprobe-json.ts'
import { isEncodeFailed } from './media-errors.ts'
import { type FfprobeRun, ffprobeLines } from './run-ffprobe.ts'
import { sourceName } from './scratch.ts'
import type { Container } from './sniff.ts'

export interface KeysQuestion {
  run: Omit<FfprobeRun, 'args'>
  guards: readonly string[]
  container: Container['name']
  file: ProbedFile
  video: ProbedStream
  endSeconds: number
}

/**
 * These two have an index that is exact in time. MPEG-TS, MPEG-PS, ASF and FLV are entered by guessing at bytes, AVI counts packets instead of
 * time: a source in them is decoded from its beginning, in one run, and takes no second copy of itself in another container.
 */
const exact: readonly Container['name'][] = ['mp4', 'matroska']
/** Below, there is nothing to cut. */
const shortestSeconds = 5
const places = 8
/** Decoding so much for nothing costs more than a cut is worth. */
const mostSeconds = 20
const leastSeconds = 0.1
/** Fragments of an MP4 are indexed in the order of decoding. A chunk asks for a place half a second before its start (`entrySeconds`). */
const lateSeconds = 0.25

/**
 * How far key frames are apart, where decoding can begin in the middle: some places are asked for, and at each the first packet must be a key
 * frame that is not behind it. A file that does not tell its length has no index either: each look would read it from its beginning.
 */
export async function measureKeys({ run, guards, container, file, video, endSeconds }: KeysQuestion): Promise<number | undefined> {
  if (!exact.includes(container) || endSeconds < shortestSeconds || file.durationSeconds === undefined) return undefined
  const wanted = [3, ...Array.from({ length: places - 1 }, (_, index) => (endSeconds * (index + 1)) / places)]
  const intervals = wanted.map((place) => `${(place + file.startSeconds).toFixed(3)}%+#1`).join(',')
  const entries = ['-select_streams', String(video.index), '-of', 'csv=p=0', '-show_entries', 'packet=pts_time,flags']
  const found: number[] = []
  try {
    await ffprobeLines({ ...run, args: [...guards, ...entries, '-read_intervals', intervals, `file:${sourceName}`] }, (line) => {
      const [time, flags = ''] = line.split(',')
      found.push(flags.startsWith('K') ? Number(time) - file.startSeconds : Number.NaN)
    })
  } catch (error) {
    if (isEncodeFailed(error) && error.kind === 'crashed') return undefined
    throw error
  }
  const distances = wanted.map((place, index) => place - (found[index] ?? Number.NaN))
  if (found.length !== wanted.length || !distances.every((distance) => distance >= -lateSeconds && distance <= mostSeconds))
    return undefined
  return Math.max(leastSeconds, ...distances)
}
