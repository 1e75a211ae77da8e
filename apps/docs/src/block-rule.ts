import type { MarkdownIt } from './markdown-it.ts'

/**
 * Adds a rule for Markdown that VitePress does not style: an indented code block becomes a fenced one,
 * and an empty header of a table becomes an ordinary cell.
 */
export function addBlockRule(markdown: MarkdownIt): void {
  markdown.core.ruler.push('blocks', ({ tokens }) => {
    tokens.forEach((token, index) => {
      if (token.type === 'code_block') Object.assign(token, { type: 'fence', tag: 'code', info: languageOf(token.content) })
      const [content, closing] = tokens.slice(index + 1, index + 3)
      if (token.type !== 'th_open' || content?.content !== '' || closing?.type !== 'th_close') return
      token.tag = 'td'
      closing.tag = 'td'
    })
  })
}

/** Guides write short commands as indented code. */
function languageOf(code: string): string {
  return /^(\w+=\S+ )*(npm|npx|node|git|curl|docker|kubectl|helm|export|sudo|psql|cd|mkdir|openssl)\b/.test(code) ? 'sh' : 'txt'
}
