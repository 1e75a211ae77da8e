import { join } from 'node:path'
import type { RequestHandler } from 'express'
import { page, sendHtml } from '../../server/http/page.ts'
import { type PageRights, readBuiltPage, webPolicy } from './built-page.ts'

/**
 * Serves `/upload`, a page to upload files with the public API. Users enter API keys there, so no
 * other page may frame it.
 */
export function uploadPage(dependencies: Omit<PageRights, 'frameAncestors'> & { webDir: string }): RequestHandler {
  return page('/upload', async (_request, response) => {
    const html = await readBuiltPage(join(dependencies.webDir, 'upload.html'), response)
    if (html !== undefined) sendHtml(response, html, webPolicy({ ...dependencies, frameAncestors: `'none'` }))
  })
}
