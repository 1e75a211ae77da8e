// node apps/docs/src/build.ts FOLDER: builds the documentation site into FOLDER.
import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vitepress'
import { buildApiReference } from './api-reference.ts'
import { toLandingPage } from './landing-page.ts'
import { stagedFile } from './link-rule.ts'
import { llmsText } from './llms.ts'
import { type DocsPage, markdownPath, readPages, toSections } from './pages.ts'

const app = join(import.meta.dirname, '..')
const root = join(app, '../..')

async function buildSite(outDir: string): Promise<void> {
  const pages = readPages(root)
  mkdirSync(join(root, '.cache'), { recursive: true })
  const staged = mkdtempSync(join(root, '.cache/docs-'))
  try {
    for (const page of pages) write(join(staged, stagedFile(page)), toStagedText(page))
    cpSync(join(root, 'docs/images'), join(staged, 'images'), { recursive: true })
    // The configuration of VitePress reads it.
    process.env['VITASCOPE_DOCS_STAGED'] = staged
    await build(app, { outDir })
  } finally {
    rmSync(staged, { recursive: true, force: true })
  }
  await buildApiReference(app, outDir)
  moveInlineScripts(outDir)
  for (const page of pages) write(join(outDir, markdownPath(page)), page.text)
  write(join(outDir, 'llms.txt'), llmsText(toSections(pages)))
  cpSync(join(root, 'docs/endpoints.csv'), join(outDir, 'endpoints.csv'))
  compressAssets(outDir)
}

function toStagedText(page: DocsPage): string {
  if (page.path === '') return toLandingPage(page.text)
  const head = [`title: ${JSON.stringify(page.title)}`, `description: ${JSON.stringify(page.summary.slice(0, 200))}`]
  // One heading for each code is too many for the outline.
  if (page.source.endsWith('problem-codes.md')) head.push('outline: 2')
  if (page.path.startsWith('adr/')) head.push('search: false')
  return `---\n${head.join('\n')}\n---\n\n${page.text}`
}

/** Moves the scripts in the pages to files, because the policy of the gateway allows no scripts in pages. */
function moveInlineScripts(outDir: string): void {
  for (const name of globSync('**/*.html', { cwd: outDir })) {
    const file = join(outDir, name)
    const html = readFileSync(file, 'utf8').replaceAll(/<script([^<>]*)>([^<]+)<\/script>/g, (_, attributes: string, code: string) => {
      const asset = `assets/inline.${createHash('sha256').update(code).digest('base64url').slice(0, 8)}.js`
      write(join(outDir, asset), code)
      return `<script${attributes} src="/docs/${asset}"></script>`
    })
    writeFileSync(file, html)
  }
}

/** Adds a compressed copy of each large asset, which the gateway sends to clients that accept gzip. */
function compressAssets(outDir: string): void {
  for (const name of globSync('assets/**/*.{js,css}', { cwd: outDir })) {
    const bytes = readFileSync(join(outDir, name))
    if (bytes.length > 1_000) writeFileSync(join(outDir, `${name}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const [, , folder] = process.argv
if (folder === undefined) throw new Error('the folder of the site is missing')
await buildSite(folder)
