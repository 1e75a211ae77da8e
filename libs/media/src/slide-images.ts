import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ffmpegArguments } from './ffmpeg-arguments.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { checkJpeg } from './jpeg-file.ts'
import { progressLines } from './progress.ts'
import type { RunLimits } from './sandbox.ts'
import { runSandboxed } from './sandboxed-process.ts'
import { outputFile, outputFolder } from './set-layout.ts'
import { linkOutput, openOutputFolder, useOutput } from './tool-output.ts'

/** Raw pixels of one picture and the names of its JPEGs. Names are server-generated. */
export interface SlidePicture {
  /**
   * File with rows of RGBA pixels, 8 bits per channel, without padding or header. The path is relative to the scratch
   * folder.
   */
  raw: string
  /** Width and height in pixels. */
  width: number
  height: number
  /** Names of the JPEGs in the target folder. */
  image: string
  thumbnail: string
}

export interface SlideImages {
  pictures: readonly SlidePicture[]
  /** Length of the longer side of a thumbnail in pixels. */
  thumbnailSide: number
  /** Folder of `raw`. ffmpeg writes to a subfolder of it. */
  scratch: string
  /** Folder for the complete JPEGs. No tool can write to it. */
  target: string
  tools: FfmpegTools
  /** Default: 600 s of processor time, 600 s of elapsed time and 32 MiB per file; else the defaults of `runSandboxed`. */
  limits?: Partial<RunLimits> | undefined
  signal?: AbortSignal | undefined
}

/** Maximum size of one JPEG. A JPEG of 1920 x 1920 pixels is far smaller. */
const MAX_IMAGE_BYTES = 32 * 2 ** 20
/** Maximum time of one run, which converts a batch of pictures. */
const MAX_SECONDS = 600

/**
 * Converts raw pixels to JPEGs in one run of ffmpeg. Each picture gets a JPEG of its own size and a
 * thumbnail. Throws `incomplete` unless all files exist and are complete.
 */
export async function makeSlideImages({ pictures, thumbnailSide, scratch, target, tools, limits, signal }: SlideImages): Promise<void> {
  await rm(join(scratch, outputFolder), { recursive: true, force: true })
  await runSandboxed({
    tool: tools.ffmpeg,
    args: ffmpegArguments({
      inputs: pictures.map(({ raw, width, height }) => ({ file: raw, options: rawOptions(width, height) })),
      graphs: pictures.map((picture, index) => graph(picture, index, thumbnailSide)),
      outputs: pictures.flatMap(({ image, thumbnail }, index) => [
        output(outputFile(image), `[i${index}]`),
        output(outputFile(thumbnail), `[t${index}]`),
      ]),
    }),
    scratch,
    writes: [outputFolder],
    limits: { cpuSeconds: MAX_SECONDS, wallSeconds: MAX_SECONDS, fileBytes: MAX_IMAGE_BYTES, ...limits },
    onLine: progressLines(() => {}),
    signal,
  })
  const folder = await openOutputFolder(scratch, outputFolder)
  try {
    for (const name of pictures.flatMap(({ image, thumbnail }) => [image, thumbnail])) {
      await useOutput(folder, name, async (file) => {
        await checkJpeg(name, file)
        await linkOutput(file, join(target, name))
      })
    }
  } finally {
    await folder.close()
  }
}

function rawOptions(width: number, height: number): string[] {
  const size = ['-video_size', `${width}x${height}`]
  return ['-f', 'rawvideo', '-pixel_format', 'rgba', ...size, '-framerate', '1', '-protocol_whitelist', 'file']
}

/**
 * Returns the filter graph of one picture. The image has full colour resolution (4:4:4), because
 * subsampled colour (4:2:0) blurs coloured text. This is not visible in a thumbnail.
 */
function graph({ width, height }: SlidePicture, index: number, thumbnailSide: number): string {
  const share = Math.min(1, thumbnailSide / Math.max(width, height))
  const [thumbnailWidth, thumbnailHeight] = [width, height].map((side) => Math.max(1, Math.round(side * share)))
  const full = 'flags=accurate_rnd+bitexact:out_range=pc'
  return [
    `[${index}:v:0]split=2[a${index}][b${index}]`,
    `[a${index}]scale=${width}:${height}:${full},format=yuvj444p[i${index}]`,
    `[b${index}]scale=${thumbnailWidth}:${thumbnailHeight}:flags=area+accurate_rnd+bitexact:out_range=pc,format=yuvj420p[t${index}]`,
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
