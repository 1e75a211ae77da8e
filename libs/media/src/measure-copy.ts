import { inputGuards } from './codecs.ts'
import { ffmpegArguments } from './ffmpeg-arguments.ts'
import type { ProbedFile, ProbedStream } from './ffprobe-json.ts'
import { groupFrames, outputFrameRate, toNumber } from './frame-rate.ts'
import { ladder, usualKeys } from './ladder.ts'
import { lockedRun } from './locked-run.ts'
import { isEncodeFailed } from './media-errors.ts'
import { copyReader } from './read-copy.ts'
import type { FfprobeRun } from './run-ffprobe.ts'
import { sourceName } from './scratch.ts'
import type { SourceCopy, SourceProbe } from './source-probe.ts'

export interface CopyQuestion {
  run: Omit<FfprobeRun, 'args'>
  maxPixels: number
  file: ProbedFile
  stream: ProbedStream
  found: SourceProbe
}

/** Of H.264 with 8 bits; every browser shows these. */
const profiles = ['Constrained Baseline', 'Main', 'High']
/** Ends the reading: most sources show it in their first seconds, and nobody waits for the rest of them. */
const doesNotFit = new Error('the picture is no rendition as it is stored')
/** Of sound and of all else in the file, at most, bits a second. */
const besideBits = 1_000_000

/**
 * Whether the picture can be a rendition as it is stored: every browser shows its codec, frames come at a steady rate that renditions may have, and
 * each group of ours begins with a frame that nothing before it is needed for. What the header says is looked at first; only then are all packets
 * read, without decoding any.
 */
export async function measureCopy({ run, maxPixels, file, stream, found }: CopyQuestion): Promise<SourceCopy | undefined> {
  const { video } = found
  if (!video || !looksRight(stream, found) || file.bitrate === 0 || file.bitrate > mostBits(found)) return undefined
  const frameRate = outputFrameRate(video)
  const reader = copyReader({ frameRate: toNumber(frameRate), groupFrames: groupFrames(frameRate) })
  try {
    await lockedRun({
      tool: run.tools.ffmpeg,
      args: ffmpegArguments({
        inputs: [{ file: sourceName, options: inputGuards(found.demuxer, maxPixels, 'ffmpeg') }],
        graphs: [],
        outputs: [{ file: 'pipe:1', options: packetList(video.index) }],
      }),
      scratch: run.scratch,
      limits: { cpuSeconds: 600, wallSeconds: 600, stallSeconds: 30, fileBytes: 0, ...run.limits },
      onLine: (line) => {
        if (!reader.line(line)) throw doesNotFit
        return true
      },
      signal: run.signal,
    })
  } catch (error) {
    if (error === doesNotFit) return undefined
    // What cannot be read packet by packet is decoded instead: that run has the last word on the file.
    if (isEncodeFailed(error) && error.kind === 'crashed') return undefined
    throw error
  }
  return reader.end()
}

function looksRight({ codec, pixelFormat, profile, fieldOrder, width, height }: ProbedStream, { container, video }: SourceProbe): boolean {
  if (!video || (container !== 'mp4' && container !== 'matroska')) return false
  const isPlain = !video.variableRate && !video.interlaced && !video.fullRange && video.rotation === 0 && fieldOrder === 'progressive'
  const isEven = video.width === width && video.height === height && width % 2 === 0 && height % 2 === 0
  const isHdr = ['smpte2084', 'arib-std-b67'].includes(video.transfer)
  return codec === 'h264' && profiles.includes(profile) && pixelFormat === 'yuv420p' && isPlain && isEven && !isHdr
}

/** The whole file of the largest rendition that such a source gets, and what else may be in it. */
function mostBits({ video }: SourceProbe): number {
  const keys = usualKeys(video)
  const labels = ladder.filter(({ key }) => keys.includes(key)).map(({ label }) => label)
  return Math.max(0, ...labels) * 1000 + besideBits
}

/**
 * Each packet of the picture as a line of numbers; once more, as a second stream, those that begin with an IDR picture; and as a third one those with
 * parameter sets (ITU-T H.264, table 7-1), which may change the picture's size in its midst: in MP4 they belong into the head of the track.
 */
function packetList(index: number): string[] {
  const streams = [0, 1, 2].flatMap(() => ['-map', `0:${index}`])
  return [...streams, '-c', 'copy', '-bsf:v:1', 'filter_units=pass_types=5', '-bsf:v:2', 'filter_units=pass_types=7-8', '-f', 'framecrc']
}
