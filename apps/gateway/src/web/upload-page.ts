import { join } from 'node:path'
import type { RequestHandler } from 'express'
import { builtPage, type PageRights, webPolicy } from './built-page.ts'
import { page, sendHtml } from './page.ts'

/** `/upload`: people upload a file there by the same API as everybody. Keys are typed into it, so no other page may frame it. */
export function uploadPage(parts: Omit<PageRights, 'framedBy'> & { webDir: string }): RequestHandler {
  return page('/upload', async (_request, response) => {
    const html = await builtPage(join(parts.webDir, 'upload.html'), response)
    if (html !== undefined) sendHtml(response, html, webPolicy({ ...parts, framedBy: `'none'` }))
  })
}
