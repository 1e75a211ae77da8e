import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { inputGuards } from './codecs.ts'
import { ffmpegArguments } from './ffmpeg-arguments.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { checkJpeg, readJpegSize } from './jpeg-file.ts'
import { InvalidSource, isEncodeError } from './media-errors.ts'
import { type PictureFormat, readOrientation, sniffPicture } from './picture-file.ts'
import { progressLines } from './progress.ts'
import { type RunLimits, sandboxFor } from './sandbox.ts'
import { runSandboxed } from './sandboxed-process.ts'
import { linkSource, sourceName } from './scratch.ts'
import { outputFile, outputFolder } from './set-layout.ts'
import { sniffContainer } from './sniff.ts'
import { linkOutput, openOutputFolder, readOutput, useOutput } from './tool-output.ts'

export interface PosterImages {
  /**
   * A local file: a picture, or a video if `atSeconds` is set. Its name is never passed to a tool.
   */
  source: string
  /** Position of the frame in a video. */
  atSeconds?: number | undefined
  scratch: string
  /** Folder for the JPEGs. No tool writes to it. */
  target: string
  tools: FfmpegTools
  limits?: Partial<RunLimits> | undefined
  signal?: AbortSignal | undefined
}

/** Limits of a picture that a user sets. */
export const posterLimits = { bytes: 10 * 2 ** 20, pixels: 50_000_000 }

/** Sizes of the created images in pixels. */
export type PosterImageSizes = Record<'poster' | 'thumbnail', { width: number; height: number }>

/**
 * Images that are created. Every set has images of the same names. `shortSide` is the maximum
 * shorter side in pixels.
 */
const IMAGES = [
  { key: 'poster', name: 'poster.jpg', shortSide: 720 },
  { key: 'thumbnail', name: 'thumbnail.jpg', shortSide: 240 },
] as const

export const posterImageNames = { poster: IMAGES[0].name, thumbnail: IMAGES[1].name }

/** Maximum size of one JPEG. A JPEG of 2880 x 720 pixels is far smaller. */
const MAX_IMAGE_BYTES = 16 * 2 ** 20

/**
 * Converts a picture, or a frame of a video, to the poster and the thumbnail of a video. Both are
 * JPEGs without metadata. The orientation is applied, and transparent parts become white. Throws
 * `InvalidSource` with 4002 if it cannot be decoded completely, and 4003 if it is too large.
 */
export async function makePosterImages({
  source,
  atSeconds,
  scratch,
  target,
  tools,
  limits,
  signal,
}: PosterImages): Promise<PosterImageSizes> {
  const input = atSeconds === undefined ? await pictureInput(source) : await frameInput(source, atSeconds)
  await linkSource(source, scratch, await sandboxFor(tools.ffmpeg))
  await rm(join(scratch, outputFolder), { recursive: true, force: true })
  const args = ffmpegArguments({
    inputs: [{ file: sourceName, options: input.options }],
    graphs: [graph(input.orientationFilters)],
    outputs: IMAGES.map(({ name }, index) => ({ file: outputFile(name), options: outputOptions(`[i${index}]`) })),
  })
  try {
    await runSandboxed({
      tool: tools.ffmpeg,
      args,
      scratch,
      writes: [outputFolder],
      limits: { cpuSeconds: 120, wallSeconds: 120, memoryBytes: 2 ** 30, fileBytes: MAX_IMAGE_BYTES, ...limits },
      onLine: progressLines(() => {}),
      signal,
    })
    return await linkImages(scratch, target)
  } catch (error) {
    throw toFault(error, atSeconds)
  }
}

interface DecodedInput {
  /** Options before `-i`. */
  options: string[]
  /** Filters that apply the orientation; empty for none. */
  orientationFilters: string
}

async function pictureInput(source: string): Promise<DecodedInput> {
  const { size } = await stat(source)
  if (size > posterLimits.bytes) throw new InvalidSource(4003, `the picture has more than ${posterLimits.bytes / 2 ** 20} MiB`)
  const bytes = await readStart(source, size)
  const format = sniffPicture(bytes)
  if (format === undefined) throw new InvalidSource(4002, 'this is not a JPEG, PNG or WebP picture')
  const demuxer = DEMUXERS[format]
  const options = [
    ['-xerror'],
    ['-err_detect', 'explode+crccheck+bitstream+buffer'],
    ['-noautorotate'],
    ['-f', demuxer],
    ['-format_whitelist', demuxer],
    ['-protocol_whitelist', 'file'],
    ['-codec_whitelist', 'mjpeg,png,webp'],
    ['-max_pixels', String(posterLimits.pixels)],
    ['-threads', '1'],
  ]
  return { options: options.flat(), orientationFilters: ORIENTATION_FILTERS[readOrientation(bytes, format) - 1] ?? '' }
}

