import { longestText, tooLongText } from './caption-line.ts'

/** Bits of bold, italic and underlined, the innermost first. */
const STYLES = ['b', 'i', 'u']
const OPENING = combinations((inner, style) => `<${style}>${inner}`)
const CLOSING = combinations((inner, style) => `${inner}</${style}>`)
const longestWords = 6 * longestText
const longestControl = 200

/**
 * The text of a MicroDVD line, in one pass: `|` parts its lines, `{y:i}` makes one of them italic, `{Y:i}` all of them. Controls of colour,
 * style, size, position and so on are left out.
 */
export function microDvdText(words: string): string {
  if (words.length > longestWords) throw tooLongText()
  if (!words.includes('|') && !words.includes('{')) return words
  let said = ''
  let line = ''
  let from = 0
  /** Bits of styles, of this line and of all; -1 while nothing says. */
  let own = -1
  let whole = -1
  for (let at = 0; at <= words.length; at++) {
    const code = words.charCodeAt(at)
    if (code === 124 || at === words.length) {
      said += styled(line + words.slice(from, at), own)
      if (code === 124) said += '\n'
      line = ''
      own = -1
      from = at + 1
    } else if (code === 123 && words.charCodeAt(at + 2) === 58) {
      const letter = words.charAt(at + 1)
      if (letter === 'y' && own === -1) own = stylesAt(words, at + 3)
      if (letter === 'Y' && whole === -1) whole = stylesAt(words, at + 3)
      const end = 'yfscpoh'.includes(letter.toLowerCase()) ? controlEnd(words, at + 3) : -1
      if (end === -1) continue
      line += words.slice(from, at)
      from = end
      at = end - 1
    }
  }
  return styled(said, whole)
}

function styled(text: string, styles: number): string {
  return styles > 0 ? `${OPENING[styles]}${text}${CLOSING[styles]}` : text
}

/** `b,i}`; none where it is not closed, or has other letters. */
function stylesAt(words: string, start: number): number {
  let styles = 0
  for (let at = start; at <= start + 10; at++) {
    const letter = words.charAt(at)
    if (letter === '}') return styles
    const bit = STYLES.indexOf(letter)
    if (bit >= 0) styles |= 1 << bit
    else if (letter !== ',') return 0
  }
  return 0
}

/** Past the `}`; -1 where the control does not end. */
function controlEnd(words: string, start: number): number {
  for (let at = start; at <= start + longestControl; at++) {
    const code = words.charCodeAt(at)
    if (code === 125) return at + 1
    if (code === 123 || code === 124 || Number.isNaN(code)) return -1
  }
  return -1
}

/** One text for each set of styles. */
function combinations(add: (inner: string, style: string) => string): string[] {
  return Array.from({ length: 1 << STYLES.length }, (_, set) => STYLES.filter((_, bit) => set & (1 << bit)).reduce(add, ''))
}
