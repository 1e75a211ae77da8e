import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { sendRaw, statuses } from './raw-request.ts'
import { sampleRoutes } from './sample-routes.ts'
import { aKey, type StandIns, startOrigin, startStandIns } from './stand-ins.ts'
import { startTestGateway, testPrincipalKey, withKey } from './started-gateway.ts'

let standIns: StandIns
let delivery: Awaited<ReturnType<typeof startOrigin>>
let gateway: Awaited<ReturnType<typeof startTestGateway>>
let webDir: string
const systemKey = aKey()

beforeAll(async () => {
  webDir = mkdtempSync(join(tmpdir(), 'vitascope-web-'))
  mkdirSync(join(webDir, 'assets'))
  writeFileSync(join(webDir, 'index.html'), '<!doctype html><title>Video</title>')
  writeFileSync(join(webDir, 'assets', 'main-1a2b.js'), 'export {}\n')
  writeFileSync(join(webDir, 'secret.txt'), 'not for you')
  standIns = await startStandIns(testPrincipalKey)
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

const ask = (path: string, init: RequestInit = {}) => fetch(`${gateway.url}${path}`, { redirect: 'manual', ...init })

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
  ])('%s answers %i', async (path, status) => {
    expect((await ask(path)).status).toBe(status)
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
  ])('%s is taken as it is written and answers %i', async (path, status) => {
    expect(statuses(await sendRaw(gateway.address, `GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`))).toEqual([status])
  })

  test('a parameter keeps what its percent-encoding holds', async () => {
    expect(await (await ask('/v2/sample/a%2F..%2Fb')).json()).toMatchObject({ sample_id: 'a/../b' })
  })

  test('an optional part may be left out', async () => {
    const headers = withKey(systemKey)
    expect(await (await ask('/v2/samples', { headers })).json()).toEqual(['name'])
    expect(await (await ask('/v2/samples/age', { headers })).json()).toEqual(['age'])
  })
})

