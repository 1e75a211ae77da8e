import { inputGuards } from './codecs.ts'
import { type FfmpegInput, type FfmpegOutput, ffmpegArguments } from './ffmpeg-arguments.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { toNumber } from './frame-rate.ts'
import { pictureOptions } from './picture-codec.ts'
import type { EncodePlan, PlannedRendition } from './plan.ts'
import type { PlannedAudioTrack, PlannedSound } from './plan-audio.ts'
import type { PlannedChunk } from './plan-chunks.ts'
import { sourceName } from './scratch.ts'
import { timeMayJump } from './time-jumps.ts'
import type { X264Asm } from './x264-asm.ts'

/** The names inside the folder of a chunk: one folder for each rendition and audio track. */
export const segmentNames = { init: 'init.mp4', pattern: 'seg-%05d.m4s', list: 'index.m3u8' } as const

/** One run that decodes a stretch of the picture once and makes all renditions of it, as fMP4 segments. */
export function pictureArguments(plan: EncodePlan, chunk: PlannedChunk, folder: string, tools: Pick<FfmpegTools, 'x264Asm'>): string[] {
  const pictures = plan.renditions.filter((rendition) => rendition.video !== undefined)
  const range = rangeOf(plan, chunk)
  return ffmpegArguments({
    inputs: [sourceInput(plan, entryOptions(plan, range))],
    graphs: [videoGraph(plan, range, pictures)],
    outputs: [
      ...pictures.map((rendition, index) => videoOutput({ plan, chunk, folder, x264Asm: tools.x264Asm }, rendition, index)),
      ...witness(
        plan,
        (plan.audio?.sounds ?? []).map(({ streamIndex }) => streamIndex),
      ),
    ],
  })
}

/** One run that makes all audio tracks of the whole source, as fMP4 segments: each sound by a graph of its own. */
export function soundArguments(plan: EncodePlan, folder: string): string[] {
  const tracks = plan.audio?.tracks ?? []
  return ffmpegArguments({
    inputs: [sourceInput(plan, [])],
    graphs: (plan.audio?.sounds ?? []).map((sound, index) => audioGraph(plan, sound, index)),
    outputs: [...tracks.map((track) => audioOutput(plan, track, folder)), ...witness(plan, plan.video ? [plan.video.streamIndex] : [])],
  })
}

/**
 * A change of size within the source goes to the scalers; a new filter graph would count its frames from zero again. The encoders are what takes
 * time: more threads beside them cost 2 to 3 % of a processor and make nothing sooner, except for tone mapping.
 */
function sourceInput(plan: EncodePlan, entry: readonly string[]): FfmpegInput {
  const filters = plan.video?.toneMap ? '2' : '1'
  const threads = ['-filter_complex_threads', filters, '-threads', '1', '-reinit_filter:v', '0']
  return { file: sourceName, options: [...threads, ...entry, ...inputGuards(plan.demuxer, plan.maxPixels, 'ffmpeg')] }
}

/**
 * Where time may jump within a file, ffmpeg closes the gap by the first stream that shows it. Picture and sound are made by two runs, which
 * must close it alike: each sees the packets of the other streams, too, without decoding them.
 */
function witness({ demuxer }: EncodePlan, streams: readonly number[]): FfmpegOutput[] {
  if (streams.length === 0 || !timeMayJump(demuxer)) return []
  return [{ file: 'none', options: [...streams.flatMap((index) => ['-map', `0:${index}`]), '-c', 'copy', '-f', 'null'] }]
}

/** Output frames of the constant rate: those from `from` on are made, those of the chunk are kept. */
interface FrameRange {
  from: number
  start: number
  end: number
}

/** What holds the last frame of the source must have seen it: a chunk behind it begins a group before it. */
function rangeOf({ video }: EncodePlan, { startFrame, frames }: PlannedChunk): FrameRange {
  const lastEntry = video ? Math.max(0, video.sourceFrames - video.groupFrames) : 0
  return { from: Math.min(startFrame, lastEntry), start: startFrame, end: startFrame + frames }
}

/** So that the frame shown at the start is there, whatever rounds, and those before that a filter looks back to. */
const entrySeconds = 0.5

/**
 * Decoding begins at the last key frame half a second or more before the range. Times stay those of the whole source, to the last tick: so the same
 * frame falls on the same place of the constant rate in every run.
 */
