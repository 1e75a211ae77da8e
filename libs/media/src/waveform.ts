/** Pixels as rows of red, green and blue. */
export interface RgbPicture {
  width: number
  height: number
  pixels: Buffer
}

const [width, height] = [1280, 720]
const BARS = 128
/** Distance from the left edge of a bar to that of the next one, and width of a bar, in pixels. */
const [BAR_DISTANCE, BAR_WIDTH] = [8, 5]
/** Loudness of the lowest and of the tallest bar, in dBFS. */
const [quiet, loud] = [-54, -9]

/**
 * Draws the loudness over time as bars around the horizontal centre line. `levels` contains the
 * loudness of equal intervals in dBFS.
 */
export function drawWaveform(levels: readonly number[]): RgbPicture {
  const pixels = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y++) {
    const [red, green, blue] = mixColours([0x1d, 0x26, 0x36], [0x0a, 0x0d, 0x13], y / height)
    for (let x = 0; x < width; x++) pixels.set([red, green, blue], (y * width + x) * 3)
  }
  const left = (width - BARS * BAR_DISTANCE + BAR_DISTANCE - BAR_WIDTH) >> 1
  barHeights(levels).forEach((half, bar) => {
    const colour = mixColours([0x7c, 0xc4, 0xff], [0xa5, 0x8b, 0xff], bar / BARS)
    for (let y = height / 2 - half; y < height / 2 + half; y++) {
      // The ends of a bar are rounded.
      const inset = y === height / 2 - half || y === height / 2 + half - 1 ? 1 : 0
      for (let x = left + bar * BAR_DISTANCE + inset; x < left + bar * BAR_DISTANCE + BAR_WIDTH - inset; x++)
        pixels.set(colour, (y * width + x) * 3)
    }
  })
  return { width, height, pixels }
}

/** Returns half the height of each bar in pixels, from the loudest level of its interval. */
export function barHeights(levels: readonly number[]): number[] {
  return Array.from({ length: BARS }, (_, bar) => {
    const from = Math.floor((bar * levels.length) / BARS)
    const interval = levels.slice(from, Math.max(from + 1, Math.floor(((bar + 1) * levels.length) / BARS)))
    const level = Math.max(quiet, ...interval.filter((value) => Number.isFinite(value)))
    return 3 + Math.round(190 * Math.min(1, (level - quiet) / (loud - quiet)))
  })
}

type Colour = [red: number, green: number, blue: number]

function mixColours(from: Colour, to: Colour, share: number): Colour {
  const part = (index: 0 | 1 | 2) => Math.round(from[index] + (to[index] - from[index]) * share)
  return [part(0), part(1), part(2)]
}
