import { inputGuards } from './codecs.ts'
import { ffmpegArguments } from './ffmpeg-arguments.ts'
import type { StreamEnds } from './measure-ends.ts'
import { isEncodeError } from './media-errors.ts'
import type { FfprobeRun } from './run-ffprobe.ts'
import { runSandboxed } from './sandboxed-process.ts'
import { sourceName } from './scratch.ts'

/**
 * Returns whether time may jump within files of this container, such as concatenated recordings, or
 * recordings of a receiver that lost its signal or had a wrong clock. ffmpeg closes such a gap
 * (backwards by more than 0.1 s, forwards by more than 10 s) while it encodes, but the container's
 * duration does not reflect that.
 */
export function canTimeJump(demuxer: string): boolean {
  return jumpingDemuxers.includes(demuxer)
}

const jumpingDemuxers = ['mpegts', 'mpeg', 'ogg']

export interface JoinedOptions {
  run: Omit<FfprobeRun, 'args'>
  demuxer: string
  maxPixels: number
  /**
   * Streams that the encode will read. ffmpeg closes a gap in all streams as soon as one stream
   * shows it.
   */
  streams: readonly number[]
}

/**
 * Returns the end of each stream after closing gaps as the encode does. Returns undefined if the
 * packets cannot be read in sequence. Reads the complete file once, without decoding.
 */
export async function measureJoinedEnds(options: JoinedOptions): Promise<StreamEnds | undefined> {
  try {
    return await readJoinedEnds(options)
  } catch (error) {
    if (isEncodeError(error) && error.kind === 'crashed') return undefined
    throw error
  }
}

async function readJoinedEnds({ run, demuxer, maxPixels, streams }: JoinedOptions): Promise<StreamEnds> {
  const ends: StreamEnds = new Map()
  const tickSeconds: number[] = []
  const maps = streams.flatMap((index) => ['-map', `0:${index}`])
  await runSandboxed({
    tool: run.tools.ffmpeg,
    args: ffmpegArguments({
      inputs: [{ file: sourceName, options: inputGuards(demuxer, maxPixels, 'ffmpeg') }],
      graphs: [],
      outputs: [{ file: 'pipe:1', options: [...maps, '-c', 'copy', '-copyinkf', '-f', 'framecrc'] }],
    }),
    scratch: run.scratch,
    limits: { ...limits, ...run.limits },
    onLine: (line) => {
      const [, stream, tick] = timeBaseLine.exec(line) ?? []
      if (stream !== undefined && tick !== undefined) tickSeconds[Number(stream)] = 1 / Number(tick)
      const [, output, pts, duration] = packetLine.exec(line) ?? []
      const index = streams[Number(output)]
      if (index === undefined) return timeBaseLine.test(line)
      const end = (Number(pts) + Number(duration)) * (tickSeconds[Number(output)] ?? 0)
      if (end > (ends.get(index) ?? 0)) ends.set(index, end)
      return true
    },
    signal: run.signal,
  })
  return ends
}

const limits = { cpuSeconds: 600, wallSeconds: 3600, stallSeconds: 30, fileBytes: 0, memoryBytes: 2 ** 30 }
/** `#tb 0: 1/90000`: time base of a stream. */
const timeBaseLine = /^#tb (\d+): 1\/(\d+)$/
/** A line of a packet: stream, decoding time, presentation time, duration, bytes, checksum. */
const packetLine = /^(\d+), *-?\d+, *(-?\d+), *(\d+), /