function entryOptions(plan: EncodePlan, { from }: FrameRange): string[] {
  if (!plan.video || plan.chunks.length < 2) return []
  const seconds = from / toNumber(plan.video.frameRate) - entrySeconds
  return ['-copyts', '-start_at_zero', ...(seconds > 0 ? ['-ss', seconds.toFixed(3), '-noaccurate_seek'] : [])]
}

/** The largest picture is scaled from the source, each smaller one from the next larger; the last part hands each size to its encoders. */
function videoGraph(plan: EncodePlan, range: FrameRange, pictures: readonly PlannedRendition[]): string {
  if (!plan.video) return ''
  const { streamIndex, frameRate, holdSeconds, deinterlace, limitRange, toneMap, assumeColours } = plan.video
  const sizes = sizesOf(pictures)
  const [largest] = sizes
  if (!largest) return ''
  const before = [
    ...(deinterlace ? ['bwdif=mode=send_frame'] : []),
    `fps=fps=${frameRate.numerator}/${frameRate.denominator}:start_time=${(range.from / toNumber(frameRate)).toFixed(6)}`,
    `tpad=stop_mode=clone:stop_duration=${holdSeconds}`,
    `trim=start_frame=${range.start - range.from}:end_frame=${range.end - range.from}`,
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

/** In linear light at the size of the largest rendition, so that the costly part sees few pixels. */
const toneMapping = [
  'zscale=transfer=linear:npl=100',
  'format=gbrpf32le',
  'zscale=primaries=bt709',
  'tonemap=tonemap=hable:desat=0',
  'zscale=transfer=bt709:matrix=bt709:range=limited',
]

/** Each size once, the largest first, with the numbers of the renditions that have it. */
function sizesOf(pictures: readonly PlannedRendition[]): { width: number; height: number; encoders: number[] }[] {
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

/** The AAC encoder puts 1,024 samples of silence in front, which segments cannot announce: as many are cut off, so that sound and picture meet. */
function audioGraph(plan: EncodePlan, { streamIndex, channels, silenceSeconds }: PlannedSound, sound: number): string {
  const ends = (plan.audio?.tracks ?? []).filter((track) => track.sound === sound).map(({ key }) => `[${key}]`)
  const chain = [
    // Beyond eight channels there is no known way to mix down: the first two are taken.
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
    return output(plan, chunk.firstSegment, `0:${plan.video.streamIndex}`, copyOptions(plan.video, chunk), `${folder}/${rendition.key}`)
  }
  const options = pictureOptions({ codec, kbps, profile, groupFrames: plan.video?.groupFrames ?? 0, chunk, x264Asm })
  return output(plan, chunk.firstSegment, `[v${index}]`, options, `${folder}/${rendition.key}`)
}

/** The packets of the chunk's own frames, each at its place of the constant rate: nothing outside of it is needed for them (`measureCopy`). */
function copyOptions({ frameRate: { numerator, denominator } }: NonNullable<EncodePlan['video']>, chunk: PlannedChunk): string[][] {
  const place = (ticks: 'pts' | 'PTS' | 'DTS', tick: 'tb' | 'TB') => `${ticks}*${tick}*${numerator}/${denominator}`
  const [start, end] = [chunk.startFrame, chunk.startFrame + chunk.frames].map((frame) => frame - 0.5)
  const own = `noise=drop='lt(${place('pts', 'tb')},${start})+gte(${place('pts', 'tb')},${end})'`
  const steady = `setts=pts='round(${place('PTS', 'TB')})':dts='round(${place('DTS', 'TB')})':duration=1:time_base=${denominator}/${numerator}`
  return [
    ['-c:v', 'copy'],
    ['-bsf:v', `${own},${steady}`],
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
 * CMAF's signed offsets let every rendition begin at exactly 0, with and without B frames; edit lists would be lost on many players. A chunk
 * goes on in time and number where the one before it ends, as one run of all would.
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
    ['-hls_segment_options', firstSegment === 1 ? 'movflags=+cmaf' : `movflags=+cmaf+frag_discont:fragment_index=${firstSegment}`],
    ['-hls_fmp4_init_filename', segmentNames.init],
    ['-hls_segment_filename', `${folder}/${segmentNames.pattern}`],
    ['-hls_flags', '+temp_file+independent_segments'],
    ['-start_number', String(firstSegment)],
  ]
  return { file: `${folder}/${segmentNames.list}`, options: options.flat() }
}
