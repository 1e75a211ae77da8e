import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ffmpegArguments } from './ffmpeg-arguments.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { lockedRun } from './locked-run.ts'
import { EncodeFailed } from './media-errors.ts'
import { progressLines } from './progress.ts'
import type { RunLimits } from './sandbox.ts'
import { plainFileBytes } from './scratch.ts'

/** Pixels of one picture, and the JPEGs that are to be made of them; names are made by the server, relative to the scratch folder. */
export interface SlidePicture {
  /** Rows of RGBA, 8 bits each, without anything around them. */
  raw: string
  width: number
  height: number
  image: string
  thumbnail: string
}

export interface SlideImages {
  pictures: readonly SlidePicture[]
  /** The longest side of a thumbnail, in pixels. */
  thumbnailSide: number
  scratch: string
  tools: FfmpegTools
  limits?: Partial<RunLimits> | undefined
  signal?: AbortSignal | undefined
}

/** Of one JPEG: far above what 1920 pixels squared can come to. */
const IMAGE_BYTES = 32 * 2 ** 20

/** Turns pixels into JPEGs, a large and a small one each, in one run of ffmpeg; every one of them is there and whole afterwards. */
export async function makeSlideImages({ pictures, thumbnailSide, scratch, tools, limits, signal }: SlideImages): Promise<void> {
  await lockedRun({
    tool: tools.ffmpeg,
    args: ffmpegArguments({
      inputs: pictures.map(({ raw, width, height }) => ({ file: raw, options: rawOptions(width, height) })),
      graphs: pictures.map((picture, index) => graph(picture, index, thumbnailSide)),
      outputs: pictures.flatMap(({ image, thumbnail }, index) => [output(image, `[i${index}]`), output(thumbnail, `[t${index}]`)]),
    }),
    scratch,
    limits: { cpuSeconds: 600, wallSeconds: 600, fileBytes: IMAGE_BYTES, ...limits },
    onLine: progressLines(() => {}),
    signal,
  })
  for (const { image, thumbnail } of pictures) for (const file of [image, thumbnail]) await checkJpeg(scratch, file)
}

function rawOptions(width: number, height: number): string[] {
  const size = ['-video_size', `${width}x${height}`]
  return ['-f', 'rawvideo', '-pixel_format', 'rgba', ...size, '-framerate', '1', '-protocol_whitelist', 'file']
}

/** Letters keep their colour at full sharpness in the large picture; in a small one nobody sees it. */
function graph({ width, height }: SlidePicture, index: number, thumbnailSide: number): string {
  const share = Math.min(1, thumbnailSide / Math.max(width, height))
  const [small, low] = [width, height].map((side) => Math.max(1, Math.round(side * share)))
  const full = 'flags=accurate_rnd+bitexact:out_range=pc'
  return [
    `[${index}:v:0]split=2[a${index}][b${index}]`,
    `[a${index}]scale=${width}:${height}:${full},format=yuvj444p[i${index}]`,
    `[b${index}]scale=${small}:${low}:flags=area+accurate_rnd+bitexact:out_range=pc,format=yuvj420p[t${index}]`,
  ].join(';')
}

function output(file: string, label: string) {
  const options = [
    ['-map', label],
    ['-c:v', 'mjpeg'],
    ['-threads', '1'],
    ['-q:v', '3'],
    ['-frames:v', '1'],
    ['-flags', '+bitexact'],
    ['-f', 'image2'],
    ['-update', '1'],
  ]
  return { file, options: options.flat() }
}

/** A plain file that begins and ends as a JPEG does. */
async function checkJpeg(scratch: string, file: string): Promise<void> {
  const bytes = await plainFileBytes(scratch, file)
  if (bytes < 4) throw new EncodeFailed('incomplete', `${file} was not made`)
  const opened = await open(join(scratch, file))
  try {
    const ends = Buffer.alloc(4)
    await opened.read(ends, 0, 2, 0)
    await opened.read(ends, 2, 2, bytes - 2)
    if (ends.toString('hex') !== 'ffd8ffd9') throw new EncodeFailed('incomplete', `${file} is cut off`)
  } finally {
    await opened.close()
  }
}
