import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { segmentNames } from './encode-command.ts'
import type { FfmpegInput, FfmpegOutput } from './ffmpeg-arguments.ts'
import { toNumber } from './frame-rate.ts'
import type { Segment } from './hls-playlist.ts'
import { type FrameSize, sizeFor } from './ladder.ts'
import { EncodeFailed } from './media-errors.ts'
import type { EncodePlan, PlannedRendition } from './plan.ts'
import { makeFolderFor, type Sandbox } from './sandbox.ts'
import { setFolder, setLayout } from './set-layout.ts'

/** A part of one command that makes the images. */
export interface ImageWork {
  inputs: FfmpegInput[]
  graphs: string[]
  outputs: FfmpegOutput[]
}

const workFolder = 'image-frames'

/**
 * The images come out of the largest rendition: a single segment is decoded for each moment, at most 4 s of it, however far apart the key
 * frames of the source are. (Sparse outputs of the big encode itself would make ffmpeg hold back hundreds of frames of all others.)
 */
export async function imagesFromRendition(
  plan: EncodePlan,
  rendition: PlannedRendition,
  segments: readonly Segment[],
  scratch: string,
  sandbox: Sandbox,
  firstInput: number,
): Promise<ImageWork> {
  const { video } = plan
  const size = rendition.video
  if (!video || !size) throw new RangeError('there is no picture to take images from')
  await makeFolderFor(sandbox, join(scratch, workFolder))
  const work: ImageWork = { inputs: [], graphs: [], outputs: [] }
  for (const [moment, atSeconds] of [...new Set(plan.images.map((image) => image.atSeconds))].entries()) {
    const frame = Math.min(video.frames - 1, Math.floor(atSeconds * toNumber(video.frameRate)))
    const segmentFrames = video.groupFrames * 2
    const segment = segments[Math.floor(frame / segmentFrames)]
    if (!segment) throw new EncodeFailed('incomplete', `${rendition.key} ends before ${atSeconds} s`)
    const file = `${workFolder}/${moment}.mp4`
    await joinSegment(join(scratch, setFolder, setLayout.hlsFolder, rendition.key), segment.name, join(scratch, file))
    work.inputs.push({ file, options: ['-threads', '1', '-f', 'mov', '-format_whitelist', 'mov', '-protocol_whitelist', 'file'] })
    const images = plan.images.filter((image) => image.atSeconds === atSeconds)
    work.graphs.push(imageGraph(firstInput + moment, moment, frame % segmentFrames, images, size))
    work.outputs.push(...images.map((image, index) => imageOutput(image.key, `[i${moment}_${index}]`)))
  }
  return work
}

async function joinSegment(folder: string, segment: string, file: string): Promise<void> {
  const [init, media] = await Promise.all([readFile(join(folder, segmentNames.init)), readFile(join(folder, segment))])
  await writeFile(file, Buffer.concat([init, media]), { mode: 0o644 })
}

function imageGraph(input: number, moment: number, frame: number, images: EncodePlan['images'], size: FrameSize): string {
  const label = (index: number) => `${moment}_${index}`
  const parts = images.map((_, index) => `[f${label(index)}]`).join('')
  const scales = images.map(({ shortSide }, index) => `[f${label(index)}]${toJpegSize(sizeFor({ shortSide }, size))}[i${label(index)}]`)
  return [`[${input}:v:0]select=eq(n\\,${frame}),split=${images.length}${parts}`, ...scales].join(';')
}

function toJpegSize({ width, height }: FrameSize): string {
  return `scale=${width}:${height}:flags=bicubic+accurate_rnd+bitexact:out_range=pc,format=yuvj420p`
}

function imageOutput(key: string, label: string): FfmpegOutput {
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
  return { file: `${setFolder}/${setLayout.image(key)}`, options: options.flat() }
}

const plainSize = { width: 1280, height: 720 }

/** Sound alone has no picture: a plain one, darker towards the bottom. */
export async function plainImages(plan: EncodePlan, scratch: string, sandbox: Sandbox, firstInput: number): Promise<ImageWork> {
  await makeFolderFor(sandbox, join(scratch, workFolder))
  const file = `${workFolder}/plain.gray`
  const { width, height } = plainSize
  const picture = Buffer.alloc(width * height)
  for (let row = 0; row < height; row++) picture.fill(64 - Math.floor((row * 32) / height), row * width, (row + 1) * width)
  await writeFile(join(scratch, file), picture, { mode: 0o644 })
  const options = [
    '-f',
    'rawvideo',
    '-pixel_format',
    'gray',
    '-video_size',
    `${width}x${height}`,
    '-framerate',
    '1',
    '-protocol_whitelist',
    'file',
  ]
  return {
    inputs: [{ file, options }],
    graphs: [imageGraph(firstInput, 0, 0, plan.images, plainSize)],
    outputs: plan.images.map((image, index) => imageOutput(image.key, `[i0_${index}]`)),
  }
}
