/** A part of a picture that shows a stretch of the video. */
export interface StoryboardTile {
  /** Seconds. */
  start: number
  end: number
  picture: string
  x: number
  y: number
  width: number
  height: number
}

/** Reads the WebVTT of a storyboard; `address` is where it came from, since what it names stands beside it. What cannot be read is left out. */
export function readStoryboard(vtt: string, address: string): StoryboardTile[] {
  return vtt.split(/\r?\n\r?\n/).flatMap((block) => {
    const [, from, to, name, ...place] = cue.exec(block) ?? []
    const [x, y, width, height] = place.map(Number)
    if (from === undefined || to === undefined || name === undefined || !width || !height) return []
    return [{ start: secondsOf(from), end: secondsOf(to), picture: new URL(name, address).href, x: x ?? 0, y: y ?? 0, width, height }]
  })
}

const cue = /^((?:\d+:)?\d\d:\d\d\.\d{3}) --> ((?:\d+:)?\d\d:\d\d\.\d{3}).*\n(\S+)#xywh=(\d+),(\d+),(\d+),(\d+)$/m

function secondsOf(clock: string): number {
  return clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
}

/** What shows a moment: the last tile that begins by then. */
export function tileAt(tiles: readonly StoryboardTile[], seconds: number): StoryboardTile | undefined {
  return tiles.findLast(({ start }) => start <= seconds) ?? tiles[0]
}
