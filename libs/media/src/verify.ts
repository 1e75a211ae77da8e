import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { outputKeys } from './encode-chunk.ts'
import { segmentNames } from './encode-command.ts'
import { type ProbedFile, readProbedFile } from './ffprobe-json.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { toNumber } from './frame-rate.ts'
import { readSegmentList } from './hls-playlist.ts'
import { EncodeFailed } from './media-errors.ts'
import { outerBoxes } from './mp4-boxes.ts'
import { soundKey } from './package-renditions.ts'
import { probedPictures } from './picture-codec.ts'
import type { EncodePlan, PlannedRendition } from './plan.ts'
import { ffprobeText } from './run-ffprobe.ts'
import type { RunLimits } from './sandbox.ts'
import { plainFileBytes } from './scratch.ts'
import { setFolder, setLayout } from './set-layout.ts'
import { planStoryboard } from './storyboard.ts'

export type SetFileKind = 'mp4' | 'hls_master' | 'hls_playlist' | 'hls_init' | 'hls_segment' | 'image' | 'storyboard' | 'preview' | 'sound'

/** One file of a finished set. */
export interface SetFile {
  /** Relative to the folder of the set, with `/`. */
  path: string
  kind: SetFileKind
  /** Of the rendition, audio track or image; empty for the master playlist. */
  key: string
  bytes: number
  /** Lower-case hex. */
  sha256: string
  /** Pixels; of files with a picture. */
  width?: number
  height?: number
  /** Bits a second, of the whole file on average; of MP4 files and segments. */
  bitrate?: number
  durationSeconds?: number
}

export interface Verification {
  plan: EncodePlan
  scratch: string
  tools: FfmpegTools
  limits?: Partial<RunLimits> | undefined
  signal?: AbortSignal | undefined
}

/** Looks at every file of a set before anyone may see it. Throws `EncodeFailed` of kind `incomplete` for what is not as planned. */
export async function verifySet(work: Verification): Promise<SetFile[]> {
  const set = join(work.scratch, setFolder)
  const files: SetFile[] = []
  for (const rendition of work.plan.renditions) files.push(await verifyMp4(work, rendition))
  for (const key of outputKeys(work.plan)) files.push(...(await verifyHls(work.plan, set, key)))
  files.push(await describe(set, { path: setLayout.master, kind: 'hls_master', key: '' }))
  if (soundKey(work.plan) !== undefined) files.push(await verifySound(work))
  for (const image of work.plan.images) files.push(await verifyImage(set, image.key))
  const storyboard = planStoryboard(work.plan)
  if (storyboard) {
    for (const key of storyboard.sprites) files.push(await verifyImage(set, key))
    files.push(await describe(set, { path: setLayout.storyboard, kind: 'storyboard', key: '' }), await verifyPreview(set))
  }
  return files
}

/** Seconds by which a file may be longer or shorter than planned. */
const tolerance = 0.2

async function verifyMp4(work: Verification, rendition: PlannedRendition): Promise<SetFile> {
  const { video } = rendition
  const file = await verifyMovie(work, { path: setLayout.mp4(rendition.key), kind: 'mp4', key: rendition.key }, rendition)
  return { ...file, ...(video ? { width: video.width, height: video.height } : {}) }
}

function verifySound(work: Verification): Promise<SetFile> {
  return verifyMovie(work, { path: setLayout.sound, kind: 'sound', key: '' }, { audioKey: soundKey(work.plan) })
}

async function verifyMovie(
  work: Verification,
  { path, kind, key }: Pick<SetFile, 'path' | 'kind' | 'key'>,
  tracks: PlannedTracks,
): Promise<SetFile> {
  const boxes = await boxesOf(join(work.scratch, setFolder, path), path)
  const order = boxes.map((box) => box.type).filter((type) => type === 'moov' || type === 'mdat')
  if (order[0] !== 'moov' || !order.includes('mdat')) throw incomplete(path, 'its moov is not in front')
  const probed = await probeMp4(work, path)
  checkStreams(work.plan, tracks, probed, path)
  const durationSeconds = probed.durationSeconds ?? 0
  const file = await describe(join(work.scratch, setFolder), { path, kind, key })
  return { ...file, bitrate: Math.round((file.bytes * 8) / durationSeconds), durationSeconds }
}

async function probeMp4({ tools, scratch, limits, signal }: Verification, path: string): Promise<ProbedFile> {
  const guards = ['-f', 'mov', '-format_whitelist', 'mov', '-protocol_whitelist', 'file']
  const args = [...guards, '-of', 'json', '-show_format', '-show_streams', `file:${setFolder}/${path}`]
  const { text } = await ffprobeText({ tools, scratch, args, limits, signal })
  const probed = readProbedFile(text)
  if (!probed) throw incomplete(path, 'it cannot be read')
  return probed
}

interface PlannedTracks {
  video?: PlannedRendition['video']
  audioKey?: string | undefined
}

