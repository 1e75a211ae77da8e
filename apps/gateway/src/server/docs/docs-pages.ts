import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type RequestHandler, Router } from 'express'
import { escapeHtml, page, sendHtml } from '../http/page.ts'
import { domainError } from '../http/problem.ts'
import type { Route } from '../route/route.ts'
import { GENERAL_CODES } from './error-docs.ts'

const FOLDER = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
const FILES = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']

/**
 * Content Security Policy: no resources of other hosts. Inline styles are allowed because Swagger
 * UI writes them.
 */
const POLICY = `default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/**
 * Serves `/docs`: the API document as a page, and the description of each problem code (the `type`
 * of a problem document links there).
 */
export function docsPages(routes: readonly Route[]): Router {
  const html = docsHtml(routes)
  const router = Router({ caseSensitive: true })
  router.all(
    '/',
    page('/docs', (_request, response) => {
      response.setHeader('Cache-Control', 'no-cache')
      sendHtml(response, html, POLICY)
    }),
  )
  router.all(
    '/start.js',
    page('/docs/*', (_request, response) => {
      response.setHeader('Cache-Control', 'no-cache')
      response.type('text/javascript').send(START_SCRIPT)
    }),
  )
  for (const file of FILES) router.all(`/${file}`, page('/docs/*', sendFile(file)))
  return router
}

function sendFile(file: string): RequestHandler {
  return (_request, response, next) =>
    response.sendFile(join(FOLDER, file), { maxAge: '1h', etag: true }, (error?: Error) => {
      if (error && !response.headersSent) next(domainError('not_found', 'NOT_FOUND', 'no such file'))
    })
}

const START_SCRIPT = `window.addEventListener('DOMContentLoaded', () => {
  SwaggerUIBundle({ url: '/openapi.json', dom_id: '#api', deepLinking: false, validatorUrl: null, docExpansion: 'list', tryItOutEnabled: true })
})
`

function docsHtml(routes: readonly Route[]): string {
  const routeCodes = routes.flatMap(({ errorCodes }) => Object.entries(errorCodes))
  const codes = new Map([...routeCodes, ...Object.entries(GENERAL_CODES)])
  const rows = [...codes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([code, text]) => row(code, text))
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Vitascope API</title>
    <link rel="icon" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <script src="/docs/swagger-ui-bundle.js" defer></script>
    <script src="/docs/start.js" defer></script>
  </head>
  <body>
    <div id="api"></div>
    <div class="swagger-ui"><div class="wrapper">
      <h2>Error codes</h2>
      <table><tbody>
${rows.join('\n')}
      </tbody></table>
    </div></div>
  </body>
</html>
`
}

function row(code: string, text: string): string {
  return `        <tr id="${escapeHtml(code)}"><td><code>${escapeHtml(code)}</code></td><td>${escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</td></tr>`
}
