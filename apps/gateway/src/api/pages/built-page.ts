import { readFile } from 'node:fs/promises'
import type { Response } from 'express'
import { sendHtml } from '../../server/http/page.ts'

/** Returns a built page. If the web pages are not built, it sends 404 and returns undefined. */
export async function readBuiltPage(file: string, response: Response): Promise<string | undefined> {
  const html = await readFile(file, 'utf8').catch(() => undefined)
  response.setHeader('Cache-Control', 'no-cache')
  if (html === undefined) {
    response.status(404)
    sendHtml(response, NOT_BUILT, `default-src 'none'`)
  }
  return html
}

export interface PageRights {
  publicUrl: () => string
  /** URL prefix of media files. */
  mediaUrl: () => string
  /** Origin that delivery redirects to, if any. */
  redirectOrigin?: string | undefined
  /** Which pages may embed the page in a frame. */
  frameAncestors: string
}

/**
 * Returns the Content Security Policy: only our own scripts, and media also from the public origin,
 * the origin of media files and the redirect origin.
 */
export function webPolicy(rights: PageRights): string {
  const media = mediaSources(rights)
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    // The controls of the player (media-chrome) have their styles in their own markup.
    `style-src 'self' 'unsafe-inline'`,
    `img-src ${media} data:`,
    // hls.js creates each caption track with `data:,WEBVTT`.
    `media-src ${media} blob: data:`,
    `connect-src ${media}`,
    `worker-src 'self' blob:`,
    `font-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors ${rights.frameAncestors}`,
  ].join('; ')
}

/** Returns the sources of pictures and media files for a Content Security Policy. */
export function mediaSources({ publicUrl, mediaUrl, redirectOrigin }: Omit<PageRights, 'frameAncestors'>): string {
  const origins = new Set([publicUrl(), mediaUrl()].map((url) => new URL(url).origin))
  return [`'self'`, ...origins, ...(redirectOrigin === undefined ? [] : [redirectOrigin])].join(' ')
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>No page</title></head>
  <body><h1>There is no page here</h1><p>The web pages are not built: <code>npm run generate</code> builds them.</p></body>
</html>
`
