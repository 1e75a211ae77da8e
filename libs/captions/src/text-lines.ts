/** The lines of a text whose ends are `\n`, one by one: files of millions of empty lines are never held as an array. */
export function* textLines(text: string): Generator<string> {
  let start = 0
  for (;;) {
    const end = text.indexOf('\n', start)
    if (end === -1) {
      if (start < text.length) yield text.slice(start)
      return
    }
    yield text.slice(start, end)
    start = end + 1
  }
}

/** Longer than any line of times is; the rest of a long line is never looked at for them. */
const longestHead = 300

export function headOf(line: string): string {
  return line.length > longestHead ? line.slice(0, longestHead) : line
}
