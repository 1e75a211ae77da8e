import type { CaptionLine } from './caption-line.ts'

/** Captions as a typed array and one string, for messages between threads. Copying 20,000 objects would block the event loop of the receiver. */
export interface PackedLines {
  /** Begin, end and text length of each caption. */
  numbers: Int32Array<ArrayBuffer>
  texts: string
}

export function packLines(lines: readonly CaptionLine[]): PackedLines {
  const numbers = Int32Array.from(lines.flatMap(({ beginMs, endMs, text }) => [beginMs, endMs, text.length]))
  return { numbers, texts: lines.map(({ text }) => text).join('') }
}

export function unpackLines({ numbers, texts }: PackedLines): CaptionLine[] {
  const lines: CaptionLine[] = []
  for (let at = 0, from = 0; at < numbers.length; at += 3) {
    const [beginMs = 0, endMs = 0, length = 0] = [numbers[at], numbers[at + 1], numbers[at + 2]]
    lines.push({ beginMs, endMs, text: texts.slice(from, from + length) })
    from += length
  }
  return lines
}
