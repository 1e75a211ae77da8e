import type { ProbedFile, ProbedStream } from './ffprobe-json.ts'
import { InvalidSource } from './media-errors.ts'
import { type FfprobeRun, ffprobeLines } from './run-ffprobe.ts'
import { sourceName } from './scratch.ts'

/** End of each stream, in seconds from the start of the file. */
export type StreamEnds = Map<number, number>

export interface EndsQuestion {
  run: Omit<FfprobeRun, 'args'>
  guards: readonly string[]
  file: ProbedFile
  streams: readonly ProbedStream[]
  /** The container stores its duration in the header, so a shorter file was truncated. */
  statesLength: boolean
}

/**
 * Returns where the streams end. A header may be missing, estimated or wrong, so the last seconds are read. Only if
 * they are missing is the whole file read, without decoding.
 */
export async function measureEnds(question: EndsQuestion): Promise<StreamEnds> {
  const claimed = question.file.durationSeconds
  if (claimed !== undefined && claimed > 0) {
    const tail = await lastPackets(question, Math.max(0, claimed - tailSeconds))
    const reachesEnd = longest(tail.ends) >= claimed - slackSeconds
    const ends = withHeaders(question, tail)
    if (reachesEnd && ends.size === question.streams.length) return ends
  }
  const walked = await lastPackets(question, undefined)
  const missing = claimed === undefined ? 0 : claimed - longest(walked.ends)
  if (question.statesLength && claimed !== undefined && missing > Math.max(1, claimed * 0.02) && cutShort.test(walked.stderr)) {
    throw new InvalidSource(4002, `the file is truncated: it has ${seconds(longest(walked.ends))} of ${seconds(claimed)}`)
  }
  return walked.ends
}

const tailSeconds = 5
const slackSeconds = 0.5
const cutShort = /partial file|ended prematurely|truncat|Invalid data|error reading|Packet corrupt/i

export function longest(ends: StreamEnds): number {
  return Math.max(0, ...ends.values())
}

function seconds(value: number): string {
  return `${Math.max(0, Math.round(value * 10) / 10)} s`
}

interface Walk {
  ends: StreamEnds
  stderr: string
}

/** Returns the end of the last packet of each stream from a time on (undefined: of the whole file). */
async function lastPackets({ run, guards, file, streams }: EndsQuestion, from: number | undefined): Promise<Walk> {
  const ends: StreamEnds = new Map()
  const wanted = new Set(streams.map((stream) => stream.index))
  const interval = from === undefined || from === 0 ? [] : ['-read_intervals', `${(from + file.startSeconds).toFixed(3)}%`]
  const entries = ['-of', 'csv=p=0', '-show_entries', 'packet=stream_index,pts_time,dts_time,duration_time']
  const end = await ffprobeLines({ ...run, args: [...guards, ...interval, ...entries, `file:${sourceName}`] }, (line) => {
    // Side data of a packet adds lines and columns after these.
    const [index, pts, dts, duration] = line.split(',').map(Number)
    const time = finite(pts) ?? finite(dts)
    if (index === undefined || time === undefined || !wanted.has(index)) return
    const until = time + (finite(duration) ?? 0) - file.startSeconds
    if (until > (ends.get(index) ?? 0)) ends.set(index, until)
  })
  return { ends, stderr: end.stderr }
}

/** For a stream that ends before the last seconds, uses the end from its header, if there is one. */
function withHeaders({ file, streams }: EndsQuestion, walk: Walk): StreamEnds {
  const ends = new Map(walk.ends)
  for (const { index, durationSeconds, startSeconds } of streams) {
    if (ends.has(index) || durationSeconds === undefined) continue
    ends.set(index, (startSeconds ?? 0) + durationSeconds - file.startSeconds)
  }
  return ends
}

function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined
}
