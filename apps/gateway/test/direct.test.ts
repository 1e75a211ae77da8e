import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { createGrpcServer, type GrpcServer } from '@vitascope/grpc'
import { type AcceptEventsRequest, EventServiceService } from '@vitascope/proto/analytics/v1/event'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { z } from 'zod'
import { eventRoutes } from '../src/api/analytics/event-routes.ts'
import { route } from '../src/server/route/route.ts'
import { directRoutes } from '../src/server/routing/direct-routes.ts'
import { nextApiKey, type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway } from './started-gateway.ts'

type Gateway = Awaited<ReturnType<typeof startTestGateway>>

let standIns: StandIns
let service: GrpcServer
/**
 * Gateways with the same routes, with and without bypassing Express, for any CORS origin and for
 * one.
 */
let pairs: Record<'any' | 'one', { direct: Gateway; express: Gateway }>
const key = nextApiKey()

beforeAll(async () => {
  standIns = await startStandIns()
  standIns.keys.set(key, { keyId: '1', userType: 'uploader', organisationId: '2', resources: ['analytics::get'] })
  service = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('analytics') })
  const accept = ({ events, userAgent }: AcceptEventsRequest) => {
    if (userAgent === 'error') throw new Error('an error of this test')
    if (userAgent === 'unavailable') throw new DomainError('unavailable', 'INTAKE_FULL', 'not now', { retryAfter: 3 })
    return { accepted: events.length, rejected: [] }
  }
  service.implement(EventServiceService, {
    acceptEvents: async (request) => accept(request),
    acceptEventBatch: async ({ requests }) => ({ responses: requests.map(accept) }),
  })
  const more = { authAddress: standIns.address, analyticsAddress: await service.listen('127.0.0.1:0'), publicUrl: 'https://here.example' }
  const behind = eventRoutes.map((one) => ({ ...one, bypassExpress: false }))
  const pair = async (corsOrigins: string[]) => ({
    direct: await startTestGateway(eventRoutes, { ...more, corsOrigins }),
    express: await startTestGateway(behind, { ...more, corsOrigins }),
  })
  pairs = { any: await pair(['*']), one: await pair(['https://a.example']) }
})
afterAll(async () => {
  await Promise.all(Object.values(pairs ?? {}).flatMap(({ direct, express }) => [direct.stop(), express.stop()]))
  await service?.drain(0)
  await standIns?.stop()
})

const PATH = '/v2/analytics/events'
const event = { video_id: '42', view_id: '7d444840-9dc0-41d1-b245-5ffdce74fad2', type: 'play', at: 1_893_456_000_000 }
const good = JSON.stringify([event])
const post = (body: string, headers: readonly string[] = ['Content-Type: application/json'], path = PATH) =>
  rawRequest('POST', path, [...headers, `Content-Length: ${Buffer.byteLength(body)}`], body)
const rawRequest = (method: string, path: string, headers: readonly string[], body = '') =>
  [`${method} ${path} HTTP/1.1`, 'Host: here.example', 'X-Request-Id: r1', 'Connection: close', ...headers, '', body].join('\r\n')
const JSON_TYPE = 'Content-Type: application/json'

