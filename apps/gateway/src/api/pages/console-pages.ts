import { join } from 'node:path'
import { Router } from 'express'
import { builtAssets } from '../../server/http/built-assets.ts'
import { page, sendHtml } from '../../server/http/page.ts'
import { type PageRights, readBuiltPage, webPolicy } from './built-page.ts'

/**
 * Serves the console. Its pages have one HTML file, whose script shows the page of the address. Users
 * sign in there, so no other page may frame it.
 */
export function consolePages(dependencies: Omit<PageRights, 'frameAncestors'> & { consoleDir: string }): Router {
  const { consoleDir } = dependencies
  const router = Router({ caseSensitive: true })
  router.use('/assets', page('/console/assets/*', builtAssets(join(consoleDir, 'assets'))))
  router.use(
    page('/console/*', async (_request, response) => {
      const html = await readBuiltPage(join(consoleDir, 'index.html'), response)
      if (html === undefined) return
      // The page of a video shows the player in a frame.
      sendHtml(response, html, `${webPolicy({ ...dependencies, frameAncestors: `'none'` })}; frame-src 'self'`)
    }),
  )
  return router
}
