import { inputGuards } from './codecs.ts'
import { type FfmpegOutput, ffmpegArguments } from './ffmpeg-arguments.ts'
import type { EncodePlan, PlannedAudioTrack, PlannedChunk, PlannedRendition } from './plan.ts'
import { sourceName } from './scratch.ts'

/** The names inside the folder of a chunk: one folder for each rendition and audio track. */
export const segmentNames = { init: 'init.mp4', pattern: 'seg-%05d.m4s', list: 'index.m3u8' } as const

/** One run that decodes the source once and makes all renditions and audio tracks of a chunk, as fMP4 segments. */
export function encodeArguments(plan: EncodePlan, chunk: PlannedChunk, folder: string): string[] {
  const pictures = plan.renditions.filter((rendition) => rendition.video !== undefined)
  const tracks = plan.audio?.tracks ?? []
  return ffmpegArguments({
    inputs: [
      {
        file: sourceName,
        // A change of size within the source goes to the scalers; a new filter graph would count its frames from zero again.
        options: [
          '-filter_complex_threads',
          '2',
          '-threads',
          '2',
          '-reinit_filter:v',
          '0',
          ...inputGuards(plan.demuxer, plan.maxPixels, 'ffmpeg'),
        ],
      },
    ],
    graphs: [videoGraph(plan, chunk, pictures), audioGraph(plan)].filter((graph) => graph !== ''),
    outputs: [
      ...pictures.map((rendition, index) => videoOutput(plan, chunk, rendition, index, folder)),
      ...tracks.map((track, index) => audioOutput(plan, chunk, track, index, folder)),
    ],
  })
}

/** The largest picture is scaled from the source, each smaller one from the next larger; the last part hands each size to its encoders. */
function videoGraph(plan: EncodePlan, chunk: PlannedChunk, pictures: readonly PlannedRendition[]): string {
  if (!plan.video) return ''
  const { streamIndex, frameRate, holdSeconds, deinterlace, limitRange, toneMap } = plan.video
  const sizes = sizesOf(pictures)
  const [largest] = sizes
  if (!largest) return ''
  const before = [
    ...(deinterlace ? ['bwdif=mode=send_frame'] : []),
    `fps=fps=${frameRate.numerator}/${frameRate.denominator}:start_time=0`,
    `tpad=stop_mode=clone:stop_duration=${holdSeconds}`,
    `trim=end_frame=${chunk.frames}`,
  ]
  const after = [...(toneMap ? toneMapping : []), 'setsar=1', 'format=yuv420p']
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
    if (!video) return
    const name = `${video.width}x${video.height}`
    const size = sizes.get(name) ?? { width: video.width, height: video.height, encoders: [] }
    size.encoders.push(index)
    sizes.set(name, size)
  })
  return [...sizes.values()].sort((a, b) => b.width * b.height - a.width * a.height)
}

/** The AAC encoder puts 1,024 samples of silence in front, which segments cannot announce: as many are cut off, so that sound and picture meet. */
function audioGraph(plan: EncodePlan): string {
  if (!plan.audio) return ''
  const { streamIndex, channels, silenceSeconds, tracks } = plan.audio
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
  return `[0:${streamIndex}]${chain.join(',')},asplit=${tracks.length}${tracks.map((_, index) => `[a${index}]`).join('')}`
}

/**
 * Constant quality under a cap of one second's buffer. One thread for each encoder: with more, x264's rate control depends on which thread is
 * first, and two runs differ; the encoders themselves run side by side.
 */
function videoOutput(plan: EncodePlan, chunk: PlannedChunk, rendition: PlannedRendition, index: number, folder: string): FfmpegOutput {
  const { kbps = 0, profile = 'high' } = rendition.video ?? {}
  const group = plan.video?.groupFrames ?? 0
  const codec = [
    ['-c:v', 'libx264'],
    ['-preset', 'veryfast'],
    ['-profile:v', profile],
    ['-threads', '1'],
    ['-crf', '23'],
    ['-maxrate', `${kbps}k`],
    ['-bufsize', `${kbps}k`],
    ['-x264-params', `keyint=${group}:min-keyint=${group}:scenecut=0:open-gop=0:force-cfr=1`],
  ]
  return output(plan, chunk, `[v${index}]`, codec, `${folder}/${rendition.key}`)
}

function audioOutput(plan: EncodePlan, chunk: PlannedChunk, track: PlannedAudioTrack, index: number, folder: string): FfmpegOutput {
  const codec = [
    ['-c:a', 'aac'],
    ['-b:a', `${track.kbps}k`],
  ]
  return output(plan, chunk, `[a${index}]`, codec, `${folder}/${track.key}`)
}

/** CMAF's signed offsets let every rendition begin at exactly 0, with and without B frames; edit lists would be lost on many players. */
function output(plan: EncodePlan, chunk: PlannedChunk, label: string, codec: string[][], folder: string): FfmpegOutput {
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
    ['-hls_segment_options', 'movflags=+cmaf'],
    ['-hls_fmp4_init_filename', segmentNames.init],
    ['-hls_segment_filename', `${folder}/${segmentNames.pattern}`],
    ['-hls_flags', '+temp_file+independent_segments'],
    ['-start_number', String(chunk.firstSegment)],
  ]
  return { file: `${folder}/${segmentNames.list}`, options: options.flat() }
}
