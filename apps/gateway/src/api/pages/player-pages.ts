import { join } from 'node:path'
import express, { type Request, type RequestHandler, Router } from 'express'
import { readSessionCookie } from '../../server/access/session-cookie.ts'
import { page, sendHtml } from '../../server/http/page.ts'
import { domainError } from '../../server/http/problem.ts'
import { readBuiltPage, webPolicy } from './built-page.ts'
import { ALLOWED, createPageDecider, readToken } from './page-decision.ts'
import type { FactsDependencies, FactsFinder } from './page-facts.ts'
import type { PageFacts } from './share-data.ts'
import { withFacts } from './share-tags.ts'

interface Parts extends FactsDependencies {
  findFacts: FactsFinder
  webDir: string
  /** Origin that delivery redirects to. */
  redirectOrigin?: string | undefined
  doNotTrack: 'respect' | 'ignore'
}

/**
 * Serves `/player/assets/*`, `/player/embed.js` and `/player/{id}` from the built web pages, and
 * `/player/{id}/poster.jpg`.
 */
export function playerPages(dependencies: Parts): Router {
  const { webDir, publicUrl, findFacts } = dependencies
  const decidePage = createPageDecider(dependencies)
  const router = Router({ caseSensitive: true })
  const withTrackingTag = (html: string) =>
    dependencies.doNotTrack === 'ignore' ? html.replace('</title>', `</title>\n    ${TRACK_ALL_TAG}`) : html
  router.use('/assets', page('/player/assets/*', assets(join(webDir, 'assets'))))
  router.all('/embed.js', page('/player/embed.js', embedScript(webDir)))
  router.all('/:id/poster.jpg', page('/player/:id/poster.jpg', redirectToPoster(findFacts)))
  router.all(
    '/:id',
    page('/player/:id', async (request, response) => {
      const builtHtml = await readBuiltPage(join(webDir, 'index.html'), response)
      if (builtHtml === undefined) return
      const html = withTrackingTag(builtHtml)
      const id = String(request.params['id'])
      const publicFacts = await findFacts(id, response)
      const found = mayBePrivate(publicFacts, request) ? undefined : publicFacts
      const content = found === undefined || found.shows === 'none' ? undefined : { kind: found.shows, id }
      const decision = content ? await decidePage(content, request, response) : ALLOWED
      // If the rules of the video deny the page, it shows the message of the decision.
      const facts = decision.allowed ? found : { shows: 'none' as const, denied: decision.message }
      // The body is the same page, which shows its own message.
      if (facts?.shows === 'none') response.status(decision.allowed ? 404 : 403)
      sendHtml(
        response,
        facts ? withFacts(html, facts, publicUrl()) : html,
        webPolicy({ ...dependencies, frameAncestors: decision.allowed ? decision.frameAncestors : '*' }),
      )
    }),
  )
  return router
}

/**
 * Returns true if the signed-in user, or a viewer with a token, may see a video that guests do not see. The script of the
 * page then reads the video with the session or the token.
 */
function mayBePrivate(facts: PageFacts | undefined, { headers, originalUrl }: Request): boolean {
  const hasCredential = readSessionCookie(headers.cookie) !== undefined || readToken(originalUrl) !== ''
  return facts?.shows === 'none' && facts.expired === undefined && hasCredential
}

/**
 * Redirects to the poster of a video, or of the first video of a playlist. The URL of the poster
 * itself changes with the files of the video. Delivery decides whether the viewer may load it.
 */
function redirectToPoster(findFacts: FactsFinder): RequestHandler {
  return async (request, response) => {
    const facts = await findFacts(String(request.params['id']), response)
    if (facts === undefined) throw domainError('unavailable', 'SERVICE_UNAVAILABLE', 'the poster cannot be looked up now; try again', 1)
    const url = facts.shows === 'none' ? undefined : facts.shared.images[0]?.url
    if (url === undefined) throw domainError('not_found', 'NOT_FOUND', 'there is no public poster')
    response.setHeader('Cache-Control', 'public, max-age=60')
    for (const [name, value] of Object.entries(OTHER_SITES)) response.setHeader(name, value)
    response.redirect(302, url)
  }
}

/** With this tag, players send events of all viewers, whatever their browsers request. */
const TRACK_ALL_TAG = '<meta name="vitascope:events" content="all" />'

/** File names contain a content hash, so they can be cached permanently. */
function assets(folder: string): RequestHandler {
  const serve = express.static(folder, { index: false, redirect: false, dotfiles: 'ignore', immutable: true, maxAge: '1y' })
  return (request, response, next) =>
    serve(request, response, (error?: unknown) => next(error === undefined ? domainError('not_found', 'NOT_FOUND', 'no such file') : error))
}

/** Headers of files that pages of every origin load. */
const OTHER_SITES = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' }

/**
 * Pages of every origin load the script under this fixed name, so it is cached for minutes only.
 */
function embedScript(webDir: string): RequestHandler {
  return (_request, response, next) =>
    response.sendFile('embed.js', { root: webDir, maxAge: '5m', headers: OTHER_SITES }, (error?: Error) => {
      if (error) next(response.headersSent ? error : domainError('not_found', 'NOT_FOUND', 'no such file'))
    })
}
