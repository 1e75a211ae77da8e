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
import { aKey, type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway } from './started-gateway.ts'

type Gateway = Awaited<ReturnType<typeof startTestGateway>>

let standIns: StandIns
let service: GrpcServer
/** The same table, once as it is and once with all of it behind Express, for any origin and for one. */
let pairs: Record<'any' | 'one', { direct: Gateway; express: Gateway }>
const key = aKey()

beforeAll(async () => {
  standIns = await startStandIns()
  standIns.keys.set(key, { keyId: '1', userType: 'uploader', organisationId: '2', resources: ['analytics::get'] })
  service = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('analytics') })
  const accept = ({ events, userAgent }: AcceptEventsRequest) => {
    if (userAgent === 'a fault') throw new Error('a fault of this test')
    if (userAgent === 'away') throw new DomainError('unavailable', 'INTAKE_FULL', 'not now', { retryAfter: 3 })
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
  written('POST', path, [...headers, `Content-Length: ${Buffer.byteLength(body)}`], body)
const written = (method: string, path: string, headers: readonly string[], body = '') =>
  [`${method} ${path} HTTP/1.1`, 'Host: here.example', 'X-Request-Id: r1', 'Connection: close', ...headers, '', body].join('\r\n')
const JSON_TYPE = 'Content-Type: application/json'

const requests: Record<string, string> = {
  'an event': post(good),
  'an event as a page of an allowed origin sends it': post(good, [JSON_TYPE, 'Origin: https://a.example']),
  'an event as a page of another origin sends it': post(good, [JSON_TYPE, 'Origin: https://b.example']),
  'a beacon': post(good, ['Content-Type: text/plain;charset=UTF-8']),
  'a form': post(`data=${encodeURIComponent(good)}`, ['Content-Type: application/x-www-form-urlencoded']),
  'a form of several parts': post(`--b\r\nContent-Disposition: form-data; name="data"\r\n\r\n${good}\r\n--b--\r\n`, [
    'Content-Type: multipart/form-data; boundary=b',
  ]),
  'a type that is not taken': post(good, ['Content-Type: application/xml']),
  'a compressed body': post(good, [JSON_TYPE, 'Content-Encoding: gzip']),
  'another charset': post(good, ['Content-Type: application/json; charset=latin1']),
  'no type': post(good, []),
  'no body': post('', []),
  'a body in chunks': written(
    'POST',
    PATH,
    [JSON_TYPE, 'Transfer-Encoding: chunked'],
    `${good.length.toString(16)}\r\n${good}\r\n0\r\n\r\n`,
  ),
  'another coding': written('POST', PATH, [JSON_TYPE, 'Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'),
  'a body that is too large': post('x'.repeat(1024 * 1024 + 1)),
  'no JSON': post('['),
  'no UTF-8': written('POST', PATH, [JSON_TYPE, 'Content-Length: 5'], '["\xff"]'),
  'bad fields': post(JSON.stringify([{ ...event, type: 'seek', ip: '1' }])),
  'a form with a bad field': post('video_id=1', ['Content-Type: application/x-www-form-urlencoded']),
  'a query': post(good, [JSON_TYPE], `${PATH}?a=b`),
  'the payload in the query': post('', [], `${PATH}?data=${encodeURIComponent(good)}`),
  'a slash at the end': post(good, [JSON_TYPE], `${PATH}/`),
  'a spelling of the path': post(good, [JSON_TYPE], '/v2/analytics/event%73'),
  'a path that goes on': post(good, [JSON_TYPE], `${PATH}/x`),
  'a key': post(good, [JSON_TYPE, `Authorization: Bearer ${key}`]),
  'a key that is none': post(good, [JSON_TYPE, 'Authorization: Bearer x']),
  'an unknown key': post(good, [JSON_TYPE, `Authorization: Bearer ${aKey()}`]),
  'two keys': post(good, [JSON_TYPE, `Authorization: Bearer ${key}`, `Authorization: Bearer ${key}`]),
  'an idempotency key': post(good, [JSON_TYPE, 'Idempotency-Key: k']),
  'a bad idempotency key': post(good, [JSON_TYPE, `Idempotency-Key: ${'k'.repeat(256)}`]),
  'a header twice': post(good, [JSON_TYPE, 'content-type: application/json']),
  'no host': post(good).replace('Host: here.example\r\n', ''),
  'another host': post(good).replace('Host: here.example', 'Host: there.example'),
  'an expectation that is met': post(good, [JSON_TYPE, 'Expect: 100-continue']),
  'an expectation that means nothing': post(good, [JSON_TYPE, 'Expect: a miracle']),
  'HTTP/1.0': post(good).replace('HTTP/1.1', 'HTTP/1.0'),
  'two behind each other': post(good).replace('Connection: close\r\n', '') + post('['),
  'a service that takes nothing': post(good, [JSON_TYPE, 'User-Agent: away']),
  'a fault': post(good, [JSON_TYPE, 'User-Agent: a fault']),
  'a preflight': written('OPTIONS', PATH, ['Origin: https://a.example', 'Access-Control-Request-Method: POST']),
  'a question about the path': written('OPTIONS', PATH, []),
  'a read': written('GET', PATH, []),
  'a look': written('HEAD', PATH, []),
  'another verb': written('PUT', PATH, [JSON_TYPE, `Content-Length: ${good.length}`], good),
  'a whole address': post(good, [JSON_TYPE], `http://here.example${PATH}`),
}

test.each(Object.entries(requests))('%s is answered in front of Express as behind it', async (_, text) => {
  for (const { direct, express } of Object.values(pairs)) {
    const [answer, other] = await Promise.all([direct, express].map(({ address }) => untilClosed(address, text)))
    expect(comparable(answer)).toEqual(comparable(other))
    expect(answer).toMatch(/^HTTP\/1\.1 \d{3} /)
  }
})

/** Sends bytes and reads all that comes back. */
function untilClosed(address: string, text: string): Promise<string> {
  const [host, port] = address.split(':')
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), host, () => socket.write(text, 'latin1'))
    socket.setEncoding('latin1').on('data', (part: string) => {
      answer += part
    })
    socket.on('close', () => resolve(answer)).on('error', (error: NodeJS.ErrnoException) => error.code === 'ECONNRESET' || reject(error))
  })
}

/** Headers in any order; what differs from one request to the next is left out. */
function comparable(answer = ''): string[] {
  return answer
    .split('\r\n')
    .filter((line) => !/^Date: /.test(line))
    .map((line) => line.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '(an id)'))
    .toSorted()
}

test('only a path without parameters can be answered in front of Express', () => {
  const odd = route({
    get: ['/sample/:sampleId'],
    section: 'Samples',
    access: 'public',
    summary: 'Read a sample',
    bypassExpress: true,
    params: z.object({ sampleId: z.string() }),
    answer: z.object({}),
    handle: async () => ({}),
  })
  // Nothing of the rest is looked at before.
  expect(() => directRoutes([odd], {} as Parameters<typeof directRoutes>[1])).toThrow('Read a sample')
})
