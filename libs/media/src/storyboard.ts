import { toNumber } from './frame-rate.ts'
import { type FrameSize, sizeFor } from './ladder.ts'
import type { EncodePlan } from './plan.ts'
import { setLayout } from './set-layout.ts'

/**
 * Layout of the pictures for a seek bar: tiles of one size in rows on a few sprites, one tile for
 * every `groupsPerTile` groups of frames.
 */
export interface StoryboardPlan {
  tile: FrameSize
  tiles: number
  columns: number
  rows: number
  /** 1 or an even number. An even number makes each tile start a segment, which has two groups. */
  groupsPerTile: number
  secondsPerTile: number
  /** Keys of the sprites, as for images. */
  sprites: string[]
}

/**
 * Maximum number of tiles. They are enough for a seek bar of a thousand pixels, and few enough to
 * be loaded at once.
 */
const MAX_TILES = 100
const TILES_PER_SIDE = 5

/** Returns the layout, or undefined if there is no picture or no images are planned. */
export function planStoryboard(plan: Pick<EncodePlan, 'video' | 'renditions' | 'images'>): StoryboardPlan | undefined {
  const picture = plan.renditions.find(({ video }) => video !== undefined)?.video
  if (!plan.video || !picture || plan.images.length === 0) return undefined
  const { frames, groupFrames, frameRate } = plan.video
  const groups = Math.ceil(frames / groupFrames)
  const groupsPerTile = groups <= MAX_TILES ? 1 : 2 * Math.ceil(groups / MAX_TILES / 2)
  const tiles = Math.ceil(groups / groupsPerTile)
  const columns = Math.min(TILES_PER_SIDE, tiles)
  const rows = Math.min(TILES_PER_SIDE, Math.ceil(tiles / columns))
  return {
    tile: sizeFor({ shortSide: 90 }, picture),
    tiles,
    columns,
    rows,
    groupsPerTile,
    secondsPerTile: (groupsPerTile * groupFrames) / toNumber(frameRate),
    sprites: Array.from({ length: Math.ceil(tiles / (columns * rows)) }, (_, index) => `storyboard-${index + 1}`),
  }
}

/**
 * Returns a WebVTT file with a cue for each tile. Its text is the sprite's URL relative to this
 * file and the tile's rectangle: `storyboard-1.jpg#xywh=160,0,160,90`.
 */
export function storyboardVtt({ tile, tiles, columns, rows, secondsPerTile, sprites }: StoryboardPlan, durationSeconds: number): string {
  const cues = Array.from({ length: tiles }, (_, index) => {
    const start = index * secondsPerTile
    const end = index + 1 < tiles ? start + secondsPerTile : Math.max(durationSeconds, start + 0.001)
    const tileInSprite = index % (columns * rows)
    const sprite = setLayout.image(sprites[Math.floor(index / (columns * rows))] ?? '').replace(/^.*\//, '')
    const x = (tileInSprite % columns) * tile.width
    const y = Math.floor(tileInSprite / columns) * tile.height
    return `${formatTime(start)} --> ${formatTime(end)}\n${sprite}#xywh=${x},${y},${tile.width},${tile.height}\n`
  })
  return `WEBVTT\n\n${cues.join('\n')}`
}

function formatTime(seconds: number): string {
  const ms = Math.round(seconds * 1000)
  const padTwoDigits = (part: number) => String(part).padStart(2, '0')
  const [hours, minutes, whole] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60]
  return `${padTwoDigits(hours)}:${padTwoDigits(minutes)}:${padTwoDigits(whole)}.${String(ms % 1000).padStart(3, '0')}`
}
