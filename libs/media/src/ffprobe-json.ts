/**
 * One stream from ffprobe with every field validated. A field that is missing or malformed is 0, empty or
 * false. A missing time is undefined.
 */
export interface ProbedStream {
  index: number
  type: string
  codec: string
  width: number
  height: number
  sampleAspectRatio: string
  pixelFormat: string
  bitsPerRawSample: number
  fieldOrder: string
  transfer: string
  matrix: string
  primaries: string
  range: string
  realFrameRate: string
  averageFrameRate: string
  /** Duration of a tick in seconds, such as `1/15360`. */
  timeBase: string
  startSeconds: number | undefined
  durationSeconds: number | undefined
  /** Number of frames according to the container. */
  frames: number
  channels: number
  /** Samples per second. */
  sampleRate: number
  profile: string
  isDefault: boolean
  /** A still, such as cover art, or a track of thumbnails. */
  isPicture: boolean
  /** In lower case. */
  language: string
  /** Title as in the file, not sanitised. */
  title: string
  /** Rotation in degrees counter-clockwise, as in the display matrix. */
  rotation: number
}

export interface ProbedFile {
  durationSeconds: number | undefined
  /** 0 if it is missing. */
  startSeconds: number
  /** Bits per second; 0 if it is missing. */
  bitrate: number
  streams: ProbedStream[]
}

/**
 * Parses the output of `ffprobe -of json -show_format -show_streams`. Returns undefined if it is
 * malformed.
 */
export function readProbedFile(text: string): ProbedFile | undefined {
  const root = toObject(parse(text))
  if (!root || !Array.isArray(root['streams'])) return undefined
  const format = toObject(root['format']) ?? {}
  return {
    durationSeconds: toSeconds(format['duration']),
    startSeconds: toSeconds(format['start_time']) ?? 0,
    bitrate: toNumber(format['bit_rate']),
    streams: root['streams'].map((stream: unknown) => toStream(toObject(stream) ?? {})),
  }
}

type Json = Record<string, unknown>

function toStream(stream: Json): ProbedStream {
  const disposition = toObject(stream['disposition']) ?? {}
  const tags = toObject(stream['tags']) ?? {}
  const sideData = Array.isArray(stream['side_data_list']) ? stream['side_data_list'] : []
  const sideDataRotation = sideData.map((data: unknown) => toObject(data)?.['rotation']).find((rotation) => rotation !== undefined)
  return {
    index: toNumber(stream['index']),
    type: toText(stream['codec_type']),
    codec: toText(stream['codec_name']),
    width: toNumber(stream['width']),
    height: toNumber(stream['height']),
    sampleAspectRatio: toText(stream['sample_aspect_ratio']),
    pixelFormat: toText(stream['pix_fmt']),
    bitsPerRawSample: toNumber(stream['bits_per_raw_sample']),
    fieldOrder: toText(stream['field_order']),
    transfer: toText(stream['color_transfer']),
    matrix: toText(stream['color_space']),
    primaries: toText(stream['color_primaries']),
    range: toText(stream['color_range']),
    realFrameRate: toText(stream['r_frame_rate']),
    averageFrameRate: toText(stream['avg_frame_rate']),
    timeBase: toText(stream['time_base']),
    startSeconds: toSeconds(stream['start_time']),
    durationSeconds: toSeconds(stream['duration']),
    frames: toNumber(stream['nb_frames']),
    channels: toNumber(stream['channels']),
    sampleRate: toNumber(stream['sample_rate']),
    profile: toText(stream['profile']),
    isDefault: toNumber(disposition['default']) === 1,
    isPicture: toNumber(disposition['attached_pic']) === 1 || toNumber(disposition['timed_thumbnails']) === 1,
    language: toText(tags['language']).toLowerCase(),
    title: toText(tags['title']),
    rotation: sideDataRotation === undefined ? -toNumber(tags['rotate']) : toNumber(sideDataRotation),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function toObject(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function toNumber(value: unknown): number {
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : 0
  return Number.isFinite(number) ? number : 0
}

function toSeconds(value: unknown): number | undefined {
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN
  return Number.isFinite(number) ? number : undefined
}