const requests: Record<string, string> = {
  'an event': post(good),
  'an event from a page of an allowed origin': post(good, [JSON_TYPE, 'Origin: https://a.example']),
  'an event from a page of another origin': post(good, [JSON_TYPE, 'Origin: https://b.example']),
  'a beacon': post(good, ['Content-Type: text/plain;charset=UTF-8']),
  'a form': post(`data=${encodeURIComponent(good)}`, ['Content-Type: application/x-www-form-urlencoded']),
  'a multipart form': post(`--b\r\nContent-Disposition: form-data; name="data"\r\n\r\n${good}\r\n--b--\r\n`, [
    'Content-Type: multipart/form-data; boundary=b',
  ]),
  'an unsupported content type': post(good, ['Content-Type: application/xml']),
  'a compressed body': post(good, [JSON_TYPE, 'Content-Encoding: gzip']),
  'an unsupported charset': post(good, ['Content-Type: application/json; charset=latin1']),
  'no content type': post(good, []),
  'no body': post('', []),
  'a chunked body': rawRequest(
    'POST',
    PATH,
    [JSON_TYPE, 'Transfer-Encoding: chunked'],
    `${good.length.toString(16)}\r\n${good}\r\n0\r\n\r\n`,
  ),
  'an unsupported transfer coding': rawRequest('POST', PATH, [JSON_TYPE, 'Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'),
  'a body that is too large': post('x'.repeat(1024 * 1024 + 1)),
  'a body that is not JSON': post('['),
  'a body that is not UTF-8': rawRequest('POST', PATH, [JSON_TYPE, 'Content-Length: 5'], '["\xff"]'),
  'invalid fields': post(JSON.stringify([{ ...event, type: 'seek', ip: '1' }])),
  'a form with an invalid field': post('video_id=1', ['Content-Type: application/x-www-form-urlencoded']),
  'a query': post(good, [JSON_TYPE], `${PATH}?a=b`),
  'the payload in the query': post('', [], `${PATH}?data=${encodeURIComponent(good)}`),
  'a trailing slash': post(good, [JSON_TYPE], `${PATH}/`),
  'a percent-encoded path': post(good, [JSON_TYPE], '/v2/analytics/event%73'),
  'a longer path': post(good, [JSON_TYPE], `${PATH}/x`),
  'a key': post(good, [JSON_TYPE, `Authorization: Bearer ${key}`]),
  'a malformed key': post(good, [JSON_TYPE, 'Authorization: Bearer x']),
  'an unknown key': post(good, [JSON_TYPE, `Authorization: Bearer ${nextApiKey()}`]),
  'two keys': post(good, [JSON_TYPE, `Authorization: Bearer ${key}`, `Authorization: Bearer ${key}`]),
  'an idempotency key': post(good, [JSON_TYPE, 'Idempotency-Key: k']),
  'an invalid idempotency key': post(good, [JSON_TYPE, `Idempotency-Key: ${'k'.repeat(256)}`]),
  'a repeated header': post(good, [JSON_TYPE, 'content-type: application/json']),
  'no host': post(good).replace('Host: here.example\r\n', ''),
  'another host': post(good).replace('Host: here.example', 'Host: there.example'),
  'a supported Expect header': post(good, [JSON_TYPE, 'Expect: 100-continue']),
  'an unsupported Expect header': post(good, [JSON_TYPE, 'Expect: a miracle']),
  'HTTP/1.0': post(good).replace('HTTP/1.1', 'HTTP/1.0'),
  'two pipelined requests': post(good).replace('Connection: close\r\n', '') + post('['),
  'a service that is unavailable': post(good, [JSON_TYPE, 'User-Agent: unavailable']),
  'an internal error': post(good, [JSON_TYPE, 'User-Agent: error']),
  'a preflight': rawRequest('OPTIONS', PATH, ['Origin: https://a.example', 'Access-Control-Request-Method: POST']),
  'OPTIONS without a preflight': rawRequest('OPTIONS', PATH, []),
  GET: rawRequest('GET', PATH, []),
  HEAD: rawRequest('HEAD', PATH, []),
  PUT: rawRequest('PUT', PATH, [JSON_TYPE, `Content-Length: ${good.length}`], good),
  'an absolute URL': post(good, [JSON_TYPE], `http://here.example${PATH}`),
}

test.each(Object.entries(requests))('the response is the same with and without Express: %s', async (_, text) => {
  for (const { direct, express } of Object.values(pairs)) {
    const [response, other] = await Promise.all([direct, express].map(({ address }) => untilClosed(address, text)))
    expect(comparable(response)).toEqual(comparable(other))
    expect(response).toMatch(/^HTTP\/1\.1 \d{3} /)
  }
})

/** Sends the text and returns all received bytes. */
function untilClosed(address: string, text: string): Promise<string> {
  const [host, port] = address.split(':')
  return new Promise((resolve, reject) => {
    let response = ''
    const socket = connect(Number(port), host, () => socket.write(text, 'latin1'))
    socket.setEncoding('latin1').on('data', (part: string) => {
      response += part
    })
    socket.on('close', () => resolve(response)).on('error', (error: NodeJS.ErrnoException) => error.code === 'ECONNRESET' || reject(error))
  })
}

/** Returns the sorted lines of a response without the values that differ between requests. */
function comparable(response = ''): string[] {
  return response
    .split('\r\n')
    .filter((line) => !/^Date: /.test(line))
    .map((line) => line.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '(an id)'))
    .toSorted()
}

test('only a route without path parameters can bypass Express', () => {
  const routeWithParameter = route({
    get: ['/sample/:sampleId'],
    operationId: 'getSample',
    section: 'Samples',
    access: 'public',
    summary: 'Read a sample',
    bypassExpress: true,
    params: z.object({ sampleId: z.string() }),
    response: z.object({}),
    handle: async () => ({}),
  })
  // The second argument is not used before the error.
  expect(() => directRoutes([routeWithParameter], {} as Parameters<typeof directRoutes>[1])).toThrow('Read a sample')
})
