import { toNumber } from './frame-rate.ts'
import { type FrameSize, sizeFor } from './ladder.ts'
import type { EncodePlan } from './plan.ts'
import { setLayout } from './set-layout.ts'

/** How the pictures above a seek bar are laid out: tiles of one size, in rows on a few sprites, one for every `everyGroups` groups of frames. */
export interface StoryboardPlan {
  tile: FrameSize
  tiles: number
  columns: number
  rows: number
  /** 1, or an even number: then each tile begins a segment, which is two groups. */
  everyGroups: number
  secondsPerTile: number
  /** Their keys, as of images. */
  sprites: string[]
}

/** Whatever the length: enough for a bar of a thousand pixels, and little enough to be loaded at once. */
const mostTiles = 100
const side = 5

/** Undefined where there is no picture, or no images are planned. */
export function planStoryboard(plan: Pick<EncodePlan, 'video' | 'renditions' | 'images'>): StoryboardPlan | undefined {
  const picture = plan.renditions.find(({ video }) => video !== undefined)?.video
  if (!plan.video || !picture || plan.images.length === 0) return undefined
  const { frames, groupFrames, frameRate } = plan.video
  const groups = Math.ceil(frames / groupFrames)
  const everyGroups = groups <= mostTiles ? 1 : 2 * Math.ceil(groups / mostTiles / 2)
  const tiles = Math.ceil(groups / everyGroups)
  const columns = Math.min(side, tiles)
  const rows = Math.min(side, Math.ceil(tiles / columns))
  return {
    tile: sizeFor({ shortSide: 90 }, picture),
    tiles,
    columns,
    rows,
    everyGroups,
    secondsPerTile: (everyGroups * groupFrames) / toNumber(frameRate),
    sprites: Array.from({ length: Math.ceil(tiles / (columns * rows)) }, (_, index) => `storyboard-${index + 1}`),
  }
}

/** A cue for each tile, whose text is the address of the sprite beside this file and the place on it: `storyboard-1.jpg#xywh=160,0,160,90`. */
export function storyboardVtt({ tile, tiles, columns, rows, secondsPerTile, sprites }: StoryboardPlan, durationSeconds: number): string {
  const cues = Array.from({ length: tiles }, (_, index) => {
    const start = index * secondsPerTile
    const end = index + 1 < tiles ? start + secondsPerTile : Math.max(durationSeconds, start + 0.001)
    const place = index % (columns * rows)
    const sprite = setLayout.image(sprites[Math.floor(index / (columns * rows))] ?? '').replace(/^.*\//, '')
    const x = (place % columns) * tile.width
    const y = Math.floor(place / columns) * tile.height
    return `${clock(start)} --> ${clock(end)}\n${sprite}#xywh=${x},${y},${tile.width},${tile.height}\n`
  })
  return `WEBVTT\n\n${cues.join('\n')}`
}

function clock(seconds: number): string {
  const ms = Math.round(seconds * 1000)
  const two = (part: number) => String(part).padStart(2, '0')
  const [hours, minutes, whole] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60]
  return `${two(hours)}:${two(minutes)}:${two(whole)}.${String(ms % 1000).padStart(3, '0')}`
}
