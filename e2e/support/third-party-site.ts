import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An external web site, whose origin differs from the platform's. */
export interface ThirdPartySite {
  url: string
  /** Adds a page; `policy` is its Content-Security-Policy. */
  serve(path: string, body: string, policy?: string): void
  serveScript(path: string, code: string): void
  close(): Promise<void>
}

export async function startThirdPartySite(): Promise<ThirdPartySite> {
  const pages = new Map<string, { body: string; policy: string | undefined }>()
  const scripts = new Map<string, string>()
  const server = createServer((request, response) => {
    const script = scripts.get(request.url ?? '')
    if (script !== undefined) return response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' }).end(script)
    const page = pages.get(request.url ?? '')
    if (page?.policy) response.setHeader('Content-Security-Policy', page.policy)
    // Browsers request an icon and log an error if it is missing.
    response
      .writeHead(page || request.url === '/favicon.ico' ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' })
      .end(page?.body ?? '')
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (path, body, policy) => pages.set(path, { body: `<!doctype html><html lang="en"><title>News</title>${body}`, policy }),
    serveScript: (path, code) => scripts.set(path, code),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
