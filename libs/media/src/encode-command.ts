import { inputGuards } from './codecs.ts'
import { type FfmpegInput, type FfmpegOutput, ffmpegArguments } from './ffmpeg-arguments.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { toNumber } from './frame-rate.ts'
import { pictureOptions } from './picture-codec.ts'
import type { X264Asm } from './pin-x264-asm.ts'
import type { EncodePlan, PlannedRendition } from './plan.ts'
import type { PlannedAudioTrack, PlannedSound } from './plan-audio.ts'
import type { PlannedChunk } from './plan-chunks.ts'
import { sourceName } from './scratch.ts'
import type { Rational } from './source-probe.ts'
import { canTimeJump } from './time-jumps.ts'

/**
 * File names in the folder of one rendition or audio track. Each folder of a chunk has one such
 * folder for each.
 */
export const segmentNames = { init: 'init.mp4', pattern: 'seg-%05d.m4s', list: 'index.m3u8' } as const

/**
 * Returns the arguments of a run that decodes a range of the video stream once and encodes all
 * renditions as fMP4 segments.
 */
export function videoArguments(plan: EncodePlan, chunk: PlannedChunk, folder: string, tools: Pick<FfmpegTools, 'x264Asm'>): string[] {
  const pictures = plan.renditions.filter((rendition) => rendition.video !== undefined)
  const range = computeRange(plan, chunk)
  return ffmpegArguments({
    inputs: [sourceInput(plan, seekOptions(plan, range))],
    graphs: [videoGraph(plan, range, pictures)],
    outputs: [
      ...pictures.map((rendition, index) => videoOutput({ plan, chunk, folder, x264Asm: tools.x264Asm }, rendition, index)),
      ...unusedStreams(
        plan,
        (plan.audio?.sounds ?? []).map(({ streamIndex }) => streamIndex),
      ),
    ],
  })
}

/**
 * Returns the arguments of a run that encodes all audio streams of the source (`sounds`) as fMP4
 * segments: one audio track for each stream and bitrate. Each stream has a separate filter graph.
 */
export function audioArguments(plan: EncodePlan, folder: string): string[] {
  const tracks = plan.audio?.tracks ?? []
  return ffmpegArguments({
    inputs: [sourceInput(plan, [])],
    graphs: (plan.audio?.sounds ?? []).map((sound, index) => audioGraph(plan, sound, index)),
    outputs: [
      ...tracks.map((track) => audioOutput(plan, track, folder)),
      ...unusedStreams(plan, plan.video ? [plan.video.streamIndex] : []),
    ],
  })
}

/**
 * Returns the input of the source. The scalers handle changes of size within the source, because a
 * new filter graph would restart its frame count. The encoders use most of the time: more filter
 * threads cost 2 to 3 % more CPU and save no time, except for tone mapping.
 */
function sourceInput(plan: EncodePlan, seek: readonly string[]): FfmpegInput {
  const filters = plan.video?.toneMap ? '2' : '1'
  const threads = ['-filter_complex_threads', filters, '-threads', '1', '-reinit_filter:v', '0']
  return { file: sourceName, options: [...threads, ...seek, ...inputGuards(plan.demuxer, plan.maxPixels, 'ffmpeg')] }
}

/**
 * Returns outputs that read other streams without decoding them. If time jumps within a file,
 * ffmpeg closes the gap in all streams as soon as the first stream that it reads has the gap. Video
 * and audio are encoded by separate runs, which must close it in the same way, so each run reads
 * the packets of the other streams too.
 */
function unusedStreams({ demuxer }: EncodePlan, streams: readonly number[]): FfmpegOutput[] {
  if (streams.length === 0 || !canTimeJump(demuxer)) return []
  return [{ file: 'none', options: [...streams.flatMap((index) => ['-map', `0:${index}`]), '-c', 'copy', '-f', 'null'] }]
}

/**
 * Range of frame numbers at the constant output rate. Frames from `decodeStart` on are decoded.
 * Frames from `start` on and before `end` are encoded.
 */
interface FrameRange {
  decodeStart: number
  start: number
  end: number
}

/**
 * Returns the frame range of a chunk. Frames after the end of the source repeat its last frame. For
 * a chunk there, decoding starts one group of pictures before the end of the source.
 */
function computeRange({ video }: EncodePlan, { startFrame, frames }: PlannedChunk): FrameRange {
  const lastSeekFrame = video ? Math.max(0, video.sourceFrames - video.groupFrames) : 0
  return { decodeStart: Math.min(startFrame, lastSeekFrame), start: startFrame, end: startFrame + frames }
}

/**
 * Decoding starts this time before the range, because of rounding and because filters use earlier
 * frames.
 */
const SEEK_MARGIN_SECONDS = 0.5

