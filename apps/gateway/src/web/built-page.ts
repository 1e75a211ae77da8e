import { readFile } from 'node:fs/promises'
import type { Response } from 'express'
import { sendHtml } from './page.ts'

/** A page as the web pages were built; undefined when they are not, which is answered then. */
export async function builtPage(file: string, response: Response): Promise<string | undefined> {
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
  /** Where delivery leads viewers to, if it does. */
  redirectOrigin?: string | undefined
  /** Which pages may show it in a frame. */
  framedBy: '*' | `'none'`
}

/** Scripts of our own only; media may also come from where addresses and delivery lead to. */
export function webPolicy({ publicUrl, redirectOrigin, framedBy }: PageRights): string {
  const media = [`'self'`, new URL(publicUrl()).origin, ...(redirectOrigin === undefined ? [] : [redirectOrigin])].join(' ')
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `img-src ${media} data:`,
    // hls.js begins each track of captions with `data:,WEBVTT`.
    `media-src ${media} blob: data:`,
    `connect-src ${media}`,
    `worker-src 'self' blob:`,
    `font-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors ${framedBy}`,
  ].join('; ')
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>No page</title></head>
  <body><h1>There is no page here</h1><p>The web pages are not built: <code>npm run generate</code> builds them.</p></body>
</html>
`
