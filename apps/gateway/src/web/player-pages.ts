import { join } from 'node:path'
import express, { type RequestHandler, Router } from 'express'
import { refusal } from '../http/problem.ts'
import { builtPage, webPolicy } from './built-page.ts'
import { page, sendHtml } from './page.ts'
import { withFacts } from './share-tags.ts'
import { findShared, type SharedParts } from './shared-record.ts'

interface Parts extends SharedParts {
  webDir: string
  /** Where delivery leads to. */
  redirectOrigin?: string | undefined
  doNotTrack: 'respect' | 'ignore'
}

/** `/player/assets/*`, `/player/embed.js` and `/player/{id}`: the files that the web pages are built into. */
export function playerPages(parts: Parts): Router {
  const { webDir, publicUrl } = parts
  const router = Router({ caseSensitive: true })
  const withWishes = (html: string) => (parts.doNotTrack === 'ignore' ? html.replace('</title>', `</title>\n    ${TELLS_ALL}`) : html)
  router.use('/assets', page('/player/assets/*', assets(join(webDir, 'assets'))))
  router.all('/embed.js', page('/player/embed.js', embedScript(webDir)))
  router.all(
    '/:id',
    page('/player/:id', async (request, response) => {
      const built = await builtPage(join(webDir, 'index.html'), response)
      if (built === undefined) return
      const html = withWishes(built)
      const facts = await findShared(String(request.params['id']), parts, response)
      // The same page: it says so in its own words.
      if (facts?.shows === 'none') response.status(404)
      sendHtml(response, facts ? withFacts(html, facts, publicUrl()) : html, webPolicy({ ...parts, framedBy: '*' }))
    }),
  )
  return router
}

/** Players then tell of everybody's views, whatever their browsers ask for. */
const TELLS_ALL = '<meta name="vitascope:events" content="all" />'

/** Names hold a hash of the content, so they may be kept for good. */
function assets(folder: string): RequestHandler {
  const serve = express.static(folder, { index: false, redirect: false, dotfiles: 'ignore', immutable: true, maxAge: '1y' })
  return (request, response, next) =>
    serve(request, response, (error?: unknown) =>
      next(error === undefined ? refusal('not_found', 'NOT_FOUND', 'there is no such file') : error),
    )
}

/** Pages of every origin load it under this one name, so it is kept for minutes only. */
function embedScript(webDir: string): RequestHandler {
  const headers = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' }
  return (_request, response, next) =>
    response.sendFile('embed.js', { root: webDir, maxAge: '5m', headers }, (error?: Error) => {
      if (error) next(response.headersSent ? error : refusal('not_found', 'NOT_FOUND', 'there is no such file'))
    })
}