/**
 * Returns the input options that start decoding at the last key frame at least
 * `SEEK_MARGIN_SECONDS` before the range, or none for a plan with a single chunk. Times remain
 * those of the source, exact to the tick, so that a frame has the same output frame number in every
 * run.
 */
function seekOptions(plan: EncodePlan, { decodeStart }: FrameRange): string[] {
  if (!plan.video || plan.chunks.length < 2) return []
  const seconds = decodeStart / toNumber(plan.video.frameRate) - SEEK_MARGIN_SECONDS
  return ['-copyts', '-start_at_zero', ...(seconds > 0 ? ['-ss', seconds.toFixed(3), '-noaccurate_seek'] : [])]
}

/**
 * Returns the filter graph. The largest picture is scaled from the source, each smaller one from
 * the next larger one. Each chain ends in a split: one output for each encoder, and one for the
 * next smaller size.
 */
function videoGraph(plan: EncodePlan, range: FrameRange, pictures: readonly PlannedRendition[]): string {
  if (!plan.video) return ''
  const { streamIndex, frameRate, holdSeconds, deinterlace, limitRange, toneMap, assumeColours } = plan.video
  const sizes = listSizes(pictures)
  const [largest] = sizes
  if (!largest) return ''
  const before = [
    ...(deinterlace ? ['bwdif=mode=send_frame'] : []),
    `fps=fps=${frameRate.numerator}/${frameRate.denominator}:start_time=${(range.decodeStart / toNumber(frameRate)).toFixed(6)}`,
    `tpad=stop_mode=clone:stop_duration=${holdSeconds}`,
    `trim=start_frame=${range.start - range.decodeStart}:end_frame=${range.end - range.decodeStart}`,
  ]
  const after = [
    ...(toneMap && assumeColours ? ['setparams=color_primaries=bt2020:colorspace=bt2020nc'] : []),
    ...(toneMap ? toneMapping : []),
    'setsar=1',
    'format=yuv420p',
  ]
  return sizes
    .map(({ width, height, encoders }, index) => {
      const scale = `scale=${width}:${height}:${scaler}`
      const smaller = index + 1 < sizes.length ? [`[below${index}]`] : []
      const ends = [...encoders.map((encoder) => `[v${encoder}]`), ...smaller]
      const chain = index === 0 ? [...before, limitRange ? `${scale}:out_range=tv` : scale, ...after] : [scale]
      return `[${index === 0 ? `0:${streamIndex}` : `below${index - 1}`}]${chain.join(',')},split=${ends.length}${ends.join('')}`
    })
    .join(';')
}

const scaler = 'flags=bicubic+accurate_rnd+full_chroma_int+bitexact'

/**
 * Filters that map HDR to standard dynamic range in linear light. They are expensive, so they
 * process the size of the largest rendition, which has no more pixels than the source.
 */
const toneMapping = [
  'zscale=transfer=linear:npl=100',
  'format=gbrpf32le',
  'zscale=primaries=bt709',
  'tonemap=tonemap=hable:desat=0',
  'zscale=transfer=bt709:matrix=bt709:range=limited',
]

/** Returns each distinct size, largest first, with the indexes of the renditions that use it. */
function listSizes(pictures: readonly PlannedRendition[]): { width: number; height: number; encoders: number[] }[] {
  const sizes = new Map<string, { width: number; height: number; encoders: number[] }>()
  pictures.forEach(({ video }, index) => {
    if (!video || video.copied) return
    const name = `${video.width}x${video.height}`
    const size = sizes.get(name) ?? { width: video.width, height: video.height, encoders: [] }
    size.encoders.push(index)
    sizes.set(name, size)
  })
  return [...sizes.values()].sort((a, b) => b.width * b.height - a.width * a.height)
}

/**
 * Returns the filter graph of one audio stream. The AAC encoder inserts 1,024 samples of silence at
 * the start, which segments cannot signal. The same number of samples is removed, so that audio and
 * video stay in sync.
 */
function audioGraph(plan: EncodePlan, { streamIndex, channels, silenceSeconds }: PlannedSound, sound: number): string {
  const ends = (plan.audio?.tracks ?? []).filter((track) => track.sound === sound).map(({ key }) => `[${key}]`)
  const chain = [
    // There is no standard down-mix for more than eight channels, so the first two are used.
    ...(channels > 8 ? ['pan=stereo|c0=c0|c1=c1'] : []),
    'aresample=48000:async=1:first_pts=0',
    'aformat=sample_fmts=fltp:channel_layouts=stereo',
    `apad=pad_dur=${silenceSeconds}`,
    `atrim=end=${plan.durationSeconds}`,
    'atrim=start_sample=1024',
    'asetpts=PTS-STARTPTS',
  ]
  return `[0:${streamIndex}]${chain.join(',')},asplit=${ends.length}${ends.join('')}`
}

