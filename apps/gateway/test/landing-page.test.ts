import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sampleRoutes } from './sample-routes.ts'
import { startTestGateway } from './started-gateway.ts'

/** `Accept` of a browser that opens an address. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

let gateway: Awaited<ReturnType<typeof startTestGateway>>
beforeAll(async () => {
  gateway = await startTestGateway(sampleRoutes)
})
afterAll(() => gateway?.stop())

/** Sends a request as a browser that opens an address. The client `fetch` sends `Sec-Fetch-Mode: cors`, like a script of a page. */
async function open(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const sent = request(`${gateway.url}${path}`, { method, headers: { accept: BROWSER, ...headers } }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) }
}

describe('the landing page', () => {
  test('links to the console, the upload page and the documentation, and has no script', async () => {
    const response = await open('/')
    const html = response.text
    expect([response.status, response.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    for (const href of ['/console', '/upload', '/docs', '/docs/api']) expect(html).toContain(`<a href="${href}">`)
    expect(html).not.toContain('<script')
    const policy = response.headers['content-security-policy']
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; img-src data:;.*frame-ancestors 'none'$/)
    expect((await fetch(`${gateway.url}/`)).status).toBe(200)
  })
  test('has the language that the browser prefers, or English if that language is not supported', async () => {
    const read = async (language: string) => /<html lang="(\w+)">/.exec((await open('/', { 'accept-language': language })).text)?.[1]
    expect(await Promise.all(['de-DE,de;q=0.9,en;q=0.8', 'fr, en;q=0.5, de;q=0.3', 'fr', ''].map(read))).toEqual(['de', 'en', 'en', 'en'])
    expect((await open('/')).headers.vary).toContain('Accept-Language')
  })
  test('has no body for HEAD, and rejects other methods', async () => {
    const head = await open('/', {}, 'HEAD')
    expect([head.status, head.text]).toEqual([200, ''])
    expect((await open('/', {}, 'POST')).status).toBe(405)
  })
})

describe('an error', () => {
  test('for a page request of a browser is an HTML page', async () => {
    const response = await open('/nothing/unlisted-part', { 'x-request-id': 'support-42' })
    const html = response.text
    expect([response.status, response.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(html).toContain('<h1>There is no such page</h1>')
    expect(html).toContain('<code>not_found</code> · <code>support-42</code>')
    expect(html).not.toContain('unlisted-part')
    expect(response.headers['cache-control']).toBe('no-store')
    expect(response.headers['vary']).toContain('Accept')
    const head = await open('/nothing', {}, 'HEAD')
    expect([head.status, head.headers['content-type'], head.text]).toEqual([404, 'text/html; charset=utf-8', ''])
  })
  test('has the language of the browser', async () => {
    expect((await open('/nichts', { 'accept-language': 'de' })).text).toContain('<h1>Diese Seite gibt es nicht</h1>')
  })
  test('on a player path can be embedded by every site', async () => {
    const response = await open('/player/42/nothing')
    expect([response.status, response.headers['content-security-policy']]).toEqual([404, expect.stringContaining('frame-ancestors *')])
    expect(response.text).not.toContain('<a class="button')
  })
  test.each([
    ['a client of the API', '/nothing', { accept: '*/*' }],
    ['a client that accepts JSON', '/nothing', { accept: 'application/json' }],
    ['a script of a page', '/nothing', { 'sec-fetch-mode': 'cors' }],
    ['a path of the API in a browser', '/v2/nothing', {}],
    ['another version of the API in a browser', '/v3/video', {}],
    ['the root of the API in a browser', '/v2', {}],
    ['a probe in a browser', '/readyz', {}],
  ])('for %s is a problem document', async (_, path, headers) => {
    const response = await open(path, headers)
    expect([response.status >= 400, response.headers['content-type']]).toEqual([true, 'application/problem+json'])
    expect(JSON.parse(response.text)).toMatchObject({ status: response.status, code: expect.any(String) })
  })
  test('for a method other than GET and HEAD is a problem document', async () => {
    expect((await open('/nothing', {}, 'POST')).headers['content-type']).toBe('application/problem+json')
  })
})
