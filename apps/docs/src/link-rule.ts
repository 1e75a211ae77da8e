import type { MarkdownIt, Token } from './markdown-it.ts'
import { type DocsPage, resolveSource } from './pages.ts'

/** Files of the repository that the gateway serves, or that the build copies next to the pages. */
const SERVED: Readonly<Record<string, string>> = { 'docs/openapi.json': '/openapi.json', 'docs/endpoints.csv': '/docs/endpoints.csv' }

/**
 * Adds a rule that changes relative links, which are correct in the repository, to links of the site.
 * A link to a file that the site does not have becomes its text, with the path of the file as title.
 */
export function addLinkRule(markdown: MarkdownIt, pages: readonly DocsPage[]): void {
  const bySource = new Map(pages.map((page) => [page.source, page]))
  markdown.core.ruler.push('links-of-the-repository', ({ tokens, env }) => {
    const source = pages.find((page) => stagedFile(page) === env.relativePath)?.source
    if (source === undefined) return
    for (const { children } of tokens) {
      let closing: string | undefined
      for (const token of children ?? []) {
        if (token.type === 'link_open') closing = changeLink(token, source, bySource)
        else if (token.type === 'link_close' && closing !== undefined) setHtml(token, closing)
      }
    }
  })
}

/** Name of the file that VitePress builds for a page. */
export function stagedFile({ path }: Pick<DocsPage, 'path'>): string {
  return path === '' || path.endsWith('/') ? `${path}index.md` : `${path}.md`
}

/** Changes the opening token. Returns the closing tag if the token became HTML. */
function changeLink(token: Token, source: string, bySource: ReadonlyMap<string, DocsPage>): string | undefined {
  const href = token.attrGet('href') ?? ''
  if (/^([a-z]+:|#)/.test(href)) return undefined
  if (href.startsWith('/')) {
    setHtml(token, `<a href="${escapeAttribute(href)}" target="_self">`)
    return '</a>'
  }
  const target = resolveSource(source, decodeURI(href))
  const page = bySource.get(target.source)
  if (page !== undefined) {
    token.attrSet('href', `/${page.path}${target.anchor}`)
    return undefined
  }
  const served = SERVED[target.source]
  setHtml(
    token,
    served === undefined
      ? `<span class="repository-file" title="In the repository: ${escapeAttribute(target.source)}">`
      : `<a href="${served}" target="_self">`,
  )
  return served === undefined ? '</span>' : '</a>'
}

function setHtml(token: Token, html: string): void {
  token.type = 'html_inline'
  token.content = html
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
