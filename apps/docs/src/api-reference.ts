import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import scalar from '@scalar/fastify-api-reference'
import { build } from 'vite'

/** The parts of a Fastify server that the plugin of Scalar uses. */
interface Route {
  url: string
  handler: (request: unknown, reply: { header(name: string, value: string): unknown; send(body: string): string }) => string
}

/**
 * Builds `api.html`: the page that shows the OpenAPI document of the platform, with Scalar. The
 * script of Scalar is a separate file, with the hash of its content in the name.
 */
export async function buildApiReference(app: string, outDir: string): Promise<void> {
  const script = scalarScript()
  const asset = `assets/scalar.${createHash('sha256').update(script).digest('base64url').slice(0, 8)}.js`
  writeFileSync(join(outDir, asset), script)
  await build({
    root: join(app, 'api'),
    configFile: false,
    base: '/docs/',
    logLevel: 'warn',
    publicDir: false,
    build: {
      outDir,
      emptyOutDir: false,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: join(app, 'api/api.html') },
    },
  })
  const file = join(outDir, 'api.html')
  writeFileSync(file, readFileSync(file, 'utf8').replace('<!-- scalar -->', `<script defer src="/docs/${asset}"></script>`))
}

/**
 * Returns the browser script of Scalar, which is one file without imports. The plugin for Fastify is
 * its only package that has the script without 280 further packages, so this function registers the
 * plugin and calls its route.
 */
function scalarScript(): string {
  const routes: Route[] = []
  const server = {
    route: (route: Route) => routes.push(route),
    hasPlugin: () => false,
    initialConfig: {},
    log: { warn: () => {} },
  }
  const register = scalar as unknown as (fastify: typeof server, options: object, done: () => void) => void
  register(server, { routePrefix: '/reference', configuration: { url: '/openapi.json' } }, () => {})
  const route = routes.find(({ url }) => url.endsWith('.js'))
  const reply = { header: () => reply, send: (body: string) => body }
  const script = route?.handler({}, reply)
  if (typeof script !== 'string' || script.length < 1_000_000) throw new Error('the plugin of Scalar has no browser script')
  return script
}
