import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/**
 * Writes a file of at most 4 million lines in the format of the GeoNames postal codes. Its names and
 * postcodes have realistic lengths. It has up to 80 countries of different sizes, and 57 countries with
 * 2 million lines. The same number of lines always produces the same file.
 */
export function writeGeonamesFile(path: string, lines: number): Promise<void> {
  return pipeline(Readable.from(generateParts(lines)), createWriteStream(path))
}

/** Number of lines that are written at once. */
const LINES_PER_PART = 5_000
const COUNTRIES = Array.from({ length: 80 }, (_, index) => String.fromCharCode(65 + Math.floor(index / 26), 65 + (index % 26)))

function* generateParts(lines: number): Generator<string> {
  const random = mulberry32(7)
  for (let from = 0; from < lines; from += LINES_PER_PART) {
    let part = ''
    for (let line = from; line < Math.min(lines, from + LINES_PER_PART); line++) part += formatLine(line, random)
    yield part
  }
}

/**
 * Returns the line with this number, counted from 0. Lines are sorted by country, as in the real file.
 * One of fifteen lines has the postcode of the previous line.
 */
function formatLine(line: number, random: () => number): string {
  const country = COUNTRIES[Math.floor(COUNTRIES.length * Math.sqrt(line / 4_000_000)) % COUNTRIES.length]
  const number = line - (line % 5 === 4 ? 1 : 0)
  const postcode =
    line % 3 === 0 ? `${String(number).padStart(7, '0').slice(0, 4)} ${number.toString(36).toUpperCase()}` : String(number).padStart(7, '0')
  const latitude = (random() * 170 - 85).toFixed(4)
  const longitude = (random() * 358 - 179).toFixed(4)
  const names = `Sankt Beispielhausen ${line % 977}\tÎle-de-Modèle\t${line % 99}\tDépartement ${line % 101}\t${line % 977}\tArrondissement ${line % 333}\t${line % 3331}`
  return `${country}\t${postcode}\t${names}\t${latitude}\t${longitude}\t${1 + (line % 6)}\n`
}

/** Returns a generator of pseudorandom numbers of at least 0 and below 1. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
