import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { outputKeys } from './encode-chunk.ts'
import { segmentNames } from './encode-command.ts'
import { type ProbedFile, readProbedFile } from './ffprobe-json.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { toNumber } from './frame-rate.ts'
import { readSegmentList } from './hls-playlist.ts'
import { EncodeError } from './media-errors.ts'
import { outerBoxes } from './mp4-boxes.ts'
import { soundKey } from './package-renditions.ts'
import { ffprobeCodecNames } from './picture-codec.ts'
import type { EncodePlan, PlannedRendition } from './plan.ts'
import { ffprobeText } from './run-ffprobe.ts'
import type { RunLimits } from './sandbox.ts'
import { setFolder, setLayout } from './set-layout.ts'
import { planStoryboard } from './storyboard.ts'
import { type OutputFile, readOutput, withOutput } from './tool-output.ts'

export type SetFileKind = 'mp4' | 'hls_master' | 'hls_playlist' | 'hls_init' | 'hls_segment' | 'image' | 'storyboard' | 'preview' | 'sound'

/** One file of a finished set. */
export interface SetFile {
  /** Path below the folder of the set, with `/`. */
  path: string
  kind: SetFileKind
  /**
   * Key of the rendition, audio track, image or sprite; empty for the other files, which exist once
   * in a set.
   */
  key: string
  bytes: number
  /** Lower-case hex. */
  sha256: string
  /** Width in pixels, for files with a picture. */
  width?: number
  height?: number
  /** Average bit rate of the file in bit/s, for MP4 files, the audio-only file and segments. */
  bitrate?: number
  /** Duration of the same files. */
  durationSeconds?: number
}

export interface Verification {
  plan: EncodePlan
  scratch: string
  tools: FfmpegTools
  limits?: Partial<RunLimits> | undefined
  signal?: AbortSignal | undefined
}

/**
 * Checks every file of a set before it is published. Throws `EncodeError` of kind `incomplete` if a
 * file is not as planned.
 */
export async function verifySet(work: Verification): Promise<SetFile[]> {
  const set = join(work.scratch, setFolder)
  const files: SetFile[] = []
  for (const rendition of work.plan.renditions) files.push(await verifyMp4(work, rendition))
  for (const key of outputKeys(work.plan)) for (const file of await verifyHls(work.plan, set, key)) files.push(file)
  files.push(await describePath(set, { path: setLayout.master, kind: 'hls_master', key: '' }))
  if (soundKey(work.plan) !== undefined) files.push(await verifySound(work))
  for (const image of work.plan.images) files.push(await verifyImage(set, image.key))
  const storyboard = planStoryboard(work.plan)
  if (storyboard) {
    for (const key of storyboard.sprites) files.push(await verifyImage(set, key))
    files.push(await describePath(set, { path: setLayout.storyboard, kind: 'storyboard', key: '' }), await verifyPreview(set))
  }
  return files
}

/** Maximum difference in seconds between the actual and the planned duration. */
const MAX_DURATION_DIFFERENCE_SECONDS = 0.2

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
  const file = await withFile(join(work.scratch, setFolder), path, async (opened) => {
    const order = (await readBoxes(opened, path)).map((box) => box.type).filter((type) => type === 'moov' || type === 'mdat')
    if (order[0] !== 'moov' || !order.includes('mdat')) throw incomplete(path, 'its moov box is not at the start')
    return describe(opened, { path, kind, key })
  })
  const probed = await probeMp4(work, path)
  checkStreams(work.plan, tracks, probed, path)
  const durationSeconds = probed.durationSeconds ?? 0
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
  const expectedStreams = (rendition.video ? 1 : 0) + (rendition.audioKey === undefined ? 0 : 1)
  if (probed.streams.length !== expectedStreams)
    throw incomplete(path, `it has ${probed.streams.length} streams instead of ${expectedStreams}`)
  checkDuration(path, probed.durationSeconds, plan.durationSeconds)
  if (rendition.video && plan.video) {
    const { width, height, codec = 'h264' } = rendition.video
    if (picture?.codec !== ffprobeCodecNames[codec]) throw incomplete(path, `its picture is not ${codec}`)
    if (picture.width !== width || picture.height !== height) throw incomplete(path, `its picture is ${picture.width}x${picture.height}`)
    checkDuration(path, picture.durationSeconds, plan.video.frames / toNumber(plan.video.frameRate))
  }
  if (rendition.audioKey !== undefined) {
    if (sound?.codec !== 'aac' || sound.channels !== 2) throw incomplete(path, 'it has no stereo AAC sound')
    checkDuration(path, sound.durationSeconds, plan.durationSeconds)
  }
}

