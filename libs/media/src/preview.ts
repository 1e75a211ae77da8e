import type { FfmpegOutput } from './ffmpeg-arguments.ts'
import { toNumber } from './frame-rate.ts'
import { sizeFor } from './ladder.ts'
import type { EncodePlan, PlannedRendition } from './plan.ts'
import { setFolder, setLayout } from './set-layout.ts'

/** Three seconds in all, of up to three places of the video. */
const framesInAll = 24
const framesPerSecond = 8
const mostPlaces = 3

/** The segments that the preview shows the beginnings of: places of a list of `count` segments. */
export function previewSegments(count: number): number[] {
  const places = Math.min(mostPlaces, count)
  return Array.from({ length: places }, (_, index) => Math.floor(((index + 0.5) * count) / places))
}

/** Makes the animated preview out of the joined segments of `previewSegments`: few colours and few pixels, since it is shown in lists. */
export function previewGraph(plan: EncodePlan, rendition: PlannedRendition, input: number, places: number, label: string): string {
  const { video } = plan
  if (!video || !rendition.video) throw new RangeError('there is no picture to preview')
  const { frameRate, groupFrames } = video
  const step = Math.max(1, Math.round(toNumber(frameRate) / framesPerSecond))
  const place = `mod(n\\,${groupFrames * 2})`
  const size = sizeFor({ shortSide: 136 }, rendition.video)
  const rate = `${frameRate.numerator}/${frameRate.denominator * step}`
  return [
    `[${input}:v:0]select=lt(${place}\\,${step * Math.floor(framesInAll / places)})*not(mod(${place}\\,${step}))`,
    `setpts=N*${frameRate.denominator * step}/${frameRate.numerator}/TB`,
    `fps=${rate}`,
    `scale=${size.width}:${size.height}:flags=bicubic+accurate_rnd+bitexact`,
    'split=2[g0][g1];[g0]palettegen=max_colors=96[palette];[g1][palette]paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle',
  ]
    .join(',')
    .concat(label)
}

export function previewOutput(label: string): FfmpegOutput {
  const options = ['-map', label, '-c:v', 'gif', '-flags', '+bitexact', '-fflags', '+bitexact', '-f', 'gif']
  return { file: `${setFolder}/${setLayout.preview}`, options }
}
