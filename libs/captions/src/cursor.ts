/** A place in a text, from which marks and numbers are read. No strings are made on the way: a file may have millions of them. */
export interface Cursor {
  readonly text: string
  at: number
}

/** Goes past a mark of one character; false where another one is. */
export function passMark(cursor: Cursor, mark: string): boolean {
  if (cursor.text[cursor.at] !== mark) return false
  cursor.at++
  return true
}

/** -1 where there is no digit. What is longer than `mostDigits` is left at the next one. */
export function readNumber(cursor: Cursor, mostDigits: number): number {
  const { text, at: start } = cursor
  let at = start
  let value = 0
  while (at - start < mostDigits && isDigit(text.charCodeAt(at))) {
    value = value * 10 + text.charCodeAt(at) - 48
    at++
  }
  cursor.at = at
  return at === start ? -1 : value
}

/** Stays in the line. */
export function passBlanks(cursor: Cursor): void {
  while (isBlank(cursor.text.charCodeAt(cursor.at)) && cursor.text.charCodeAt(cursor.at) !== 10) cursor.at++
}

/** The place of the `\n` that ends the line, or of the text's end. */
export function lineEnd(text: string, start: number): number {
  let at = start
  while (at < text.length && text.charCodeAt(at) !== 10) at++
  return at
}

/** Past the end of a text there is NaN, which is nothing. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

/** What `\s` is. */
export function isBlank(code: number): boolean {
  if (code < 0x80) return code === 32 || (code >= 9 && code <= 13)
  return code === 0xa0 || code === 0xfeff || (code >= 0x1680 && isWideBlank(code))
}

function isWideBlank(code: number): boolean {
  if (code >= 0x2000 && code <= 0x200a) return true
  return code === 0x1680 || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f || code === 0x3000
}
