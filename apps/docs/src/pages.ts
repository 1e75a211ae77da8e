import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { findHeading, findLinks } from './markdown.ts'

/** A page of the site. */
export interface DocsPage {
  /** File in the repository: `docs/guides/find-videos.md`. */
  source: string
  /** Path below `/docs/`, without an ending: `guides/find-videos`. The index of a folder ends with `/`. */
  path: string
  title: string
  /** First sentences of the page, in plain text. */
  summary: string
  text: string
}

/** A group of pages in the side bar and in llms.txt. */
export interface Section {
  title: string
  pages: DocsPage[]
}

/** Markdown files outside of `docs` that are pages too. */
const OTHER_SOURCES: Readonly<Record<string, string>> = {
  'ARCHITECTURE.md': 'architecture',
  'CHANGELOG.md': 'changelog',
  'helm/vitascope/README.md': 'reference/chart',
  'packages/cli/README.md': 'reference/cli-package',
  'packages/player/README.md': 'reference/player-package',
  'packages/sdk/README.md': 'reference/sdk-package',
}

/** Returns the pages of the site, from the Markdown files of a checkout. */
export function readPages(root: string): DocsPage[] {
  const others = Object.entries(OTHER_SOURCES).filter(([source]) => existsSync(join(root, source)))
  const own = globSync('docs/**/*.md', { cwd: root }).map((source) => [source, toPath(source)] as const)
  return [...own, ...others]
    .map(([source, path]) => {
      const text = readFileSync(join(root, source), 'utf8')
      return { source, path, text, ...findHeading(text) }
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Path of the Markdown of a page, below `/docs/`. Links between pages of `docs` also work there. */
export function markdownPath({ path }: Pick<DocsPage, 'path'>): string {
  return path === '' || path.endsWith('/') ? `${path}README.md` : `${path}.md`
}

function toPath(source: string): string {
  return source.replace(/^docs\//, '').replace(/(^|\/)README\.md$|\.md$/, '$1')
}

/**
 * Returns all pages in sections. The order of guides is that of the tables in `docs/README.md`, and
 * the order of operation pages that of `docs/operate/README.md`. Pages that these do not list are last.
 */
export function toSections(pages: readonly DocsPage[]): Section[] {
  const under = (prefix: string) => inOrder(pages, (path) => path.startsWith(prefix))
  const named = (...paths: string[]) => paths.flatMap((path) => pages.filter((page) => page.path === path))
  return [
    { title: 'Start', pages: [...named(''), ...under('tutorial/')] },
    { title: 'Use the API', pages: under('guides/') },
    { title: 'Operate', pages: under('operate/') },
    { title: 'Reference', pages: [...under('reference/'), ...named('glossary', 'changelog')] },
    { title: 'Understand', pages: [...named('architecture'), ...under('adr/')] },
  ]
}

function inOrder(pages: readonly DocsPage[], isIncluded: (path: string) => boolean): DocsPage[] {
  const indexes = pages.filter(({ source }) => source.endsWith('README.md') && source.startsWith('docs/'))
  const listed = indexes.flatMap(({ source, text }) => [source, ...findLinks(text).map((link) => resolveSource(source, link).source)])
  const position = ({ source }: DocsPage) => (listed.includes(source) ? listed.indexOf(source) : listed.length)
  return pages.filter(({ path }) => isIncluded(path)).sort((a, b) => position(a) - position(b))
}

/** Resolves a relative link of a source file to a file of the repository and an anchor. */
export function resolveSource(source: string, link: string): { source: string; anchor: string } {
  const [path = '', anchor] = link.split('#')
  return { source: path === '' ? source : normalize(join(dirname(source), path)), anchor: anchor === undefined ? '' : `#${anchor}` }
}
