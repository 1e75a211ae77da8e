import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'

/** Fast compression, because most of the data hardly compresses. */
export const LEVEL = { level: 1 }

/** Writes values to a compressed file, one per line. */
export async function writeLines(file: string, values: AsyncIterable<unknown>): Promise<void> {
  const lines = async function* () {
    for await (const value of values) yield `${JSON.stringify(value)}\n`
  }
  await pipeline(Readable.from(lines()), createGzip(LEVEL), createWriteStream(file, { mode: 0o600 }))
}

/** Yields the values of such a file. Throws if the file cannot be read or decompressed. */
export async function* readLines<Value>(file: string): AsyncGenerator<Value> {
  for await (const line of readTextLines(file)) yield JSON.parse(line) as Value
}

/** Yields the lines of a compressed file. Throws if the file cannot be read or decompressed. */
export async function* readTextLines(file: string): AsyncGenerator<string> {
  yield* textLines(readCompressed(file))
}

/** Returns the decompressed bytes of a file. The stream fails if the file cannot be read or decompressed. */
export function readCompressed(file: string): Readable {
  const source = createReadStream(file)
  const gunzip = createGunzip()
  // `pipe` does not forward errors. Without this listener, an unreadable file would end the process.
  source.on('error', (error) => gunzip.destroy(error))
  return source.pipe(gunzip)
}

/** Yields the lines of a text stream. */
export async function* textLines(stream: AsyncIterable<Buffer> | Readable): AsyncGenerator<string> {
  const input = stream instanceof Readable ? stream : Readable.from(stream, { objectMode: false })
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) if (line !== '') yield line
}
