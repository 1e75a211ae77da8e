/** A text's formatting, resolved: tags are those of bold, italic and underlined, and close in the order in which they opened. */
export type Token = { text: string } | { open: Tag } | { close: Tag }

export type Tag = 'b' | 'i' | 'u'

/** Tags that mean something, and what players of other formats take for formatting: colours, and codes such as `{\an8}`. */
const MARKUP = /<(\/?)([biu])>|<\/?(?:font|s)(?:\s[^<>]{0,300})?>|\{\\[^{}]{0,300}\}/gi

/** Time grows with the text alone: at most three tags are open at once. What is still open at the end is closed there. */
export function readMarkup(text: string): Token[] {
  const tokens: Token[] = []
  const open: Tag[] = []
  const say = (words: string) => {
    if (words !== '') tokens.push({ text: words })
  }
  const closeTo = (depth: number) => {
    for (const tag of open.splice(depth).reverse()) tokens.push({ close: tag })
  }
  let start = 0
  for (const match of text.matchAll(MARKUP)) {
    say(text.slice(start, match.index))
    start = match.index + match[0].length
    const tag = match[2]?.toLowerCase() as Tag | undefined
    if (tag === undefined) continue
    const depth = open.indexOf(tag)
    if (match[1] === '/') {
      if (depth >= 0) closeTo(depth)
    } else if (depth === -1) {
      open.push(tag)
      tokens.push({ open: tag })
    }
  }
  say(text.slice(start))
  closeTo(0)
  return tokens
}
