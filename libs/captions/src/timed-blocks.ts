import { type CaptionLine, captionTooLarge, longestText, mostLines } from './caption-line.ts'

/** A begin and an end, in milliseconds. */
export type Times = Pick<CaptionLine, 'beginMs' | 'endMs'>

/** Collects the lines of a file, and refuses it as soon as it is too long. */
export function collectLines() {
  const lines: CaptionLine[] = []
  return {
    lines,
    /** One whose text is blank, or which does not end after its beginning, is passed over: it is never seen. */
    add({ beginMs, endMs }: Times, text: string): void {
      if (endMs <= beginMs || text.trim() === '') return
      // A character is at most two units.
      if (text.length > longestText && (text.length > 2 * longestText || [...text].length > longestText)) {
        throw captionTooLarge(`a line of captions has at most ${longestText} characters: this file has a longer one`)
      }
      if (lines.length === mostLines) throw captionTooLarge(`captions have at most ${mostLines} lines: this file has more`)
      lines.push({ beginMs, endMs, text })
    },
  }
}

/** What a line of a file is: times that begin a text, the end of a text, or part of one. */
export type LineKind = Times | 'end' | 'text'

/** Files in which each text follows its times. `finish` makes the text of its lines; `next` is what ended them. */
export function readTimedBlocks(
  lines: Iterable<string>,
  kindOf: (line: string) => LineKind,
  finish: (block: string[], next: LineKind) => string = (block) => block.join('\n'),
): CaptionLine[] {
  const found = collectLines()
  let times: Times | undefined
  let block: string[] = []
  let length = 0
  const close = (next: LineKind) => {
    if (times) found.add(times, finish(block, next))
    times = undefined
    block = []
    length = 0
  }
  for (const line of lines) {
    const kind = kindOf(line)
    if (kind === 'text') {
      // What is too long already need not be kept whole to be refused; one empty line says as much as many.
      if (times && length <= 6 * longestText && (line !== '' || block.at(-1) !== '')) {
        block.push(line)
        length += line.length + 1
      }
    } else {
      close(kind)
      if (kind !== 'end') times = kind
    }
  }
  close('end')
  return found.lines
}