function checkStreams(plan: EncodePlan, rendition: PlannedTracks, probed: ProbedFile, path: string): void {
  const picture = probed.streams.find((stream) => stream.type === 'video')
  const sound = probed.streams.find((stream) => stream.type === 'audio')
  const wanted = (rendition.video ? 1 : 0) + (rendition.audioKey === undefined ? 0 : 1)
  if (probed.streams.length !== wanted) throw incomplete(path, `it has ${probed.streams.length} streams instead of ${wanted}`)
  checkDuration(path, probed.durationSeconds, plan.durationSeconds)
  if (rendition.video && plan.video) {
    const { width, height, codec = 'h264' } = rendition.video
    if (picture?.codec !== probedPictures[codec]) throw incomplete(path, `its picture is no ${codec}`)
    if (picture.width !== width || picture.height !== height) throw incomplete(path, `its picture is ${picture.width}x${picture.height}`)
    checkDuration(path, picture.durationSeconds, plan.video.frames / toNumber(plan.video.frameRate))
  }
  if (rendition.audioKey !== undefined) {
    if (sound?.codec !== 'aac' || sound.channels !== 2) throw incomplete(path, 'it has no stereo AAC sound')
    checkDuration(path, sound.durationSeconds, plan.durationSeconds)
  }
}

function checkDuration(path: string, found: number | undefined, planned: number): void {
  if (found === undefined || Math.abs(found - planned) > tolerance) {
    throw incomplete(path, `it is ${found ?? 0} s long instead of ${planned.toFixed(3)} s`)
  }
}

async function verifyHls(plan: EncodePlan, set: string, key: string): Promise<SetFile[]> {
  const folder = `${setLayout.hlsFolder}/${key}`
  const playlist = await describe(set, { path: setLayout.playlist(key), kind: 'hls_playlist', key })
  const init = await describe(set, { path: `${folder}/${segmentNames.init}`, kind: 'hls_init', key })
  const size = plan.renditions.find((rendition) => rendition.key === key)?.video
  const files = [playlist, init]
  let durationSeconds = 0
  for (const { name, seconds } of readSegmentList(await readFile(join(set, playlist.path), 'utf8'))) {
    const path = `${folder}/${name}`
    const boxes = await boxesOf(join(set, path), path)
    if (!boxes.some((box) => box.type === 'moof') || !boxes.some((box) => box.type === 'mdat')) throw incomplete(path, 'it holds no media')
    const file = await describe(set, { path, kind: 'hls_segment', key })
    durationSeconds += seconds
    files.push({
      ...file,
      ...(size ? { width: size.width, height: size.height } : {}),
      bitrate: Math.round((file.bytes * 8) / Math.max(seconds, 0.001)),
      durationSeconds: seconds,
    })
  }
  checkDuration(playlist.path, durationSeconds, plan.durationSeconds)
  return files
}

async function verifyImage(set: string, key: string): Promise<SetFile> {
  const path = setLayout.image(key)
  const file = await describe(set, { path, kind: 'image', key })
  const size = jpegSize(await readFile(join(set, path)))
  if (!size) throw incomplete(path, 'it is not a whole JPEG')
  return { ...file, ...size }
}

async function verifyPreview(set: string): Promise<SetFile> {
  const path = setLayout.preview
  const file = await describe(set, { path, kind: 'preview', key: '' })
  const bytes = await readFile(join(set, path))
  const isWhole = bytes.length > 13 && bytes.toString('latin1', 0, 6) === 'GIF89a' && bytes.at(-1) === 0x3b
  if (!isWhole) throw incomplete(path, 'it is not a whole GIF')
  return { ...file, width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
}

/** The size in the frame header of a baseline JPEG that has its end mark. */
function jpegSize(bytes: Buffer): { width: number; height: number } | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8 || bytes.readUInt16BE(bytes.length - 2) !== 0xffd9) return undefined
  let place = 2
  while (place + 9 <= bytes.length && bytes[place] === 0xff) {
    if (bytes[place + 1] === 0xc0) return { width: bytes.readUInt16BE(place + 7), height: bytes.readUInt16BE(place + 5) }
    place += 2 + bytes.readUInt16BE(place + 2)
  }
  return undefined
}

async function boxesOf(file: string, path: string) {
  const boxes = await outerBoxes(file).catch(() => undefined)
  if (!boxes) throw incomplete(path, 'it is missing or cut short')
  return boxes
}

async function describe(set: string, file: Pick<SetFile, 'path' | 'kind' | 'key'>): Promise<SetFile> {
  const size = await plainFileBytes(set, file.path)
  if (size === 0) throw incomplete(file.path, 'it is missing or empty')
  return { ...file, bytes: size, sha256: await sha256Of(join(set, file.path), size) }
}

/** A stream costs more than it hashes where a file is as small as most are. */
async function sha256Of(file: string, size: number): Promise<string> {
  if (size <= WHOLE_BYTES)
    return createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash)
  return hash.digest('hex')
}

const WHOLE_BYTES = 4 << 20

function incomplete(path: string, what: string): EncodeFailed {
  return new EncodeFailed('incomplete', `${path}: ${what}`)
}
