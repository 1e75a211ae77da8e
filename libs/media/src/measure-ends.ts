import type { ProbedFile, ProbedStream } from './ffprobe-json.ts'
import { InvalidSource } from './media-errors.ts'
import { type FfprobeRun, ffprobeLines } from './run-ffprobe.ts'
import { sourceName } from './scratch.ts'

/** End of each stream in seconds from the start of the file, by stream index. */
export type StreamEnds = Map<number, number>

export interface EndsOptions {
  run: Omit<FfprobeRun, 'args'>
  guards: readonly string[]
  file: ProbedFile
  streams: readonly ProbedStream[]
  /**
   * Whether the container stores its duration in the header, so that a shorter file was truncated.
   */
  hasDurationInHeader: boolean
}

/**
 * Returns the ends of the streams. A header may be missing, estimated or wrong, so the last seconds
 * are read. If they are missing, the complete file is read, without decoding. Throws
 * `InvalidSource` with 4002 for a truncated file.
 */
export async function measureEnds(options: EndsOptions): Promise<StreamEnds> {
  const declaredSeconds = options.file.durationSeconds
  if (declaredSeconds !== undefined && declaredSeconds > 0) {
    const tail = await scanPackets(options, Math.max(0, declaredSeconds - TAIL_SECONDS))
    const reachesEnd = latestEnd(tail.ends) >= declaredSeconds - MAX_MISSING_SECONDS
    const ends = withHeaders(options, tail)
    if (reachesEnd && ends.size === options.streams.length) return ends
  }
  const complete = await scanPackets(options, undefined)
  const missing = declaredSeconds === undefined ? 0 : declaredSeconds - latestEnd(complete.ends)
  if (
    options.hasDurationInHeader &&
    declaredSeconds !== undefined &&
    missing > Math.max(1, declaredSeconds * 0.02) &&
    TRUNCATION_MESSAGES.test(complete.stderr)
  ) {
    throw new InvalidSource(
      4002,
      `the file is truncated: it has ${formatSeconds(latestEnd(complete.ends))} of ${formatSeconds(declaredSeconds)}`,
    )
  }
  return complete.ends
}

/** Duration of the part at the end that is read first. */
const TAIL_SECONDS = 5
/** Maximum time by which the last packet may end before the declared duration. */
const MAX_MISSING_SECONDS = 0.5
const TRUNCATION_MESSAGES = /partial file|ended prematurely|truncat|Invalid data|error reading|Packet corrupt/i

/** Returns the end of the stream that ends last. */
export function latestEnd(ends: StreamEnds): number {
  return Math.max(0, ...ends.values())
}

function formatSeconds(value: number): string {
  return `${Math.max(0, Math.round(value * 10) / 10)} s`
}

interface PacketScan {
  ends: StreamEnds
  stderr: string
}

/**
 * Reads the packets from a time on, or all if it is undefined. Returns the end of the last packet
 * of each stream.
 */
async function scanPackets({ run, guards, file, streams }: EndsOptions, from: number | undefined): Promise<PacketScan> {
  const ends: StreamEnds = new Map()
  const streamIndexes = new Set(streams.map((stream) => stream.index))
  const interval = from === undefined || from === 0 ? [] : ['-read_intervals', `${(from + file.startSeconds).toFixed(3)}%`]
  const entries = ['-of', 'csv=p=0', '-show_entries', 'packet=stream_index,pts_time,dts_time,duration_time']
  const end = await ffprobeLines({ ...run, args: [...guards, ...interval, ...entries, `file:${sourceName}`] }, (line) => {
    // Side data of a packet adds lines and columns after these.
    const [index, pts, dts, duration] = line.split(',').map(Number)
    const time = toFinite(pts) ?? toFinite(dts)
    if (index === undefined || time === undefined || !streamIndexes.has(index)) return
    const packetEnd = time + (toFinite(duration) ?? 0) - file.startSeconds
    if (packetEnd > (ends.get(index) ?? 0)) ends.set(index, packetEnd)
  })
  return { ends, stderr: end.stderr }
}

/** Adds the ends from the headers for streams that end before the last seconds. */
function withHeaders({ file, streams }: EndsOptions, scan: PacketScan): StreamEnds {
  const ends = new Map(scan.ends)
  for (const { index, durationSeconds, startSeconds } of streams) {
    if (ends.has(index) || durationSeconds === undefined) continue
    ends.set(index, (startSeconds ?? 0) + durationSeconds - file.startSeconds)
  }
  return ends
}

function toFinite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined
}
