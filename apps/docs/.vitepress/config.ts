import { join } from 'node:path'
import { type DefaultTheme, defineConfig } from 'vitepress'
import { addBlockRule } from '../src/block-rule.ts'
import { addLinkRule, stagedFile } from '../src/link-rule.ts'
import { toAnchor } from '../src/markdown.ts'
import { type DocsPage, markdownPath, readPages, type Section, toSections } from '../src/pages.ts'

const root = join(import.meta.dirname, '../../..')
const pages = readPages(root)
const byStagedFile = new Map(pages.map((page) => [stagedFile(page), page]))
const sections = toSections(pages)

const API_LINK = { text: 'API reference', link: '/api', target: '_self' }
/** Groups that are open on every page. */
const OPEN = new Set(['Start', 'Use the API'])

/** src/build.ts names the folder of the Markdown files. */
const srcDir = process.env['VITASCOPE_DOCS_STAGED'] ?? ''

export default defineConfig({
  base: '/docs/',
  srcDir,
  cacheDir: join(root, '.cache/vitepress'),
  lang: 'en',
  title: 'Vitascope',
  titleTemplate: ':title · Vitascope docs',
  description: 'Documentation of Vitascope, an open, self-hosted video hosting platform',
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: '/docs/icon.svg' }]],
  markdown: {
    anchor: { slugify: toAnchor },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark' },
    config(markdown) {
      addLinkRule(markdown, pages)
      addBlockRule(markdown)
    },
  },
  transformHead({ page }) {
    const source = byStagedFile.get(page)
    return source === undefined ? [] : [['link', { rel: 'alternate', type: 'text/markdown', href: `/docs/${markdownPath(source)}` }]]
  },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'Tutorial', link: '/tutorial/first-video', activeMatch: '^/tutorial/' },
      { text: 'Guides', link: firstLink('Use the API'), activeMatch: '^/guides/' },
      { text: 'Operate', link: '/operate/', activeMatch: '^/operate/' },
      { text: 'Reference', link: '/reference/settings', activeMatch: '^/reference/' },
      API_LINK,
    ],
    sidebar: sections.map(toGroup),
    outline: { level: [2, 3] },
    search: { provider: 'local', options: { detailedView: true } },
    docFooter: { prev: 'Previous', next: 'Next' },
  },
  vite: {
    publicDir: join(import.meta.dirname, '../public'),
    build: { reportCompressedSize: false, chunkSizeWarningLimit: 2_000, assetsInlineLimit: 0 },
  },
})

function toGroup({ title, pages: group }: Section): DefaultTheme.SidebarItem {
  const decisions = group.filter(({ path }) => path.startsWith('adr/')).map(toItem)
  const items = group.filter(({ path }) => !path.startsWith('adr/')).map(toItem)
  if (title === 'Reference') items.unshift(API_LINK)
  if (decisions.length > 0) items.push({ text: 'Decisions', collapsed: true, items: decisions })
  return { text: title, collapsed: !OPEN.has(title), items }
}

function toItem({ path, title }: DocsPage): DefaultTheme.SidebarItem {
  return { text: path === '' ? 'Overview' : title, link: `/${path}` }
}

function firstLink(title: string): string {
  return `/${sections.find((section) => section.title === title)?.pages[0]?.path ?? ''}`
}
