/** Pictures of one size, as rows of brightness from 0 to 255. */
export interface GreyPictures {
  width: number
  height: number
  pictures: readonly Uint8Array[]
}

/** A picture this good beside the best one is good enough, and then the place decides. */
const goodEnough = 0.85

/**
 * Which picture stands for the video: the one nearest to the middle that is not dark, plain or blurred beside the others. The first of two that
 * are as near; of no pictures, 0.
 */
export function bestPicture(candidates: GreyPictures): number {
  const scores = scoresOf(candidates)
  const best = Math.max(...scores)
  const middle = (scores.length - 1) / 2
  const good = [...scores.keys()].filter((place) => (scores[place] ?? 0) >= best * goodEnough)
  return good.reduce((chosen, place) => (Math.abs(place - middle) < Math.abs(chosen - middle) ? place : chosen), good[0] ?? 0)
}

/** 0 to 1: half of it for how much there is to see, a third for how sharp it is beside the others, the rest for its light. */
function scoresOf({ width, height, pictures }: GreyPictures): number[] {
  const edges = pictures.map((picture) => edgeStrength(picture, width, height))
  const usual = [...edges].sort((a, b) => a - b)[edges.length >> 1] ?? 0
  return pictures.map((picture, place) => {
    const sharp = usual > 0 ? Math.min(1, (edges[place] ?? 0) / usual) : 1
    return 0.5 * (entropy(picture) / entropyBits) + 0.33 * sharp + 0.17 * light(picture)
  })
}

const entropyBits = 6

/** Bits a pixel of 64 steps of brightness: 0 for one colour. */
function entropy(picture: Uint8Array): number {
  const counts = new Uint32Array(2 ** entropyBits)
  for (const value of picture) counts[value >> 2] = (counts[value >> 2] ?? 0) + 1
  let bits = 0
  for (const count of counts) if (count > 0) bits -= (count / picture.length) * Math.log2(count / picture.length)
  return bits
}

/** The mean of what a pixel differs from the four around it: blur takes it away. */
function edgeStrength(picture: Uint8Array, width: number, height: number): number {
  let sum = 0
  for (let y = 1; y + 1 < height; y++) {
    for (let at = y * width + 1; at + 1 < (y + 1) * width; at++) {
      const around = (picture[at - 1] ?? 0) + (picture[at + 1] ?? 0) + (picture[at - width] ?? 0) + (picture[at + width] ?? 0)
      sum += Math.abs(4 * (picture[at] ?? 0) - around)
    }
  }
  return sum / Math.max(1, (width - 2) * (height - 2))
}

/** 1 for a picture of middle brightness, falling to 0 for black and for white. */
function light(picture: Uint8Array): number {
  let sum = 0
  for (const value of picture) sum += value
  const mean = sum / Math.max(1, picture.length)
  return Math.min(1, mean / 64, (255 - mean) / 64)
}
