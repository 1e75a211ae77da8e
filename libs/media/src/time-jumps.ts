import { inputGuards } from './codecs.ts'
import { ffmpegArguments } from './ffmpeg-arguments.ts'
import { lockedRun } from './locked-run.ts'
import type { StreamEnds } from './measure-ends.ts'
import { isEncodeFailed } from './media-errors.ts'
import type { FfprobeRun } from './run-ffprobe.ts'
import { sourceName } from './scratch.ts'

/**
 * Containers in which time may jump on the way: two recordings one behind the other, a receiver that lost its signal, a broken clock. ffmpeg
 * closes such a gap (back by more than 0.1 s, ahead by more than 10 s) while it encodes; what the container says of its length does not know it.
 */
export function timeMayJump(demuxer: string): boolean {
  return jumpingDemuxers.includes(demuxer)
}

const jumpingDemuxers = ['mpegts', 'mpeg', 'ogg']

export interface JoinedQuestion {
  run: Omit<FfprobeRun, 'args'>
  demuxer: string
  maxPixels: number
  /** Those that the encode will take: the first that shows a gap closes it. */
  streams: readonly number[]
}

/**
 * Where each stream ends once the gaps are closed as the encode closes them; undefined where its packets cannot be read one after another. Costs
 * one reading of the whole file, without decoding.
 */
export async function measureJoinedEnds(question: JoinedQuestion): Promise<StreamEnds | undefined> {
  try {
    return await joinedEnds(question)
  } catch (error) {
    if (isEncodeFailed(error) && error.kind === 'crashed') return undefined
    throw error
  }
}

async function joinedEnds({ run, demuxer, maxPixels, streams }: JoinedQuestion): Promise<StreamEnds> {
  const ends: StreamEnds = new Map()
  const ticks: number[] = []
  const maps = streams.flatMap((index) => ['-map', `0:${index}`])
  await lockedRun({
    tool: run.tools.ffmpeg,
    args: ffmpegArguments({
      inputs: [{ file: sourceName, options: inputGuards(demuxer, maxPixels, 'ffmpeg') }],
      graphs: [],
      outputs: [{ file: 'pipe:1', options: [...maps, '-c', 'copy', '-copyinkf', '-f', 'framecrc'] }],
    }),
    scratch: run.scratch,
    limits: { ...limits, ...run.limits },
    onLine: (line) => {
      const [, place, tick] = timeBase.exec(line) ?? []
      if (place !== undefined && tick !== undefined) ticks[Number(place)] = 1 / Number(tick)
      const [, output, pts, duration] = packet.exec(line) ?? []
      const index = streams[Number(output)]
      if (index === undefined) return timeBase.test(line)
      const until = (Number(pts) + Number(duration)) * (ticks[Number(output)] ?? 0)
      if (until > (ends.get(index) ?? 0)) ends.set(index, until)
      return true
    },
    signal: run.signal,
  })
  return ends
}

const limits = { cpuSeconds: 600, wallSeconds: 3600, stallSeconds: 30, fileBytes: 0, memoryBytes: 2 ** 30 }
/** `#tb 0: 1/90000`: what a stream counts its time in. */
const timeBase = /^#tb (\d+): 1\/(\d+)$/
/** Stream, time of decoding, time of showing, duration, bytes, checksum. */
const packet = /^(\d+), *-?\d+, *(-?\d+), *(\d+), /
