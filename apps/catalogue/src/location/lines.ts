/** Longer than any line of such a file: what has none so far is not one. */
const LONGEST = 64 * 1024

/** The lines of a UTF-8 file, in batches as they come; a last line break ends the last line. A line that never ends is cut off and ends all. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield lines.map(withoutReturn)
    if (rest.length > LONGEST) {
      yield [rest.slice(0, LONGEST)]
      return
    }
  }
  rest += decoder.decode()
  if (rest !== '') yield [withoutReturn(rest)]
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
