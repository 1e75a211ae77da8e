/** The part of a token of markdown-it that the rules change. */
export interface Token {
  type: string
  tag: string
  /** Language of a code block. */
  info: string
  content: string
  children: Token[] | null
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
}

/** The part of markdown-it that the rules use. */
export interface MarkdownIt {
  core: { ruler: { push(name: string, rule: (state: { tokens: Token[]; env: { relativePath: string } }) => void): void } }
}
