import { toNumber } from './frame-rate.ts'
import type { Segment } from './hls-playlist.ts'
import { type FrameSize, sizeFor } from './ladder.ts'
import { EncodeError } from './media-errors.ts'
import type { EncodePlan, PlannedRendition } from './plan.ts'
import { canDecodeKeyFramesAlone, type ImageWork, joinSegments, jpegOutput, segmentInput, toJpegSize } from './segment-file.ts'

export interface PictureSource {
  plan: EncodePlan
  rendition: PlannedRendition
  segments: readonly Segment[]
  scratch: string
  /** Index of the frame for poster and thumbnail. */
  bestFrame: number
}

/**
 * Returns the command parts that create the images from the largest rendition. For each moment
 * ffmpeg reads one segment. If the moment is a key frame, it decodes only the key frames of the
 * segment. (Sparse outputs of the main encode would make ffmpeg buffer hundreds of frames of all
 * other outputs.)
 */
export async function imagesFromRendition(source: PictureSource, firstInput: number): Promise<ImageWork> {
  const { plan, rendition, segments, scratch } = source
  const { video } = plan
  const size = rendition.video
  if (!video || !size) throw new RangeError('there is no picture to make images from')
  const work: ImageWork = { inputs: [], graphs: [], outputs: [] }
  const imagesWithFrame = plan.images.map((image) => ({ ...image, frame: findImageFrame(image, plan, source.bestFrame) }))
  for (const [moment, frame] of [...new Set(imagesWithFrame.map((image) => image.frame))].entries()) {
    const segmentFrames = video.groupFrames * 2
    const segment = segments[Math.floor(frame / segmentFrames)]
    if (!segment) throw new EncodeError('incomplete', `${rendition.key} ends before frame ${frame}`)
    const onlyKeyFrames = canDecodeKeyFramesAlone(rendition) && frame % video.groupFrames === 0
    const options = onlyKeyFrames ? ['-skip_frame', 'nokey'] : []
    work.inputs.push(segmentInput(await joinSegments(scratch, rendition.key, [segment], String(moment)), options))
    const images = imagesWithFrame.filter((image) => image.frame === frame)
    const frameInSegment = (frame % segmentFrames) / (onlyKeyFrames ? video.groupFrames : 1)
    work.graphs.push(imageGraph(firstInput + moment, moment, frameInSegment, images, size))
    work.outputs.push(...images.map((image, index) => jpegOutput(image.key, `[i${moment}_${index}]`)))
  }
  return work
}

/**
 * If a video has at least this number of groups (one minute), its images `thumb-…` show key frames.
 */
const LONG_VIDEO_GROUPS = 30

/** Returns the index of the frame that an image shows. */
export function findImageFrame(
  { key, atSeconds }: EncodePlan['images'][number],
  { video }: Pick<EncodePlan, 'video'>,
  bestFrame: number,
): number {
  if (!video) return 0
  if (key === 'poster' || key === 'thumbnail') return Math.min(video.frames - 1, bestFrame)
  const frame = Math.min(video.frames - 1, Math.floor(atSeconds * toNumber(video.frameRate)))
  return video.frames < LONG_VIDEO_GROUPS * video.groupFrames ? frame : frame - (frame % video.groupFrames)
}

/**
 * Returns the graph that selects one frame of an input and scales it to the size of each image. Its
 * outputs are named `[i{moment}_{index}]`.
 */
export function imageGraph(input: number, moment: number, frame: number, images: EncodePlan['images'], size: FrameSize): string {
  const label = (index: number) => `${moment}_${index}`
  const parts = images.map((_, index) => `[f${label(index)}]`).join('')
  const scales = images.map(({ shortSide }, index) => `[f${label(index)}]${toJpegSize(sizeFor({ shortSide }, size))}[i${label(index)}]`)
  return [`[${input}:v:0]select=eq(n\\,${frame}),split=${images.length}${parts}`, ...scales].join(';')
}
