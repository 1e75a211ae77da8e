import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/**
 * Writes a file with this number of lines, of up to 80 countries of different sizes, with names and
 * postcodes of realistic lengths. The same number of lines always produces the same file. 2 million lines
 * have 57 countries.
 */
export function writeGeonamesFile(path: string, lines: number): Promise<void> {
  return pipeline(Readable.from(parts(lines)), createWriteStream(path))
}

const PART = 5_000
const COUNTRIES = Array.from({ length: 80 }, (_, index) => String.fromCharCode(65 + Math.floor(index / 26), 65 + (index % 26)))

function* parts(lines: number): Generator<string> {
  const random = mulberry(7)
  for (let from = 0; from < lines; from += PART) {
    let part = ''
    for (let line = from; line < Math.min(lines, from + PART); line++) part += geonamesLine(line, random)
    yield part
  }
}

/**
 * Returns a line. Lines are sorted by country, as in the real file. One of fifteen places has the
 * postcode of the previous one.
 */
function geonamesLine(line: number, random: () => number): string {
  const country = COUNTRIES[Math.floor(COUNTRIES.length * Math.sqrt(line / 4_000_000)) % COUNTRIES.length]
  const number = line - (line % 5 === 4 ? 1 : 0)
  const postcode =
    line % 3 === 0 ? `${String(number).padStart(7, '0').slice(0, 4)} ${number.toString(36).toUpperCase()}` : String(number).padStart(7, '0')
  const latitude = (random() * 170 - 85).toFixed(4)
  const longitude = (random() * 358 - 179).toFixed(4)
  const names = `Sankt Beispielhausen ${line % 977}\tÎle-de-Modèle\t${line % 99}\tDépartement ${line % 101}\t${line % 977}\tArrondissement ${line % 333}\t${line % 3331}`
  return `${country}\t${postcode}\t${names}\t${latitude}\t${longitude}\t${1 + (line % 6)}\n`
}

/** Returns a generator of pseudorandom numbers from 0 to 1 (mulberry32). */
function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
