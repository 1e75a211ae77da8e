/** Part of a picture that previews a range of the video. */
export interface StoryboardTile {
  /** Start and end in seconds. */
  start: number
  end: number
  picture: string
  x: number
  y: number
  width: number
  height: number
}

/**
 * Parses the WebVTT of a storyboard. `address` is its URL, which resolves the relative image names.
 * Invalid cues are skipped.
 */
export function readStoryboard(vtt: string, address: string): StoryboardTile[] {
  return vtt.split(/\r?\n\r?\n/).flatMap((block) => {
    const [, from, to, name, ...box] = cuePattern.exec(block) ?? []
    const [x, y, width, height] = box.map(Number)
    if (from === undefined || to === undefined || name === undefined || !width || !height) return []
    return [{ start: parseSeconds(from), end: parseSeconds(to), picture: new URL(name, address).href, x: x ?? 0, y: y ?? 0, width, height }]
  })
}

const cuePattern = /^((?:\d+:)?\d\d:\d\d\.\d{3}) --> ((?:\d+:)?\d\d:\d\d\.\d{3}).*\r?\n(\S+)#xywh=(\d+),(\d+),(\d+),(\d+)$/m

function parseSeconds(clock: string): number {
  return clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
}

/** Returns the tile of a position: the last one that starts at or before it, or else the first one. */
export function findTile(tiles: readonly StoryboardTile[], seconds: number): StoryboardTile | undefined {
  return tiles.findLast(({ start }) => start <= seconds) ?? tiles[0]
}
