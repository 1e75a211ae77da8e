// Faults: B10, B17, A19
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { sendRaw, statuses } from './raw-request.ts'
import { sampleRoutes } from './sample-routes.ts'
import { nextApiKey, type StandIns, startOrigin, startStandIns } from './stand-ins.ts'
import { startTestGateway, withKey } from './started-gateway.ts'

let standIns: StandIns
let delivery: Awaited<ReturnType<typeof startOrigin>>
let gateway: Awaited<ReturnType<typeof startTestGateway>>
let webDir: string
const systemKey = nextApiKey()

beforeAll(async () => {
  webDir = mkdtempSync(join(tmpdir(), 'vitascope-web-'))
  mkdirSync(join(webDir, 'assets'))
  writeFileSync(join(webDir, 'index.html'), '<!doctype html><title>Video</title>')
  writeFileSync(join(webDir, 'assets', 'main-1a2b.js'), 'export {}\n')
  writeFileSync(join(webDir, 'secret.txt'), 'not for you')
  standIns = await startStandIns()
  standIns.keys.set(systemKey, {
    keyId: '1',
    userType: 'system',
    organisationId: '1',
    resources: ['sample::get', 'sample::post', 'sample::delete'],
  })
  delivery = await startOrigin((_request, response) => response.end('ok\n'))
  const { address } = standIns
  gateway = await startTestGateway(sampleRoutes, {
    authAddress: address,
    catalogueAddress: address,
    encodingAddress: address,
    collaborationAddress: address,
    analyticsAddress: address,
    deliveryUrl: delivery.url,
    webDir,
  })
  await waitFor(async () => (await fetch(`${gateway.url}/readyz`)).ok, { describe: 'the gateway to be ready' })
})
afterAll(async () => {
  await gateway?.stop()
  await standIns?.stop()
  await delivery?.stop()
  rmSync(webDir, { recursive: true })
})

const call = (path: string, init: RequestInit = {}) => fetch(`${gateway.url}${path}`, { redirect: 'manual', ...init })

describe('paths', () => {
  test.each([
    ['/v2/sample/12', 200],
    ['/v2/sample/12/', 200],
    ['/v2/sample/', 405],
    ['/v2/sample/12//', 404],
    ['/v2//sample/12', 404],
    ['//v2/sample/12', 404],
    ['/V2/sample/12', 404],
    ['/v2/Sample/12', 404],
    ['/v2/sample/12/unknown', 404],
    ['/v2/unknown', 404],
    ['/v2', 404],
    ['/unknown', 404],
    ['/v2/sample/all', 401],
    ['/v2/samples;x', 404],
    ['/v2/sample%2Fall', 404],
    ['/v2/%73ample/12', 404],
  ])('%s returns %i', async (path, status) => {
    expect((await call(path)).status).toBe(status)
  })

  // fetch would resolve dots itself.
  test.each([
    ['/v2/sample/..%2fall', 200],
    ['/v2/sample/%2e%2e', 200],
    ['/v2/x/../sample/12', 404],
    ['/v2/sample/12/../all', 404],
    ['/player/assets/..%2fsecret.txt', 404],
    ['/player/assets/%2e%2e/secret.txt', 404],
    ['/player/assets/../secret.txt', 404],
    ['/docs/../healthz', 404],
    ['/docs/%2e%2e/healthz', 404],
  ])('%s is not resolved and returns %i', async (path, status) => {
    expect(statuses(await sendRaw(gateway.address, `GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`))).toEqual([status])
  })

  test('decodes percent-encoding in a parameter once', async () => {
    expect(await (await call('/v2/sample/a%2F..%2Fb')).json()).toMatchObject({ sample_id: 'a/../b' })
  })

  test('matches a path without its optional segment', async () => {
    const headers = withKey(systemKey)
    expect(await (await call('/v2/samples', { headers })).json()).toEqual(['name'])
    expect(await (await call('/v2/samples/age', { headers })).json()).toEqual(['age'])
  })
})

