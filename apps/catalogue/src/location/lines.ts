/** Maximum number of characters that are read without a line break. A postal code file has no such line. */
const MAX_LINE_LENGTH = 64 * 1024

/**
 * Yields the lines of a UTF-8 file in batches. A final line break does not start another line. A
 * line that is incomplete after `MAX_LINE_LENGTH` characters is truncated and ends the output.
 */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let incompleteLine = ''
  for await (const chunk of bytes) {
    const lines = (incompleteLine + decoder.decode(chunk, { stream: true })).split('\n')
    incompleteLine = lines.pop() ?? ''
    yield lines.map(stripReturn)
    if (incompleteLine.length > MAX_LINE_LENGTH) {
      yield [incompleteLine.slice(0, MAX_LINE_LENGTH)]
      return
    }
  }
  incompleteLine += decoder.decode()
  if (incompleteLine !== '') yield [stripReturn(incompleteLine)]
}

function stripReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
