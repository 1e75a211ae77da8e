import type { ProbedFile, ProbedStream } from './ffprobe-json.ts'
import { isEncodeError } from './media-errors.ts'
import { type FfprobeRun, ffprobeLines } from './run-ffprobe.ts'
import { sourceName } from './scratch.ts'
import type { Container } from './sniff.ts'

export interface KeysOptions {
  run: Omit<FfprobeRun, 'args'>
  guards: readonly string[]
  container: Container['name']
  file: ProbedFile
  video: ProbedStream
  endSeconds: number
}

/**
 * Containers with an exact time index. Seeking in MPEG-TS, MPEG-PS, ASF and FLV is approximate, and
 * AVI counts packets instead of time. A source in such a container is decoded from its start in one
 * run. It is not remuxed, which would need a second copy.
 */
const indexedContainers: readonly Container['name'][] = ['mp4', 'matroska']
/** A shorter video is not divided into chunks. */
const MIN_DURATION_SECONDS = 5
/** Number of positions to seek to. */
const POSITIONS = 8
/**
 * Maximum distance between key frames. Decoding more before each chunk would cost more than
 * parallel chunks save.
 */
const MAX_KEY_SECONDS = 20
/** Minimum result: `keySeconds` of 0 means that the source is not divided into chunks. */
const MIN_KEY_SECONDS = 0.1
/**
 * Maximum time by which the key frame may be after the position of a seek. Fragments of an MP4 are
 * indexed in decoding order, so a seek may lead slightly too far. The encode of a chunk seeks to
 * `SEEK_MARGIN_SECONDS` (`encode-command.ts`) before its start, which is more.
 */
const MAX_LATE_SECONDS = 0.25

/**
 * Returns the maximum distance in seconds from a position back to its key frame, or undefined if
 * decoding cannot start in the middle. Seeks to some positions; at each, the first packet must be a
 * key frame that is at most `MAX_LATE_SECONDS` after the position. A file without a duration has no
 * index either, so each seek would read it from the start.
 */
export async function measureKeys({ run, guards, container, file, video, endSeconds }: KeysOptions): Promise<number | undefined> {
  if (!indexedContainers.includes(container) || endSeconds < MIN_DURATION_SECONDS || file.durationSeconds === undefined) return undefined
  const positions = [3, ...Array.from({ length: POSITIONS - 1 }, (_, index) => (endSeconds * (index + 1)) / POSITIONS)]
  const intervals = positions.map((position) => `${(position + file.startSeconds).toFixed(3)}%+#1`).join(',')
  const entries = ['-select_streams', String(video.index), '-of', 'csv=p=0', '-show_entries', 'packet=pts_time,flags']
  const keyTimes: number[] = []
  try {
    await ffprobeLines({ ...run, args: [...guards, ...entries, '-read_intervals', intervals, `file:${sourceName}`] }, (line) => {
      const [time, flags = ''] = line.split(',')
      keyTimes.push(flags.startsWith('K') ? Number(time) - file.startSeconds : Number.NaN)
    })
  } catch (error) {
    if (isEncodeError(error) && error.kind === 'crashed') return undefined
    throw error
  }
  const distances = positions.map((position, index) => position - (keyTimes[index] ?? Number.NaN))
  if (keyTimes.length !== positions.length || !distances.every((distance) => distance >= -MAX_LATE_SECONDS && distance <= MAX_KEY_SECONDS))
    return undefined
  return Math.max(MIN_KEY_SECONDS, ...distances)
}
