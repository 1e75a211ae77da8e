import { inputGuards } from './codecs.ts'
import { ffmpegArguments } from './ffmpeg-arguments.ts'
import type { ProbedFile, ProbedStream } from './ffprobe-json.ts'
import { groupFrames, outputFrameRate, toNumber, toRational } from './frame-rate.ts'
import { defaultKeys, ladder } from './ladder.ts'
import { isEncodeError } from './media-errors.ts'
import { copyReader } from './read-copy.ts'
import type { FfprobeRun } from './run-ffprobe.ts'
import { runSandboxed } from './sandboxed-process.ts'
import { sourceName } from './scratch.ts'
import type { SourceCopy, SourceProbe } from './source-probe.ts'

export interface CopyOptions {
  run: Omit<FfprobeRun, 'args'>
  maxPixels: number
  file: ProbedFile
  stream: ProbedStream
  probe: SourceProbe
}

/** Profiles of 8-bit H.264 that every browser supports. */
const BROWSER_PROFILES = ['Constrained Baseline', 'Main', 'High']
/** Error that aborts the run. Most unsuitable sources are detected in their first seconds. */
const NOT_COPYABLE = new Error('the stored picture cannot be used as a rendition')
/** Maximum bit rate of the sound and of all other data in the file, in bit/s. */
const MAX_OTHER_BITRATE = 1_000_000

/**
 * Returns the copy of a source's picture if it can be used as a rendition without encoding, else
 * undefined. Every browser must support its codec, frames must have a constant rate that renditions
 * may have, and each group of pictures must start with a frame that is decodable without earlier
 * ones. Checks the header first, and only then reads all packets, without decoding.
 */
export async function measureCopy({ run, maxPixels, file, stream, probe }: CopyOptions): Promise<SourceCopy | undefined> {
  const { video } = probe
  const timeBase = toRational(stream.timeBase)
  if (
    !run.tools.canCopyPictures ||
    !video ||
    !timeBase ||
    !isCandidate(stream, probe) ||
    file.bitrate === 0 ||
    file.bitrate > maxBitrate(probe)
  )
    return undefined
  const frameRate = outputFrameRate(video)
  const reader = copyReader({ frameRate: toNumber(frameRate), groupFrames: groupFrames(frameRate) })
  try {
    await runSandboxed({
      tool: run.tools.ffmpeg,
      args: ffmpegArguments({
        inputs: [{ file: sourceName, options: inputGuards(probe.demuxer, maxPixels, 'ffmpeg') }],
        graphs: [],
        outputs: [{ file: 'pipe:1', options: packetListOptions(video.index) }],
      }),
      scratch: run.scratch,
      limits: { cpuSeconds: 600, wallSeconds: 600, stallSeconds: 30, fileBytes: 0, ...run.limits },
      onLine: (line) => {
        if (!reader.line(line)) throw NOT_COPYABLE
        return true
      },
      signal: run.signal,
    })
  } catch (error) {
    if (error === NOT_COPYABLE) return undefined
    // A file that cannot be read packet by packet is decoded instead; that run decides whether it
    // is valid.
    if (isEncodeError(error) && error.kind === 'crashed') return undefined
    throw error
  }
  const copy = reader.end()
  return copy && { ...copy, timeBase }
}

function isCandidate({ codec, pixelFormat, profile, fieldOrder, width, height }: ProbedStream, { container, video }: SourceProbe): boolean {
  if (!video || (container !== 'mp4' && container !== 'matroska')) return false
  const isPlain = !video.variableRate && !video.interlaced && !video.fullRange && video.rotation === 0 && fieldOrder === 'progressive'
  const isEven = video.width === width && video.height === height && width % 2 === 0 && height % 2 === 0
  const isHdr = ['smpte2084', 'arib-std-b67'].includes(video.transfer)
  return codec === 'h264' && BROWSER_PROFILES.includes(profile) && pixelFormat === 'yuv420p' && isPlain && isEven && !isHdr
}

/**
 * Returns the maximum bit rate of the file: the largest rendition of such a source plus all other
 * data in the file.
 */
function maxBitrate({ video }: SourceProbe): number {
  const keys = defaultKeys(video)
  const kilobitRates = ladder.filter(({ key }) => keys.includes(key)).map(({ label }) => label)
  return Math.max(0, ...kilobitRates) * 1000 + MAX_OTHER_BITRATE
}

/**
 * Returns options that list each packet of the picture as a line of numbers. A second stream lists
 * packets that start with an IDR picture. A third one lists packets with parameter sets (ITU-T
 * H.264, table 7-1), which may change the picture size within the stream; in MP4 they belong in the
 * track header.
 */
function packetListOptions(index: number): string[] {
  const streams = [0, 1, 2].flatMap(() => ['-map', `0:${index}`])
  return [...streams, '-c', 'copy', '-bsf:v:1', 'filter_units=pass_types=5', '-bsf:v:2', 'filter_units=pass_types=7-8', '-f', 'framecrc']
}