describe('methods', () => {
  test('returns 405 with Allow for a method that the path does not have', async () => {
    const response = await call('/v2/sample/12', { method: 'PATCH' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('DELETE, GET, HEAD, OPTIONS')
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed', status: 405 })
  })
  test('an alias accepts its own method only', async () => {
    const headers = { ...withKey(systemKey), 'content-type': 'application/json' }
    const response = await call('/v2/sample/create', { method: 'PUT', headers, body: '{"title":"x"}' })
    expect(response.status).toBe(201)
    expect((await call('/v2/sample/create', { method: 'POST', headers, body: '{"title":"x"}' })).status).toBe(405)
  })
  test('HEAD returns the headers of GET without a body', async () => {
    const [get, head] = [await call('/v2/sample/12'), await call('/v2/sample/12', { method: 'HEAD' })]
    expect(head.status).toBe(200)
    expect(head.headers.get('etag')).toBe(get.headers.get('etag'))
    expect(head.headers.get('content-length')).toBe(String((await get.text()).length))
    expect(await head.text()).toBe('')
  })
  test('HEAD returns 405 if GET creates something', async () => {
    const response = await call('/v2/sample/id', { method: 'HEAD' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, OPTIONS')
  })
  test('a GET that creates something returns no-store', async () => {
    const response = await call('/v2/sample/id')
    expect(await response.json()).toEqual({ id: '7' })
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('etag')).toBeNull()
  })
  test('OPTIONS responds to a preflight', async () => {
    const response = await call('/v2/sample', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://www.example.org',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-allow-methods')).toBe('OPTIONS, POST')
    expect(response.headers.get('access-control-allow-headers')).toContain('Authorization')
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
    expect((await call('/v2/unknown', { method: 'OPTIONS' })).status).toBe(404)
  })
  test('allows only the configured origins', async () => {
    const strict = await startTestGateway(sampleRoutes, { corsOrigins: ['https://good.example'] })
    const from = async (origin: string) => (await fetch(`${strict.url}/v2/sample/1`, { headers: { origin } })).headers
    expect((await from('https://good.example')).get('access-control-allow-origin')).toBe('https://good.example')
    expect((await from('https://bad.example')).get('access-control-allow-origin')).toBeNull()
    expect((await from('https://bad.example')).get('vary')).toContain('Origin')
    await strict.stop()
  })
})

describe('a response', () => {
  test('has a strong ETag, and is 304 for a matching If-None-Match', async () => {
    const first = await call('/v2/sample/12')
    const tag = first.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[\w-]{27}"$/)
    expect(first.headers.get('cache-control')).toBe('public, max-age=0, must-revalidate')
    expect(first.headers.get('vary')).toBe('Authorization')
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const repeated = await call('/v2/sample/12', { headers: { 'if-none-match': known } })
      expect([repeated.status, repeated.headers.get('etag'), await repeated.text()]).toEqual([304, tag, ''])
    }
    expect((await call('/v2/sample/12', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    expect((await call('/v2/sample/13', { headers: { 'if-none-match': tag } })).status).toBe(200)
  })
  test('to a request with a key is private', async () => {
    const response = await call('/v2/sample/12', { headers: withKey(systemKey) })
    expect(response.headers.get('cache-control')).toBe('private, no-cache')
    expect(await response.json()).toMatchObject({ caller: 'user' })
  })
  test.each(['/v2/sample/12', '/v2/unknown', '/healthz', '/v2/sample/all', '/docs', '/player/12'])(
    'of %s has the request id of the client and nosniff',
    async (path) => {
      const response = await call(path, { headers: { 'x-request-id': 'my-request.1' } })
      expect(response.headers.get('x-request-id')).toBe('my-request.1')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('x-powered-by')).toBeNull()
    },
  )
  test('has a new request id if the one of the client is invalid', async () => {
    for (const bad of ['', 'a b', 'x'.repeat(65), '<script>']) {
      const response = await call('/v2/sample/12', { headers: { 'x-request-id': bad } })
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
  })
})

describe('a problem', () => {
  test('has eight members, including the request id', async () => {
    const response = await call('/v2/sample/12?limit=x')
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await response.json()).toEqual({
      type: `${gateway.url}/docs#invalid_input`,
      title: 'Invalid input',
      status: 400,
      detail: expect.stringContaining('limit'),
      instance: '/v2/sample/12',
      code: 'invalid_input',
      request_id: response.headers.get('x-request-id'),
      errors: [{ field: 'limit', message: expect.any(String) }],
    })
  })
  test('for an internal error has no details', async () => {
    const response = await call('/v2/sample/12/password/hunter2-is-it')
    const problem = await response.json()
    expect(problem).toMatchObject({ status: 500, code: 'internal', instance: '/v2/sample/12/password/:password' })
    expect(JSON.stringify(problem)).not.toMatch(/hunter2|fault that|\.ts/)
  })
  test('does not repeat the value of a path parameter', async () => {
    expect(await (await call(`/v2/sample/${systemKey}?limit=x`)).json()).toMatchObject({ instance: '/v2/sample/:sample_id' })
    expect(await (await call(`/v2/unknown/${systemKey}`)).json()).toMatchObject({ instance: '/v2/unknown/…' })
  })
  test('has Retry-After while a service is unavailable', async () => {
    const withoutServices = await startTestGateway(sampleRoutes)
    const response = await fetch(`${withoutServices.url}/v2/sample/id`)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await response.json()).toMatchObject({ code: 'service_unavailable' })
    await withoutServices.stop()
  })
})

describe('a malformed request', () => {
  const request = (line: string, ...headers: string[]) => [line, ...headers, '', ''].join('\r\n')
  const get = 'GET /v2/sample/12 HTTP/1.1'
  test.each([
    ['with two Content-Length headers', `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Content-Length: 1', 'Content-Length: 2')}ab`],
    [
      'with Content-Length and Transfer-Encoding',
      `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    ],
    ['with an unknown Transfer-Encoding', `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Transfer-Encoding: xchunked')}0\r\n\r\n`],
    ['with two transfer codings', `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`],
    [
      'with two Transfer-Encoding headers',
      `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n`,
    ],
    ['with a space before the colon', `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Transfer-Encoding : chunked')}0\r\n\r\n`],
    ['with a signed Content-Length', `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Content-Length: +1')}a`],
    [
      'with an invalid chunk size',
      request('POST /v2/sample HTTP/1.1', 'Host: h', 'Content-Type: application/json', systemHeader(), 'Transfer-Encoding: chunked') +
        '0x2\r\n{}\r\n0\r\n\r\n',
    ],
    ['with lines that end in LF only', `${get}\nHost: h\n\n`],
    ['with a folded header', request(get, 'Host: h', 'X-Folded: a', ' b')],
    ['with a NUL in a header', request(get, 'Host: h', 'X-Nul: a\0b')],
    ['without Host', request(get)],
    ['with two Host headers', request(get, 'Host: h', 'Host: evil')],
    ['with an absolute URL', request('GET http://evil/v2/sample/12 HTTP/1.1', 'Host: h')],
    ['with %00 in the path', request('GET /v2/sample/a%00b HTTP/1.1', 'Host: h')],
    ['with %00 in an unknown path', request('GET /nothing/a%00b HTTP/1.1', 'Host: h')],
    ['with %00 in an unknown query parameter', request('GET /v2/sample/12?x=%00 HTTP/1.1', 'Host: h')],
    ['with invalid percent-encoding in the path', request('GET /v2/sample/%E0%A4%A HTTP/1.1', 'Host: h')],
    ['with invalid percent-encoding in the query', request('GET /v2/sample/12?x=%zz HTTP/1.1', 'Host: h')],
    ['with raw bytes in the path', Buffer.from(request('GET /v2/sample/\xe9 HTTP/1.1', 'Host: h'), 'latin1')],
    ['with a fragment', request('GET /v2/sample/12#x HTTP/1.1', 'Host: h')],
    ['with an asterisk as its path', request('OPTIONS * HTTP/1.1', 'Host: h')],
    ['that is not HTTP', 'hello\r\n\r\n'],
  ])('%s returns 400', async (_, raw) => {
    const response = await sendRaw(gateway.address, raw)
    expect(statuses(response)[0]).toBe(400)
    // The rest of the bytes is not parsed as a second request.
    expect(statuses(response)).toHaveLength(1)
  })
  test('with 17 KB of headers returns 431', async () => {
    const response = await sendRaw(gateway.address, request(get, 'Host: h', `X-Long: ${'x'.repeat(17 * 1024)}`))
    expect(statuses(response)).toEqual([431])
    expect(response).toContain('application/problem+json')
  })
})

function systemHeader(): string {
  return `Authorization: Bearer ${systemKey}`
}

describe('pages', () => {
  test('/readyz names the unavailable services', async () => {
    const withoutServices = await startTestGateway(sampleRoutes)
    const response = await fetch(`${withoutServices.url}/readyz`)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    const { errors } = (await response.json()) as { errors: { field: string }[] }
    expect(errors.map(({ field }) => field)).toEqual([
      'auth',
      'catalogue',
      'encoding',
      'collaboration',
      'analytics',
      'delivery',
      'resources',
    ])
    expect((await fetch(`${withoutServices.url}/healthz`)).status).toBe(200)
    await withoutServices.stop()
  })
  test('/readyz and /healthz accept GET and HEAD only', async () => {
    expect((await call('/readyz', { method: 'POST' })).status).toBe(405)
    expect((await call('/healthz', { method: 'HEAD' })).status).toBe(200)
  })
  test('/openapi.json describes every route in OpenAPI 3.1', async () => {
    const document = (await (await call('/openapi.json')).json()) as { openapi: string; paths: Record<string, Record<string, unknown>> }
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/sample/{sample_id}', '/sample/all', '/samples', '/samples/{order}', '/sample', '/sample/create']),
    )
    expect(document.paths['/sample/create']?.['put']).toMatchObject({
      'x-acl-resource': 'sample::post',
      'x-rejections': { sample_taken: expect.any(String) },
    })
    expect(document.paths['/sample']?.['post']).toMatchObject({
      requestBody: { content: { 'application/json': {}, 'application/x-www-form-urlencoded': {}, 'multipart/form-data': {} } },
    })
  })
  test('/player/{id} returns the page, and its assets are immutable', async () => {
    const response = await call('/player/12?autoplay=1')
    expect(response.status).toBe(404)
    // The script of the page finds out whether the token shows a private video.
    expect((await call('/player/12?token=x')).status).toBe(200)
    expect(await response.text()).toContain('<title>Not available</title>')
    expect(response.headers.get('content-security-policy')).toContain(`connect-src 'self' ${gateway.url}`)
    const file = await call('/player/assets/main-1a2b.js')
    expect(file.headers.get('cache-control')).toContain('immutable')
    expect(file.headers.get('content-type')).toContain('javascript')
    const missing = await call('/player/assets/other.js')
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
  })
  test('/player/{id} returns 404 if the pages are not built', async () => {
    const withoutPages = await startTestGateway(sampleRoutes)
    expect((await fetch(`${withoutPages.url}/player/12`)).status).toBe(404)
    await withoutPages.stop()
  })
})
