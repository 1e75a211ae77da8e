/** Longer than any valid line. A file with such a line is not a postal code file. */
const MAX_LINE_LENGTH = 64 * 1024

/**
 * Yields the lines of a UTF-8 file in batches. A final line break does not start another line. A
 * line that is too long is truncated and ends the output.
 */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield lines.map(withoutReturn)
    if (rest.length > MAX_LINE_LENGTH) {
      yield [rest.slice(0, MAX_LINE_LENGTH)]
      return
    }
  }
  rest += decoder.decode()
  if (rest !== '') yield [withoutReturn(rest)]
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
