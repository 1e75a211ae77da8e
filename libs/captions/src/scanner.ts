/** A position in a text. The functions of this file advance it without creating strings, since a file may have millions of tokens. */
export interface Cursor {
  readonly text: string
  at: number
}

/** Advances past `character`. Returns false, and does not advance, if another character follows. */
export function skipCharacter(cursor: Cursor, character: string): boolean {
  if (cursor.text[cursor.at] !== character) return false
  cursor.at++
  return true
}

/** Reads a decimal number of at most `maxDigits` digits. Returns -1 if no digit follows. Stops in front of further digits. */
export function readNumber(cursor: Cursor, maxDigits: number): number {
  const { text, at: start } = cursor
  let at = start
  let value = 0
  while (at - start < maxDigits && isDigit(text.charCodeAt(at))) {
    value = value * 10 + text.charCodeAt(at) - 48
    at++
  }
  cursor.at = at
  return at === start ? -1 : value
}

/** Advances past white space, but not past the end of the line. */
export function skipBlanks(cursor: Cursor): void {
  while (isBlank(cursor.text.charCodeAt(cursor.at)) && cursor.text.charCodeAt(cursor.at) !== 10) cursor.at++
}

/** Returns the index of the next `\n`, or the length of the text. */
export function lineEnd(text: string, start: number): number {
  let at = start
  while (at < text.length && text.charCodeAt(at) !== 10) at++
  return at
}

/** `charCodeAt` returns NaN past the end of a text; NaN is neither a digit nor a blank. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

/** Matches the characters of `\s` in regular expressions. */
export function isBlank(code: number): boolean {
  if (code < 0x80) return code === 32 || (code >= 9 && code <= 13)
  return code === 0xa0 || code === 0xfeff || (code >= 0x1680 && isWideBlank(code))
}

/** Whether the text from `start` to `end` is white space only. */
export function isBlankRange(text: string, start: number, end: number): boolean {
  let at = start
  while (at < end && isBlank(text.charCodeAt(at))) at++
  return at === end
}

function isWideBlank(code: number): boolean {
  if (code >= 0x2000 && code <= 0x200a) return true
  return code === 0x1680 || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f || code === 0x3000
}