interface PictureRun {
  plan: EncodePlan
  chunk: PlannedChunk
  folder: string
  x264Asm: X264Asm | undefined
}

function videoOutput({ plan, chunk, folder, x264Asm }: PictureRun, rendition: PlannedRendition, index: number): FfmpegOutput {
  const { kbps = 0, profile = 'high', codec = 'h264', copied } = rendition.video ?? {}
  if (copied && plan.video) {
    const options = copyOptions(plan.video, copied.timeBase, chunk)
    return output(plan, chunk.firstSegment, `0:${plan.video.streamIndex}`, options, `${folder}/${rendition.key}`)
  }
  const options = pictureOptions({ codec, kbps, profile, groupFrames: plan.video?.groupFrames ?? 0, chunk, x264Asm })
  return output(plan, chunk.firstSegment, `[v${index}]`, options, `${folder}/${rendition.key}`)
}

/**
 * Returns options that copy the packets of the frames of the chunk and move each to its output
 * frame number. They depend on this chunk only. `measureCopy` has verified that the source can be
 * cut in this way.
 *
 * Times stay in the time base of the source, rounded to its nearest tick, and that time base is
 * written as a number. The option `time_base` of `setts` is not used: it scales nothing from ffmpeg
 * 7.0 to 8.0, and the result of the expression from 8.1 on. For ffmpeg before 7.0, plans contain no
 * copied rendition (`canCopyPictures`).
 */
function copyOptions({ frameRate }: NonNullable<EncodePlan['video']>, timeBase: Rational, chunk: PlannedChunk): string[][] {
  const [start, end] = [chunk.startFrame, chunk.startFrame + chunk.frames].map((frame) => frame - 0.5)
  const numerator = timeBase.numerator * frameRate.numerator
  const denominator = timeBase.denominator * frameRate.denominator
  const dropOthers = `noise=drop='lt(pts*${numerator}/${denominator},${start})+gte(pts*${numerator}/${denominator},${end})'`
  const formatFrameExpression = (ticks: 'PTS' | 'DTS') => `round(${ticks}*${numerator}/${denominator})`
  const formatTickExpression = (frame: string) => `round((${frame})*${denominator}/${numerator})`
  const expressions = {
    pts: formatTickExpression(formatFrameExpression('PTS')),
    dts: formatTickExpression(formatFrameExpression('DTS')),
    duration: `${formatTickExpression(`${formatFrameExpression('DTS')}+1`)}-${formatTickExpression(formatFrameExpression('DTS'))}`,
  }
  const assignments = Object.entries(expressions).map(([name, value]) => `${name}='${value}'`)
  return [
    ['-c:v', 'copy'],
    ['-bsf:v', `${dropOthers},setts=${assignments.join(':')}`],
  ]
}

function audioOutput(plan: EncodePlan, track: PlannedAudioTrack, folder: string): FfmpegOutput {
  const codec = [
    ['-c:a', 'aac'],
    ['-b:a', `${track.kbps}k`],
  ]
  return output(plan, 1, `[${track.key}]`, codec, `${folder}/${track.key}`)
}

/**
 * Returns the output of one rendition or audio track. Signed offsets of CMAF let every rendition
 * start at exactly 0, with and without B frames. Many players ignore edit lists. ffmpeg 7.1 and
 * later writes one in the first chunk unless it is disabled, and then the initialisation segments
 * of two chunks differ. Time and segment number of a chunk continue those of the previous one, as
 * in a single run.
 */
function output(plan: EncodePlan, firstSegment: number, label: string, codec: string[][], folder: string): FfmpegOutput {
  const options = [
    ['-map', label],
    ...codec,
    ['-flags', '+bitexact'],
    ['-fflags', '+bitexact'],
    ['-map_metadata', '-1'],
    ['-map_chapters', '-1'],
    ['-f', 'hls'],
    ['-hls_time', plan.segmentSeconds.toFixed(6)],
    ['-hls_playlist_type', 'vod'],
    ['-hls_segment_type', 'fmp4'],
    [
      '-hls_segment_options',
      `use_editlist=0:${firstSegment === 1 ? 'movflags=+cmaf' : `movflags=+cmaf+frag_discont:fragment_index=${firstSegment}`}`,
    ],
    ['-hls_fmp4_init_filename', segmentNames.init],
    ['-hls_segment_filename', `${folder}/${segmentNames.pattern}`],
    ['-hls_flags', '+temp_file+independent_segments'],
    ['-start_number', String(firstSegment)],
  ]
  return { file: `${folder}/${segmentNames.list}`, options: options.flat() }
}
