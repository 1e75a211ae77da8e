import { toNumber } from './frame-rate.ts'
import type { Segment } from './hls-playlist.ts'
import { type FrameSize, sizeFor } from './ladder.ts'
import { EncodeFailed } from './media-errors.ts'
import type { EncodePlan, PlannedRendition } from './plan.ts'
import { type ImageWork, joinSegments, jpegOutput, segmentInput, toJpegSize } from './segment-file.ts'

export interface PictureSource {
  plan: EncodePlan
  rendition: PlannedRendition
  segments: readonly Segment[]
  scratch: string
  /** The number of the frame that poster and thumbnail show. */
  bestFrame: number
}

/**
 * The images come out of the largest rendition: a single segment is decoded for each moment, at most 4 s of it, however far apart the key
 * frames of the source are. (Sparse outputs of the big encode itself would make ffmpeg hold back hundreds of frames of all others.)
 */
export async function imagesFromRendition(source: PictureSource, firstInput: number): Promise<ImageWork> {
  const { plan, rendition, segments, scratch } = source
  const { video } = plan
  const size = rendition.video
  if (!video || !size) throw new RangeError('there is no picture to take images from')
  const work: ImageWork = { inputs: [], graphs: [], outputs: [] }
  const shown = plan.images.map((image) => ({ ...image, frame: frameOf(image, source) }))
  for (const [moment, frame] of [...new Set(shown.map((image) => image.frame))].entries()) {
    const segmentFrames = video.groupFrames * 2
    const segment = segments[Math.floor(frame / segmentFrames)]
    if (!segment) throw new EncodeFailed('incomplete', `${rendition.key} ends before frame ${frame}`)
    work.inputs.push(segmentInput(await joinSegments(scratch, rendition.key, [segment], String(moment))))
    const images = shown.filter((image) => image.frame === frame)
    work.graphs.push(imageGraph(firstInput + moment, moment, frame % segmentFrames, images, size))
    work.outputs.push(...images.map((image, index) => jpegOutput(image.key, `[i${moment}_${index}]`)))
  }
  return work
}

function frameOf({ key, atSeconds }: EncodePlan['images'][number], { plan: { video }, bestFrame }: PictureSource): number {
  if (!video) return 0
  return Math.min(video.frames - 1, key === 'poster' || key === 'thumbnail' ? bestFrame : Math.floor(atSeconds * toNumber(video.frameRate)))
}

/** One decoded frame of an input, scaled to each of the images: `[i{moment}_{index}]`. */
export function imageGraph(input: number, moment: number, frame: number, images: EncodePlan['images'], size: FrameSize): string {
  const label = (index: number) => `${moment}_${index}`
  const parts = images.map((_, index) => `[f${label(index)}]`).join('')
  const scales = images.map(({ shortSide }, index) => `[f${label(index)}]${toJpegSize(sizeFor({ shortSide }, size))}[i${label(index)}]`)
  return [`[${input}:v:0]select=eq(n\\,${frame}),split=${images.length}${parts}`, ...scales].join(';')
}