const DEMUXERS: Readonly<Record<PictureFormat, string>> = { jpeg: 'jpeg_pipe', png: 'png_pipe', webp: 'webp_pipe' }

/** Filters of the orientations 1 to 8. */
const ORIENTATION_FILTERS = [
  '',
  'hflip',
  'hflip,vflip',
  'vflip',
  'transpose=cclock_flip',
  'transpose=clock',
  'transpose=clock_flip',
  'transpose=cclock',
]

async function frameInput(source: string, atSeconds: number): Promise<DecodedInput> {
  const { demuxer } = await sniffContainer(source)
  return {
    options: ['-ss', String(atSeconds), ...inputGuards(demuxer, posterLimits.pixels, 'ffmpeg'), '-threads', '1'],
    orientationFilters: '',
  }
}

async function readStart(path: string, bytes: number): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/**
 * Returns the graph. The picture is reduced first, so that later filters need little memory. The
 * sizes do not depend on the order of reduction and orientation.
 */
function graph(orientationFilters: string): string {
  const [poster, thumbnail] = IMAGES
  return [
    `[0:v:0]${scale(poster.shortSide)},format=rgba${orientationFilters === '' ? '' : `,${orientationFilters}`},split=2[picture][copy]`,
    // `drawbox` with `replace` crashes ffmpeg 5.1.
    '[copy]lutrgb=r=255:g=255:b=255:a=255[white]',
    '[white][picture]overlay=format=auto,sidedata=mode=delete,split=2[large][small]',
    `[large]format=yuvj420p[i0]`,
    `[small]${scale(thumbnail.shortSide)},format=yuvj420p[i1]`,
  ].join(';')
}

/**
 * Returns a filter with the rule of `sizeFor`: even sides, the same aspect ratio, never larger than
 * the picture.
 */
function scale(shortSide: number): string {
  const share = `min(1\\,min(${shortSide}/min(iw\\,ih)\\,${shortSide * 4}/max(iw\\,ih)))`
  const side = (length: string) => `max(2\\,2*floor(${length}*${share}/2+0.25))`
  return `scale=w=${side('iw')}:h=${side('ih')}:flags=bicubic+accurate_rnd+bitexact:out_range=pc`
}

function outputOptions(label: string): string[] {
  const options = [
    ['-map', label],
    ['-map_metadata', '-1'],
    ['-c:v', 'mjpeg'],
    ['-threads', '1'],
    ['-q:v', '3'],
    ['-frames:v', '1'],
    ['-flags', '+bitexact'],
    ['-f', 'image2'],
    ['-update', '1'],
  ]
  return options.flat()
}

async function linkImages(scratch: string, target: string): Promise<PosterImageSizes> {
  const sizes: Partial<PosterImageSizes> = {}
  const folder = await openOutputFolder(scratch, outputFolder)
  try {
    for (const { key, name } of IMAGES) {
      sizes[key] = await useOutput(folder, name, async (file) => {
        await checkJpeg(name, file)
        await linkOutput(file, join(target, name))
        return readJpegSize(name, await readOutput(file, MAX_IMAGE_BYTES))
      })
    }
    // The loop has set both.
    return sizes as PosterImageSizes
  } finally {
    await folder.close()
  }
}

/**
 * Converts the failure of a run to the fault of the picture, unless a signal, a limit or the caller
 * ended it.
 */
function toFault(error: unknown, atSeconds: number | undefined): unknown {
  if (!isEncodeError(error)) return error
  if (TOO_MANY_PIXELS.test(error.detail))
    return new InvalidSource(4003, `the picture has more than ${posterLimits.pixels / 1_000_000} million pixels`, error)
  // ffmpeg ends successfully without a file if there is no frame.
  if (atSeconds !== undefined)
    return error.kind === 'incomplete' ? new InvalidSource(4002, 'the video has no frame at this time', error) : error
  const isOfPicture = error.kind === 'incomplete' || (error.kind === 'crashed' && error.message.startsWith('exit code'))
  return isOfPicture ? new InvalidSource(4002, 'the picture is damaged or has a form that cannot be decoded', error) : error
}

const TOO_MANY_PIXELS = /exceeds specified max pixel count|Picture size \d+x\d+ is invalid/
