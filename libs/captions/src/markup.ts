import { isBlank } from './cursor.ts'

/** A text's formatting, resolved: tags are those of bold, italic and underlined, and close in the order in which they opened. */
export type Token = { text: string } | { open: Tag } | { close: Tag }

export type Tag = 'b' | 'i' | 'u'

/** Units of what a tag or a code may hold. */
const longestInside = 300

/** Time grows with the text alone: at most three tags are open at once. What is still open at the end is closed there. */
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

/** The words alone. */
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
 * Past the end of markup that begins at `at`; -1 for what is text. Markup are tags that mean something, and what players of other formats
 * take for formatting: colours, and codes such as `{\an8}`.
 */
function markupEnd(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code === 123) return text.charCodeAt(at + 1) === 92 ? endOf(text, at + 2, 123, 125) : -1
  if (code !== 60) return -1
  const name = text.charCodeAt(at + 1) === 47 ? at + 2 : at + 1
  if (tagAt(text, name) !== undefined) return name + 2
  const after = isFont(text, name) ? name + 4 : (text.charCodeAt(name) | 32) === 115 ? name + 1 : -1
  if (after === -1) return -1
  if (text.charCodeAt(after) === 62) return after + 1
  return isBlank(text.charCodeAt(after)) ? endOf(text, after + 1, 60, 62) : -1
}

/** The tag whose name, and `>`, is at `at`. */
function tagAt(text: string, at: number): Tag | undefined {
  if (text.charCodeAt(at + 1) !== 62) return undefined
  const letter = text.charCodeAt(at) | 32
  return letter === 98 ? 'b' : letter === 105 ? 'i' : letter === 117 ? 'u' : undefined
}

function isFont(text: string, at: number): boolean {
  return (text.charCodeAt(at) | 32) === 102 && text.slice(at, at + 4).toLowerCase() === 'font'
}

/** Past the next `closing`, where no `opening` comes first. */
function endOf(text: string, start: number, opening: number, closing: number): number {
  for (let at = start; at <= start + longestInside; at++) {
    const code = text.charCodeAt(at)
    if (code === closing) return at + 1
    if (code === opening || Number.isNaN(code)) return -1
  }
  return -1
}