function checkDuration(path: string, actual: number | undefined, planned: number): void {
  if (actual === undefined || Math.abs(actual - planned) > MAX_DURATION_DIFFERENCE_SECONDS) {
    throw incomplete(path, `it is ${actual ?? 0} s long instead of ${planned.toFixed(3)} s`)
  }
}

async function verifyHls(plan: EncodePlan, set: string, key: string): Promise<SetFile[]> {
  const folder = `${setLayout.hlsFolder}/${key}`
  const playlist = await describePath(set, { path: setLayout.playlist(key), kind: 'hls_playlist', key })
  const init = await describePath(set, { path: `${folder}/${segmentNames.init}`, kind: 'hls_init', key })
  const size = plan.renditions.find((rendition) => rendition.key === key)?.video
  const files = [playlist, init]
  let durationSeconds = 0
  for (const { name, seconds } of readSegmentList(String(await withFile(set, playlist.path, readAll)))) {
    const path = `${folder}/${name}`
    const file = await withFile(set, path, async (opened) => {
      const boxes = await readBoxes(opened, path)
      if (!boxes.some((box) => box.type === 'moof') || !boxes.some((box) => box.type === 'mdat'))
        throw incomplete(path, 'it contains no media')
      return describe(opened, { path, kind: 'hls_segment', key })
    })
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
  return withFile(set, path, async (opened) => {
    const size = findJpegSize(await readAll(opened))
    if (!size) throw incomplete(path, 'it is not a complete JPEG')
    return { ...(await describe(opened, { path, kind: 'image', key })), ...size }
  })
}

async function verifyPreview(set: string): Promise<SetFile> {
  const path = setLayout.preview
  return withFile(set, path, async (opened) => {
    const bytes = await readAll(opened)
    const isComplete = bytes.length > 13 && bytes.toString('latin1', 0, 6) === 'GIF89a' && bytes.at(-1) === 0x3b
    if (!isComplete) throw incomplete(path, 'it is not a complete GIF')
    const file = await describe(opened, { path, kind: 'preview', key: '' })
    return { ...file, width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
  })
}

/**
 * Returns the size in the frame header of a complete baseline JPEG, or undefined for other and
 * truncated files.
 */
function findJpegSize(bytes: Buffer): { width: number; height: number } | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8 || bytes.readUInt16BE(bytes.length - 2) !== 0xffd9) return undefined
  let offset = 2
  while (offset + 9 <= bytes.length && bytes[offset] === 0xff) {
    if (bytes[offset + 1] === 0xc0) return { width: bytes.readUInt16BE(offset + 7), height: bytes.readUInt16BE(offset + 5) }
    offset += 2 + bytes.readUInt16BE(offset + 2)
  }
  return undefined
}

async function readBoxes({ handle }: OutputFile, path: string) {
  const boxes = await outerBoxes(handle)
  if (!boxes) throw incomplete(path, 'it is missing or truncated')
  return boxes
}

/**
 * Opens a file of the set and calls `use`. Segments have a second hard link in the folder of their
 * chunk.
 */
function withFile<T>(set: string, path: string, use: (file: OutputFile) => Promise<T>): Promise<T> {
  return withOutput(set, path, use, { mayBeLinked: true })
}

function describePath(set: string, file: Pick<SetFile, 'path' | 'kind' | 'key'>): Promise<SetFile> {
  return withFile(set, file.path, (opened) => describe(opened, file))
}

async function describe(opened: OutputFile, file: Pick<SetFile, 'path' | 'kind' | 'key'>): Promise<SetFile> {
  return { ...file, bytes: opened.bytes, sha256: await hashFile(opened) }
}

/** Reads a complete image or playlist. The runs that create images may write files of 64 MiB. */
function readAll(file: OutputFile): Promise<Buffer> {
  return readOutput(file, MAX_FILE_BYTES)
}

const MAX_FILE_BYTES = 64 * 2 ** 20
const CHUNK_BYTES = 2 ** 20

async function hashFile({ handle, bytes }: OutputFile): Promise<string> {
  const hash = createHash('sha256')
  const piece = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, bytes)))
  for (let offset = 0; ; ) {
    const { bytesRead } = await handle.read(piece, 0, piece.length, offset)
    if (bytesRead === 0) return hash.digest('hex')
    hash.update(piece.subarray(0, bytesRead))
    offset += bytesRead
  }
}

function incomplete(path: string, problem: string): EncodeError {
  return new EncodeError('incomplete', `${path}: ${problem}`)
}
