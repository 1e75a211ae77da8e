// Faults: B18
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { recordFigure } from '@vitascope/testing'
import fc from 'fast-check'
import { routes } from '../src/table.ts'
import { payloadFields, type RouteCase, routeCases } from './route-cases.ts'
import { openTestTarget, type TestTarget } from './test-target.ts'

const RUNS = Number(process.env['VITASCOPE_TEST_RUNS'] ?? 2_000)
/**
 * The time limits hold on an idle machine, where `VITASCOPE_TEST_RUNS` is set. Otherwise they are
 * ten times as high.
 */
const timeFactor = process.env['VITASCOPE_TEST_RUNS'] === undefined ? 10 : 1
let testTarget: TestTarget
const agent = new Agent({ keepAlive: true })
beforeAll(async () => {
  testTarget = await openTestTarget(routes)
})
afterAll(async () => {
  agent.destroy()
  await testTarget?.stop()
})

interface GeneratedRequest {
  method: string
  path: string
  headers: Record<string, string>
  body: string
}

const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e309',
    '0x10',
    ' 5',
    '９',
    '9007199254740993',
    '__proto__',
    'constructor',
    '../..',
    "' or 1=1 --",
    '<script>',
    '\0',
    '\ud800',
    'null',
    '[]',
    '{}',
  ),
  fc.bigInt().map(String),
)
const json = fc.jsonValue({ maxDepth: 4 })

/** Generates requests for a route. Everything except the method can be invalid. */
function arbitraryRequest(one: RouteCase): fc.Arbitrary<GeneratedRequest> {
  const names = [...Object.keys(payloadFields(one.route)), ...Object.keys(one.route.query.shape)]
  const name = fc.oneof(fc.constantFrom('data', ...names), hostileText)
  const fields = fc.dictionary(name, fc.oneof(hostileText, json), { maxKeys: 8 })
  const payload = fc.oneof(fields, fc.array(fields, { maxLength: 4 }))
  const form = fc
    .array(fc.tuple(name, hostileText), { maxLength: 8 })
    .map((pairs) => pairs.map(([n, v]) => `${encode(n)}=${encode(v)}`).join('&'))
  const body = fc.oneof(
    payload.map((value) => ({ type: 'application/json', text: JSON.stringify(value) })),
    payload.map((value) => ({ type: 'application/x-www-form-urlencoded', text: `data=${encode(JSON.stringify(value))}` })),
    form.map((text) => ({ type: 'application/x-www-form-urlencoded', text })),
    fc
      .tuple(fc.constantFrom('application/json', 'multipart/form-data; boundary=b', 'text/plain', '', ';;'), hostileText)
      .map(([type, text]) => ({ type, text })),
  )
  return fc
    .record({
      path: fc.array(hostileText, { minLength: one.target.params.length, maxLength: one.target.params.length }),
      query: fc.oneof(fc.constant(''), form),
      body,
      caller: fc.constantFrom('guest', 'uploader', 'standard', 'system'),
      extra: fc.dictionary(
        fc.constantFrom('if-none-match', 'idempotency-key', 'x-request-id', 'x-forwarded-for', 'accept', 'range'),
        fc.string({ maxLength: 40 }),
      ),
      raw: fc.boolean(),
    })
    .map(({ path, query, body: { type, text }, caller, extra, raw }) => {
      let place = 0
      const filled = one.target.path.replaceAll(/:\w+/g, () => (raw ? encodeURI(safe(path[place++] ?? '')) : encode(path[place++] ?? '')))
      const key = caller === 'guest' ? undefined : testTarget.keys[caller as 'uploader']
      return {
        method: one.method,
        path: `/v2${filled}${query === '' ? '' : `?${query}`}`,
        headers: {
          ...Object.fromEntries(Object.entries(extra).map(([header, value]) => [header, value.replaceAll(/[^\x20-\x7e]/g, '')])),
          ...(type !== '' && { 'content-type': type }),
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
        },
        body: one.method === 'GET' ? '' : text,
      }
    })
}

function safe(text: string): string {
  return text.toWellFormed().replaceAll(/[#?]/g, '')
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function send({ method, path, headers, body }: GeneratedRequest): Promise<{ status: number; text: string; ms: number }> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body)
    const outgoing = request(
      `${testTarget.url}/`,
      { agent, method, path, headers: { ...headers, 'content-length': bytes.length } },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text, ms: performance.now() - started }))
      },
    )
    outgoing.on('error', reject).end(bytes)
  })
}

test(`${RUNS} random requests to all routes get well-formed responses without internal errors`, async () => {
  const times: number[] = []
  // GETs of the work queue and of ids change state. On a platform they only consume ids.
  // Proxied routes have a backend only on a whole platform.
  const testedRoutes = process.env['VITASCOPE_TEST_URL'] === undefined ? routes.filter(({ proxyTo }) => !proxyTo) : routes
  const anyRequest = fc.constantFrom(...routeCases(testedRoutes)).chain(arbitraryRequest)
  await fc.assert(
    fc.asyncProperty(anyRequest, async (one) => {
      const { status, text, ms } = await send(one)
      times.push(ms)
      expect(status).toBeGreaterThanOrEqual(200)
      expect(status).toBeLessThan(500)
      expect(text).not.toMatch(/\bat .*\.ts:\d|node_modules|select .* from|\/apps\/|\/libs\//)
      if (status >= 400)
        expect(JSON.parse(text)).toMatchObject({ status, code: expect.stringMatching(/^[a-z0-9_]+$/), request_id: expect.any(String) })
    }),
    { numRuns: RUNS, ...(process.env['VITASCOPE_TEST_SEED'] && { seed: Number(process.env['VITASCOPE_TEST_SEED']) }) },
  )
  times.sort((a, b) => a - b)
  const [p99 = 0, slowest = 0] = [times[Math.floor(times.length * 0.99)], times.at(-1)].map((ms) => Math.round(ms ?? 0))
  recordFigure('B18', `${times.length} requests, 99 % in ${p99} ms, the slowest in ${slowest} ms`)
  expect(times.at(-1)).toBeLessThan(2_000 * timeFactor)
  expect(times[Math.floor(times.length * 0.99)]).toBeLessThan(300 * timeFactor)
  expect(Object.keys(Object.prototype)).toEqual([])
})
