import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Call, createGrpcServer, type GrpcServer } from '@vitascope/grpc'
import { EventServiceService } from '@vitascope/proto/analytics/v1/event'
import { type AcceptSessionEventsRequest, ViewSessionServiceService } from '@vitascope/proto/analytics/v1/view_session'
import { DEFAULT_LIMITS } from '@vitascope/rate-limit'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { cmcdRoutes } from '../src/api/analytics/cmcd-routes.ts'
import { eventRoutes } from '../src/api/analytics/event-routes.ts'
import { type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway } from './started-gateway.ts'

type Gateway = Awaited<ReturnType<typeof startTestGateway>>
const routes = [...eventRoutes, ...cmcdRoutes]
const VIEW = '7d444840-9dc0-41d1-b245-5ffdce74fad2'
const ts = Date.now()
const buildLine = (rest: string, cid = '42') => `cid="${cid}",sid="${VIEW}",ts=${ts},v=2,${rest}`
const playing = buildLine('e=ps,sta=p')

let standIns: StandIns
let service: GrpcServer
let gateway: Gateway
let limited: Gateway
let receivedCalls: { request: AcceptSessionEventsRequest; call: Call }[]
let rejected: { index: number; message: string }[]

beforeAll(async () => {
  standIns = await startStandIns()
  service = createGrpcServer({ principals: testPrincipals(), log: testLog, metrics: createMetrics('analytics') })
  service.implement(
    { acceptSessionEvents: ViewSessionServiceService.acceptSessionEvents },
    {
      async acceptSessionEvents(request, call) {
        receivedCalls.push({ request, call })
        return { accepted: request.events.length - rejected.length, rejected }
      },
    },
  )
  service.implement(
    { acceptEvents: EventServiceService.acceptEvents },
    { acceptEvents: async ({ events }) => ({ accepted: events.length, rejected: [] }) },
  )
  const config = { authAddress: standIns.address, analyticsAddress: await service.listen('127.0.0.1:0') }
  gateway = await startTestGateway(routes, config)
  limited = await startTestGateway(routes, {
    ...config,
    limits: { ...DEFAULT_LIMITS, address: 1, events: 2, burst: 2, cost: DEFAULT_LIMITS.cost },
  })
})
afterAll(async () => {
  await Promise.all([gateway?.stop(), limited?.stop()])
  await service?.drain(0)
  await standIns?.stop()
})
beforeEach(() => {
  receivedCalls = []
  rejected = []
  standIns.audit.length = 0
})

const send = (body: string, { type = 'application/cmcd', to = gateway, path = 'cmcd' } = {}) =>
  fetch(`${to.url}/v2/analytics/${path}`, { method: 'POST', body, headers: { 'content-type': type, 'user-agent': 'A player' } })
const read = async (response: Response) => [response.status, await response.json()]

test('the lines of a report are sent to analytics, on behalf of the gateway and without an audit log entry', async () => {
  const report = `${playing}\r\n${buildLine('e=e,ec=("media")', '43')}\n`
  const response = await send(report)
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(await read(response)).toEqual([202, { accepted: 2, rejected: [] }])
  expect(receivedCalls).toMatchObject([
    {
      call: { principal: { kind: 'service', service: 'gateway' } },
      request: {
        userAgent: 'A player',
        events: [
          { videoId: '42', viewId: VIEW, knownViewOnly: false, event: { type: 'SESSION_EVENT_TYPE_STATE', atMs: ts } },
          { videoId: '43', event: { type: 'SESSION_EVENT_TYPE_ERROR', errorCode: 'media' } },
        ],
      },
    },
  ])
  expect(standIns.audit).toEqual([])
})

test.each([
  ['text/plain;charset=UTF-8', playing],
  ['application/cmcd; charset=utf-8', playing],
  ['application/json', JSON.stringify([{ line: playing }])],
  ['application/x-www-form-urlencoded', `line=${encodeURIComponent(playing)}`],
])('a report is accepted as %s', async (type, body) => {
  expect(await read(await send(body, { type }))).toEqual([202, { accepted: 1, rejected: [] }])
})

test('invalid lines are rejected by index, the others are accepted, and lines without session events are not sent', async () => {
  rejected = [{ index: 1, message: 'video_id: no such video' }]
  const lines = [
    'nonsense="',
    playing,
    '',
    buildLine('e=m'),
    buildLine('e=ps,sta=p', 'none'),
    `${playing},com.example-a="${'x'.repeat(1_000)}"`,
  ]
  expect(await read(await send(lines.join('\n')))).toEqual([
    202,
    {
      accepted: 2,
      rejected: [
        { index: 0, message: expect.stringContaining('line: must be a structured field dictionary') },
        { index: 2, message: 'line: must not be blank' },
        { index: 4, message: 'video_id: no such video' },
        { index: 5, message: 'line: must have at most 1000 characters' },
      ],
    },
  ])
  expect(receivedCalls[0]?.request.events).toHaveLength(2)
  expect(await read(await send('x'))).toMatchObject([202, { accepted: 0, rejected: [{ index: 0 }] }])
  expect(receivedCalls).toHaveLength(1)
})

describe('a report is rejected as a whole', () => {
  test.each<[string, string, string, number]>([
    ['with more than 100 lines', 'application/cmcd', Array(101).fill(playing).join('\n'), 400],
    ['of another type', 'application/xml', playing, 415],
    ['that is not a list', 'application/json', '{"lines":1}', 400],
    ['without a body', 'application/cmcd', '', 400],
  ])('%s', async (_, type, body, status) => {
    const response = await send(body, { type })
    expect(response.status).toBe(status)
    if (status === 415) expect(((await response.json()) as { detail: string }).detail).toContain('application/cmcd')
  })
})

test('lines and player events consume the same budget', async () => {
  const event = JSON.stringify([{ video_id: '42', view_id: VIEW, type: 'play', at: ts }])
  const statuses: number[] = []
  for (let nth = 0; nth < 4; nth++) {
    statuses.push((await send(playing, { to: limited })).status)
    statuses.push((await send(event, { to: limited, path: 'events', type: 'application/json' })).status)
  }
  // The budget is two events a second, with a burst of two seconds.
  expect(statuses.slice(0, 4)).toEqual([202, 202, 202, 202])
  expect(statuses).toContain(429)
})
