/** Pictures of one size, as rows of brightness values from 0 to 255. */
export interface GreyPictures {
  width: number
  height: number
  pictures: readonly Uint8Array[]
}

/**
 * Pictures whose score is at least this fraction of the best one are candidates; the position
 * decides between them.
 */
const CANDIDATE_SHARE = 0.85

/**
 * Returns the index of the picture that represents the video: the one nearest to the middle that is
 * not dark, plain or blurred compared with the others. If two have the same distance, it is the
 * first. Returns 0 without pictures.
 */
export function bestPicture(candidates: GreyPictures): number {
  const scores = computeScores(candidates)
  const maxScore = Math.max(...scores)
  const middle = (scores.length - 1) / 2
  const candidateIndexes = [...scores.keys()].filter((index) => (scores[index] ?? 0) >= maxScore * CANDIDATE_SHARE)
  return candidateIndexes.reduce(
    (best, index) => (Math.abs(index - middle) < Math.abs(best - middle) ? index : best),
    candidateIndexes[0] ?? 0,
  )
}

/**
 * Returns the score of each picture, from 0 to 1. Half of a score is for the amount of detail, a
 * third for the sharpness compared with the other pictures, and the rest for the brightness.
 */
function computeScores({ width, height, pictures }: GreyPictures): number[] {
  const edges = pictures.map((picture) => edgeStrength(picture, width, height))
  const medianEdge = [...edges].sort((a, b) => a - b)[edges.length >> 1] ?? 0
  return pictures.map((picture, index) => {
    const sharp = medianEdge > 0 ? Math.min(1, (edges[index] ?? 0) / medianEdge) : 1
    return 0.5 * (entropy(picture) / ENTROPY_BITS) + 0.33 * sharp + 0.17 * brightnessScore(picture)
  })
}

/** Maximum entropy: bits of a brightness level out of 64. */
const ENTROPY_BITS = 6

/** Returns the entropy in bits per pixel over 64 brightness levels: 0 for a single colour. */
function entropy(picture: Uint8Array): number {
  const counts = new Uint32Array(2 ** ENTROPY_BITS)
  for (const value of picture) counts[value >> 2] = (counts[value >> 2] ?? 0) + 1
  let bits = 0
  for (const count of counts) if (count > 0) bits -= (count / picture.length) * Math.log2(count / picture.length)
  return bits
}

/** Returns the mean difference of a pixel from its four neighbouring pixels. Blur reduces it. */
function edgeStrength(picture: Uint8Array, width: number, height: number): number {
  let sum = 0
  for (let y = 1; y + 1 < height; y++) {
    for (let at = y * width + 1; at + 1 < (y + 1) * width; at++) {
      const neighbours = (picture[at - 1] ?? 0) + (picture[at + 1] ?? 0) + (picture[at - width] ?? 0) + (picture[at + width] ?? 0)
      sum += Math.abs(4 * (picture[at] ?? 0) - neighbours)
    }
  }
  return sum / Math.max(1, (width - 2) * (height - 2))
}

/**
 * Returns 1 for a picture of medium brightness, less for darker and brighter ones, and 0 for black
 * and white.
 */
function brightnessScore(picture: Uint8Array): number {
  let sum = 0
  for (const value of picture) sum += value
  const mean = sum / Math.max(1, picture.length)
  return Math.min(1, mean / 64, (255 - mean) / 64)
}
