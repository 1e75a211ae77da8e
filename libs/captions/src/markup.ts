import { isBlank } from './scanner.ts'

/** A piece of formatted text. Tags are balanced: they close in the reverse order of their opening. */
export type Token = { text: string } | { open: Tag } | { close: Tag }

export type Tag = 'b' | 'i' | 'u'

const MAX_TAG_UNITS = 300

/** Splits a text into tokens. Tags that are open at the end are closed there. The time is linear: at most three tags are open at once. */
export function readMarkup(text: string): Token[] {
  const tokens: Token[] = []
  const open: Tag[] = []
  const closeTo = (depth: number) => {
    while (open.length > depth) tokens.push({ close: open.pop() as Tag })
  }
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const end = markupEnd(text, at)
    if (end === -1) continue
    if (at > from) tokens.push({ text: text.slice(from, at) })
    from = end
    const closes = text[at + 1] === '/'
    const tag = tagAt(text, closes ? at + 2 : at + 1)
    at = end - 1
    if (tag === undefined) continue
    const depth = open.indexOf(tag)
    if (closes && depth >= 0) closeTo(depth)
    if (!closes && depth === -1) {
      open.push(tag)
      tokens.push({ open: tag })
    }
  }
  if (from < text.length) tokens.push({ text: text.slice(from) })
  closeTo(0)
  return tokens
}

/** Returns the text without formatting. */
export function withoutMarkup(text: string): string {
  let words = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const end = markupEnd(text, at)
    if (end === -1) continue
    if (at > from) words += text.slice(from, at)
    from = end
    at = end - 1
  }
  return from === 0 ? text : words + text.slice(from)
}

/**
 * Returns the index after markup that begins at `at`, or -1 for plain text. Markup is each supported tag, and
 * formatting of other formats that players interpret: colours, and codes such as `{\an8}`.
 */
function markupEnd(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code === 123) return text.charCodeAt(at + 1) === 92 ? findEnd(text, at + 2, 123, 125) : -1
  if (code !== 60) return -1
  const name = text.charCodeAt(at + 1) === 47 ? at + 2 : at + 1
  if (tagAt(text, name) !== undefined) return name + 2
  const after = isFont(text, name) ? name + 4 : (text.charCodeAt(name) | 32) === 115 ? name + 1 : -1
  if (after === -1) return -1
  if (text.charCodeAt(after) === 62) return after + 1
  return isBlank(text.charCodeAt(after)) ? findEnd(text, after + 1, 60, 62) : -1
}

/** Returns the tag whose name and `>` begin at `at`. */
function tagAt(text: string, at: number): Tag | undefined {
  if (text.charCodeAt(at + 1) !== 62) return undefined
  const letter = text.charCodeAt(at) | 32
  return letter === 98 ? 'b' : letter === 105 ? 'i' : letter === 117 ? 'u' : undefined
}

function isFont(text: string, at: number): boolean {
  return (text.charCodeAt(at) | 32) === 102 && text.slice(at, at + 4).toLowerCase() === 'font'
}

/** Returns the index after the next `closing`, or -1 if an `opening` or the end comes first. */
function findEnd(text: string, start: number, opening: number, closing: number): number {
  for (let at = start; at <= start + MAX_TAG_UNITS; at++) {
    const code = text.charCodeAt(at)
    if (code === closing) return at + 1
    if (code === opening || Number.isNaN(code)) return -1
  }
  return -1
}