describe('verbs', () => {
  test('a known path with another verb is 405 and names those that it takes', async () => {
    const response = await ask('/v2/sample/12', { method: 'PATCH' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('DELETE, GET, HEAD, OPTIONS')
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed', status: 405 })
  })
  test('an alias does the same under its own verb', async () => {
    const headers = { ...withKey(systemKey), 'content-type': 'application/json' }
    const response = await ask('/v2/sample/create', { method: 'PUT', headers, body: '{"title":"x"}' })
    expect(response.status).toBe(201)
    expect((await ask('/v2/sample/create', { method: 'POST', headers, body: '{"title":"x"}' })).status).toBe(405)
  })
  test('HEAD answers as GET does, without the body', async () => {
    const [get, head] = [await ask('/v2/sample/12'), await ask('/v2/sample/12', { method: 'HEAD' })]
    expect(head.status).toBe(200)
    expect(head.headers.get('etag')).toBe(get.headers.get('etag'))
    expect(head.headers.get('content-length')).toBe(String((await get.text()).length))
    expect(await head.text()).toBe('')
  })
  test('HEAD is 405 where GET makes something', async () => {
    const response = await ask('/v2/sample/id', { method: 'HEAD' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, OPTIONS')
  })
  test('what GET makes is not to be stored', async () => {
    const response = await ask('/v2/sample/id')
    expect(await response.json()).toEqual({ id: '7' })
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('etag')).toBeNull()
  })
  test('OPTIONS answers a preflight', async () => {
    const response = await ask('/v2/sample', {
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
    expect((await ask('/v2/unknown', { method: 'OPTIONS' })).status).toBe(404)
  })
  test('only the origins that may are named', async () => {
    const strict = await startTestGateway(sampleRoutes, { corsOrigins: ['https://good.example'] })
    const from = async (origin: string) => (await fetch(`${strict.url}/v2/sample/1`, { headers: { origin } })).headers
    expect((await from('https://good.example')).get('access-control-allow-origin')).toBe('https://good.example')
    expect((await from('https://bad.example')).get('access-control-allow-origin')).toBeNull()
    expect((await from('https://bad.example')).get('vary')).toContain('Origin')
    await strict.stop()
  })
})

describe('an answer', () => {
  test('of a record has a strong tag that saves sending it again', async () => {
    const first = await ask('/v2/sample/12')
    const tag = first.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[\w-]{27}"$/)
    expect(first.headers.get('cache-control')).toBe('public, max-age=0, must-revalidate')
    expect(first.headers.get('vary')).toBe('Authorization')
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await ask('/v2/sample/12', { headers: { 'if-none-match': known } })
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, tag, ''])
    }
    expect((await ask('/v2/sample/12', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    expect((await ask('/v2/sample/13', { headers: { 'if-none-match': tag } })).status).toBe(200)
  })
  test('to a key is private', async () => {
    const response = await ask('/v2/sample/12', { headers: withKey(systemKey) })
    expect(response.headers.get('cache-control')).toBe('private, no-cache')
    expect(await response.json()).toMatchObject({ caller: 'user' })
  })
  test.each(['/v2/sample/12', '/v2/unknown', '/healthz', '/v2/sample/all', '/docs', '/player/12'])(
    'of %s has the caller’s request id, and is taken for what it says it is',
    async (path) => {
      const response = await ask(path, { headers: { 'x-request-id': 'my-request.1' } })
      expect(response.headers.get('x-request-id')).toBe('my-request.1')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('x-powered-by')).toBeNull()
    },
  )
  test('gets an id of its own where the caller’s is none', async () => {
    for (const bad of ['', 'a b', 'x'.repeat(65), '<script>']) {
      const response = await ask('/v2/sample/12', { headers: { 'x-request-id': bad } })
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
  })
})

describe('a problem', () => {
  test('has the eight members, and the request’s id', async () => {
    const response = await ask('/v2/sample/12?limit=x')
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
  test('of our own fault says nothing of itself', async () => {
    const response = await ask('/v2/sample/12/password/hunter2-is-it')
    const problem = await response.json()
    expect(problem).toMatchObject({ status: 500, code: 'internal', instance: '/v2/sample/12/password/:password' })
    expect(JSON.stringify(problem)).not.toMatch(/hunter2|fault that|\.ts/)
  })
  test('does not repeat what stood where an id belongs', async () => {
    expect(await (await ask(`/v2/sample/${systemKey}?limit=x`)).json()).toMatchObject({ instance: '/v2/sample/:sample_id' })
    expect(await (await ask(`/v2/unknown/${systemKey}`)).json()).toMatchObject({ instance: '/v2' })
  })
  test('says when to try again while a service is away', async () => {
    const alone = await startTestGateway(sampleRoutes)
    const response = await fetch(`${alone.url}/v2/sample/id`)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await response.json()).toMatchObject({ code: 'service_unavailable' })
    await alone.stop()
  })
})

describe('what is no request as it should be', () => {
  const request = (line: string, ...headers: string[]) => [line, ...headers, '', ''].join('\r\n')
  const get = 'GET /v2/sample/12 HTTP/1.1'
  test.each([
    ['two lengths', `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Content-Length: 1', 'Content-Length: 2')}ab`],
    [
      'a length and a transfer coding',
      `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    ],
    ['a transfer coding that is unknown', `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Transfer-Encoding: xchunked')}0\r\n\r\n`],
    ['two transfer codings', `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`],
    [
      'two headers of transfer codings',
      `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n`,
    ],
    ['a blank before the colon', `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Transfer-Encoding : chunked')}0\r\n\r\n`],
    ['a length with a sign', `${request('POST /v2/sample HTTP/1.1', 'Host: h', 'Content-Length: +1')}a`],
    [
      'a chunk size that is none',
      request('POST /v2/sample HTTP/1.1', 'Host: h', 'Content-Type: application/json', systemHeader(), 'Transfer-Encoding: chunked') +
        '0x2\r\n{}\r\n0\r\n\r\n',
    ],
    ['lines that end in LF alone', `${get}\nHost: h\n\n`],
    ['a folded header', request(get, 'Host: h', 'X-Folded: a', ' b')],
    ['a NUL in a header', request(get, 'Host: h', 'X-Nul: a\0b')],
    ['no host', request(get)],
    ['two hosts', request(get, 'Host: h', 'Host: evil')],
    ['a whole address', request('GET http://evil/v2/sample/12 HTTP/1.1', 'Host: h')],
    ['a percent-encoded NUL in the path', request('GET /v2/sample/a%00b HTTP/1.1', 'Host: h')],
    ['a percent-encoded NUL in the path of nothing', request('GET /nothing/a%00b HTTP/1.1', 'Host: h')],
    ['a percent-encoded NUL in a query that nobody knows', request('GET /v2/sample/12?x=%00 HTTP/1.1', 'Host: h')],
    ['an invalid percent-encoding in the path', request('GET /v2/sample/%E0%A4%A HTTP/1.1', 'Host: h')],
    ['an invalid percent-encoding in the query', request('GET /v2/sample/12?x=%zz HTTP/1.1', 'Host: h')],
    ['raw bytes in the path', Buffer.from(request('GET /v2/sample/\xe9 HTTP/1.1', 'Host: h'), 'latin1')],
    ['a fragment', request('GET /v2/sample/12#x HTTP/1.1', 'Host: h')],
    ['an asterisk', request('OPTIONS * HTTP/1.1', 'Host: h')],
    ['no HTTP at all', 'hello\r\n\r\n'],
  ])('%s is 400', async (_, raw) => {
    const answer = await sendRaw(gateway.address, raw)
    expect(statuses(answer)[0]).toBe(400)
    // What follows in the same bytes was not taken for a request of its own.
    expect(statuses(answer)).toHaveLength(1)
  })
  test('headers of 17 KB are 431', async () => {
    const answer = await sendRaw(gateway.address, request(get, 'Host: h', `X-Long: ${'x'.repeat(17 * 1024)}`))
    expect(statuses(answer)).toEqual([431])
    expect(answer).toContain('application/problem+json')
  })
})

function systemHeader(): string {
  return `Authorization: Bearer ${systemKey}`
}

describe('pages', () => {
  test('readiness names what is missing', async () => {
    const alone = await startTestGateway(sampleRoutes)
    const response = await fetch(`${alone.url}/readyz`)
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
    expect((await fetch(`${alone.url}/healthz`)).status).toBe(200)
    await alone.stop()
  })
  test('/readyz and /healthz take no other verbs', async () => {
    expect((await ask('/readyz', { method: 'POST' })).status).toBe(405)
    expect((await ask('/healthz', { method: 'HEAD' })).status).toBe(200)
  })
  test('/openapi.json describes every route in OpenAPI 3.1', async () => {
    const document = (await (await ask('/openapi.json')).json()) as { openapi: string; paths: Record<string, Record<string, unknown>> }
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/sample/{sample_id}', '/sample/all', '/samples', '/samples/{order}', '/sample', '/sample/create']),
    )
    expect(document.paths['/sample/create']?.['put']).toMatchObject({
      'x-acl-resource': 'sample::post',
      'x-refusals': { sample_taken: expect.any(String) },
    })
    expect(document.paths['/sample']?.['post']).toMatchObject({
      requestBody: { content: { 'application/json': {}, 'application/x-www-form-urlencoded': {}, 'multipart/form-data': {} } },
    })
  })
  test('/docs is titled, explains codes, and needs no other host', async () => {
    const response = await ask('/docs')
    const html = await response.text()
    expect(html).toContain('<title>Vitascope API</title>')
    expect(html).toContain('id="sample_taken"')
    expect(html).not.toMatch(/(src|href)="(https?:)?\/\//)
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self'")
    for (const [, path = ''] of html.matchAll(/(?:src|href)="(\/[^"]+)"/g)) expect((await ask(path)).status).toBe(200)
    expect((await ask('/docs/swagger-ui-bundle.js.map')).status).toBe(404)
  })
  test('/player/{id} is the page, its files are kept for good', async () => {
    const response = await ask('/player/12?token=x')
    expect(response.status).toBe(404)
    expect(await response.text()).toContain('<title>Not available</title>')
    expect(response.headers.get('content-security-policy')).toContain(`connect-src 'self' ${gateway.url}`)
    const file = await ask('/player/assets/main-1a2b.js')
    expect(file.headers.get('cache-control')).toContain('immutable')
    expect(file.headers.get('content-type')).toContain('javascript')
    const missing = await ask('/player/assets/other.js')
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
  })
  test('/player/{id} is 404 where the pages are not built', async () => {
    const bare = await startTestGateway(sampleRoutes)
    expect((await fetch(`${bare.url}/player/12`)).status).toBe(404)
    await bare.stop()
  })
  test('/ leads to the docs', async () => {
    const response = await ask('/')
    expect([response.status, response.headers.get('location')]).toEqual([302, '/docs'])
  })
})
