import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import express, { type Request, type RequestHandler, type Response, Router } from 'express'
import { builtAssets } from '../http/built-assets.ts'
import { page, sendHtml, setPageHeaders } from '../http/page.ts'
import { domainError } from '../http/problem.ts'

/**
 * Content Security Policy: no resources of other hosts. Inline styles are allowed because highlighted
 * code has them, and because Scalar, which shows the API document, writes them.
 */
const POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self' 'unsafe-inline'`,
  `img-src 'self' data:`,
  `font-src 'self'`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ')

/**
 * Serves `/docs` from the built documentation site: pages without an ending, the Markdown of each page
 * with `.md`, and assets whose names contain a hash.
 */
export function docsPages(docsDir: string): Router {
  const router = Router({ caseSensitive: true })
  router.use('/assets', page('/docs/assets/*', builtAssets(join(docsDir, 'assets'))))
  router.all('/', page('/docs', sendLandingPage(docsDir)))
  router.use(page('/docs/*', redirectFolder(docsDir)))
  router.use(page('/docs/*', pages(docsDir)))
  router.use(page('/docs/*', sendNotFound(docsDir)))
  return router
}

/** Serves `/llms.txt`: a list of all pages for language models, with absolute addresses. */
export function llmsPage(docsDir: string, publicUrl: () => string): RequestHandler {
  return page('/llms.txt', async (_request, response) => {
    const text = await readFile(join(docsDir, 'llms.txt'), 'utf8').catch(() => undefined)
    if (text === undefined) throw notBuilt()
    response.setHeader('Cache-Control', 'no-cache')
    response.type('text/plain').send(text.replaceAll('](/', `](${publicUrl()}/`))
  })
}

/** Redirects `/docs/operate` to `/docs/operate/`, whose page has relative links. */
function redirectFolder(docsDir: string): RequestHandler {
  return (request, response, next) => {
    const isFolder = /^(\/[\w-]+)+$/.test(request.path) && existsSync(join(docsDir, request.path, 'index.html'))
    if (isFolder) response.redirect(301, `${request.baseUrl}${request.path}/`)
    else next()
  }
}

/** Sends the same page for `/docs` and `/docs/`. `/docs#CODE` is the `type` of problem documents. */
function sendLandingPage(docsDir: string): RequestHandler {
  return (_request, response, next) => {
    if (!existsSync(join(docsDir, 'index.html'))) return next()
    setHeadersOfFile(docsDir)(response, 'index.html')
    response.sendFile('index.html', { root: docsDir, ...CACHING }, (error?: Error) => {
      if (error && !response.headersSent) next(error)
    })
  }
}

function pages(docsDir: string): RequestHandler {
  return express.static(docsDir, {
    extensions: ['html'],
    redirect: false,
    dotfiles: 'ignore',
    ...CACHING,
    setHeaders: setHeadersOfFile(docsDir),
  })
}

/** All files in images have the same time, so size and time do not show that a page has changed. */
const CACHING = { etag: false, lastModified: false, cacheControl: false }

/** Returns a function that sets the headers of a page or another file that is not an asset. Its ETag is that of the whole site. */
function setHeadersOfFile(docsDir: string): (response: Response, file: string) => void {
  return (response, file) => {
    response.setHeader('Cache-Control', 'no-cache')
    const stamp = readStamp(docsDir)
    if (stamp !== undefined) response.setHeader('ETag', `W/"${stamp.slice(0, 16)}"`)
    if (file.endsWith('.html')) setPageHeaders(response, POLICY)
    else if (file.endsWith('.md')) response.setHeader('Content-Type', 'text/markdown; charset=utf-8')
  }
}

/** Returns the hash of the sources of the site, which `npm run generate` writes. */
function readStamp(docsDir: string): string | undefined {
  const file = join(docsDir, '.stamp')
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** Sends the page that says that there is no page. Clients that do not accept HTML receive a problem. */
function sendNotFound(docsDir: string): RequestHandler {
  return async (request: Request, response: Response) => {
    const html =
      request.accepts(['json', 'html']) === 'html' ? await readFile(join(docsDir, '404.html'), 'utf8').catch(() => undefined) : undefined
    if (html === undefined)
      throw existsSync(docsDir) ? domainError('not_found', 'NOT_FOUND', 'no such page of the documentation') : notBuilt()
    response.status(404)
    response.setHeader('Cache-Control', 'no-cache')
    sendHtml(response, html, POLICY)
  }
}

function notBuilt(): Error {
  return domainError('not_found', 'NOT_FOUND', 'the documentation is not built: `npm run generate` builds it')
}
