import { isBlank, isDigit } from './scanner.ts'

/** Characters of named entities, by `nameCode`. */
const ENTITIES = new Map(
  Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', lrm: '\u200e', rlm: '\u200f' }).map(
    ([name, character]) => [nameCode(name, 0, name.length), character] as const,
  ),
)
/** Code units between the name of a tag and its `>`. */
const MAX_ANNOTATION_UNITS = 301
/** Code units of a timestamp between `<` and `>`. */
const MAX_TIMESTAMP_UNITS = 26

/** Returns the text of a cue with entities resolved and with `<b>`, `<i>` and `<u>` as its only tags. Unknown tags, such as `<script>`, stay text. */
export function withoutVttMarkup(text: string): string {
  let result = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code !== 60 && code !== 38) continue
    const end = code === 60 ? tagEnd(text, at) : entityEnd(text, at)
    if (end === -1) continue
    const replacement = code === 60 ? normalizeTag(text, at) : parseEntity(text, at, end)
    if (replacement === undefined) continue
    // A replacement of equal length is equal to the source and is not copied.
    if (replacement.length !== end - at) {
      result += from === at ? replacement : text.slice(from, at) + replacement
      from = end
    }
    at = end - 1
  }
  return from === 0 ? text : result + text.slice(from)
}

/** Returns a tag for bold, italic or underline without its classes, and an empty text for other tags. */
function normalizeTag(text: string, start: number): string {
  const letter = text.charAt(start + 1)
  if (letter === '/') return isStyleTag(text.charAt(start + 2)) ? `</${text.charAt(start + 2)}>` : ''
  return isStyleTag(letter) ? `<${letter}>` : ''
}

function isStyleTag(letter: string): boolean {
  return letter === 'b' || letter === 'i' || letter === 'u'
}

/** Returns the index after the tag or timestamp that begins at `start`, or -1 if there is none. */
function tagEnd(text: string, start: number): number {
  if (isDigit(text.charCodeAt(start + 1))) return timeEnd(text, start + 1)
  const name = nameEnd(text, text.charAt(start + 1) === '/' ? start + 2 : start + 1)
  if (name === -1) return -1
  const after = text.charCodeAt(name)
  if (after === 62) return name + 1
  if (after !== 46 && !isBlank(after)) return -1
  for (let at = name + 1; at <= name + MAX_ANNOTATION_UNITS; at++) {
    const code = text.charCodeAt(at)
    if (code === 62) return at + 1
    if (code === 60 || Number.isNaN(code)) return -1
  }
  return -1
}

function nameEnd(text: string, start: number): number {
  const letter = text.charAt(start)
  if (isStyleTag(letter) || letter === 'c' || letter === 'v') return start + 1
  if (letter === 'l') return text.startsWith('lang', start) ? start + 4 : -1
  if (letter === 'r') return text.startsWith('ruby', start) ? start + 4 : text.startsWith('rt', start) ? start + 2 : -1
  return -1
}

function timeEnd(text: string, start: number): number {
  let colon = -1
  for (let at = start; at <= start + MAX_TIMESTAMP_UNITS; at++) {
    const code = text.charCodeAt(at)
    if (code === 62) return colon !== -1 && at > colon + 1 ? at + 1 : -1
    if (code === 58 && colon === -1) colon = at
    else if (code !== 58 && code !== 46 && !isDigit(code)) return -1
  }
  return -1
}

/** Returns the index after a possible entity, or -1. The longest entities are `&#x10ffff;` and `&#1114111;`. */
function entityEnd(text: string, start: number): number {
  for (let at = start + 1; at < start + 11; at++) {
    const code = text.charCodeAt(at)
    if (code === 59) return at + 1
    if (!isDigit(code) && code !== 35 && ((code | 32) < 97 || (code | 32) > 122)) return -1
  }
  return -1
}

/** Returns the character of an entity, or undefined if the text is not an entity. */
function parseEntity(text: string, start: number, end: number): string | undefined {
  if (text.charCodeAt(start + 1) !== 35) return ENTITIES.get(nameCode(text, start + 1, end - 1))
  const isHex = (text.charCodeAt(start + 2) | 32) === 120
  const code = parseDigits(text, isHex ? start + 3 : start + 2, end - 1, isHex ? 16 : 10)
  if (code === -1) return undefined
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : '\ufffd'
}

/** Returns a unique number for each name of at most four letters, ignoring case; -1 for any other text. */
function nameCode(text: string, start: number, end: number): number {
  if (end - start > 4) return -1
  let sum = 0
  for (let at = start; at < end; at++) {
    const letter = (text.charCodeAt(at) | 32) - 96
    if (letter < 1 || letter > 26) return -1
    sum = sum * 32 + letter
  }
  return sum
}

function parseDigits(text: string, start: number, end: number, base: number): number {
  let value = end > start ? 0 : -1
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    const digit = isDigit(code) ? code - 48 : base === 16 && (code | 32) >= 97 && (code | 32) <= 102 ? (code | 32) - 87 : -1
    if (digit === -1) return -1
    value = value * base + digit
  }
  return value
}
