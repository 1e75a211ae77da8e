import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from '@jest/globals'
import { EVENT_TYPES } from '@vitascope/proto/event-types'
import { waitFor } from '@vitascope/testing'
import { Webhook as Verifier } from 'standardwebhooks'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'
import { createTenant } from '../support/video-steps.ts'

interface Webhook extends Record<string, unknown> {
  webhook_id: string
  secret: string
}

interface Delivery extends Record<string, unknown> {
  delivery_id: string
  event: string
  status: string
  attempt: string
}

const MISSING = '9007199254740991'
/** These events do not occur on the test platform, so no delivery runs in the background. */
const quiet = ['key.expiring']
let paths = 0

/** A URL of the source server that records the received requests. */
function receiver({ sources }: Fixture, status = 200) {
  const path = `/hook-${++paths}`
  const calls: { body: string; headers: Record<string, string> }[] = []
  sources.setHandler(path, async (request: IncomingMessage, response: ServerResponse) => {
    calls.push({ body: await text(request), headers: request.headers as Record<string, string> })
    response.writeHead(status).end()
  })
  return { url: `${sources.url}${path}`, calls }
}

/** Creates a webhook of the owner's organisation after deleting all others. */
async function only(fixture: Fixture, fields: Record<string, unknown> = {}): Promise<Webhook> {
  const { owner } = fixture.clients
  for (const { webhook_id } of (await owner.get<Webhook[]>('/webhook')).body) await owner.delete(`/webhook/${webhook_id}`)
  return make(fixture, fields)
}

async function make({ clients, sources }: Fixture, fields: Record<string, unknown> = {}): Promise<Webhook> {
  const { status, body } = await clients.uploader.post<Webhook>('/webhook', { url: `${sources.url}/nobody`, events: quiet, ...fields })
  if (status !== 201) throw new Error(`no webhook was made: ${JSON.stringify(body)}`)
  return body
}

const withoutSecret = ({ secret: _, ...webhook }: Webhook) => webhook
const log = async ({ clients }: Fixture, id: string) => (await clients.owner.get<Delivery[]>(`/webhook/${id}/delivery`)).body
const waitForDelivery = (fixture: Fixture, id: string, delivery: string) =>
  waitFor(async () => (await log(fixture, id)).find(({ delivery_id, status }) => delivery_id === delivery && status !== 'waiting'))

async function tested(fixture: Fixture, id: string): Promise<string> {
  const { status, body } = await fixture.clients.owner.post<{ delivery_id: string }>(`/webhook/${id}/test`)
  expect(status).toBe(202)
  return body.delivery_id
}

/** Returns the invalid calls that all endpoints of one webhook have in common. */
function callsWithInvalidId(method: string, endpointPath: (id: string) => string, id: string, payload?: object): RejectedCall[] {
  const sent = payload && { payload }
  return [
    ...[MISSING, 'x', '0'].map((bad) => ({ method, path: endpointPath(bad), ...sent, status: 404, code: 'webhook_not_found' })),
    { caller: 'otherTenant', method, path: endpointPath(id), ...sent, status: 404, code: 'webhook_not_found' },
    { caller: 'guest', method, path: endpointPath(id), ...sent, status: 401 },
  ]
}

export const webhookRows: NounRows = {
  noun: 'webhook',
  rows: [
    {
      endpoint: 'GET /webhook',
      async works(fixture) {
        const { clients, owner } = fixture
        const webhooks = [await only(fixture), await make(fixture)].map(withoutSecret)
        for (const api of [clients.owner, clients.uploader]) expect((await api.get('/webhook')).body).toEqual(webhooks)
        const ownWebhooksPath = `/webhook?organisation_id=${owner.organisationId}`
        expect((await clients.system.get(ownWebhooksPath)).body).toEqual(webhooks)
        expect((await clients.otherTenant.get('/webhook')).body).toEqual([])
        const part = await clients.owner.get('/webhook?limit=1')
        expect(part.body).toEqual([webhooks[0]])
        const next = /<[^>]*\/v2([^>]*)>/.exec(part.headers.get('link') ?? '')?.[1] ?? 'nowhere'
        expect((await clients.owner.get(next)).body).toEqual([webhooks[1]])
      },
      rejectedCalls: async ({ otherTenant }) => [
        { method: 'GET', path: `/webhook?organisation_id=${otherTenant.organisationId}`, status: 403 },
        { caller: 'system', method: 'GET', path: '/webhook', status: 400, fields: ['organisation_id'] },
        { caller: 'system', method: 'GET', path: '/webhook?organisation_id=999999', status: 404, code: 'organisation_not_found' },
        { method: 'GET', path: '/webhook?limit=1001&start=0', status: 400, fields: ['limit', 'start'] },
        { caller: 'guest', method: 'GET', path: '/webhook', status: 401 },
      ],
    },
    {
      endpoint: 'GET /webhook/{webhook_id}',
      async works(fixture) {
        const webhook = await only(fixture)
        for (const caller of ['owner', 'uploader', 'system'] as const) {
          const { status, body } = await fixture.clients[caller].get(`/webhook/${webhook.webhook_id}`)
          expect([status, body]).toEqual([200, withoutSecret(webhook)])
        }
      },
      rejectedCalls: async (fixture) => callsWithInvalidId('GET', (id) => `/webhook/${id}`, (await only(fixture)).webhook_id),
    },
    {
      endpoint: 'POST /webhook',
      async works(fixture) {
        const { clients, owner } = fixture
        const { url, calls } = receiver(fixture)
        const { webhook_id, secret, ...webhook } = await only(fixture, { url, events: [...EVENT_TYPES, 'video.ready'], enabled: '1' })
        expect(webhook).toMatchObject({
          organisation_id: owner.organisationId,
          url,
          events: EVENT_TYPES,
          enabled: '1',
          disabled_reason: '',
        })
        const { video_id, media_id } = await fixture.video()
        await clients.owner.delete(`/media?media_id=${media_id}`)
        await waitFor(() => calls.length === 3)
        const verified = calls.map(({ body, headers }) => new Verifier(secret).verify(body, headers) as Record<string, unknown>)
        expect(verified.map(({ type }) => type)).toEqual(['video.created', 'video.failed', 'video.deleted'])
        for (const { data, timestamp } of verified) {
          expect(data).toMatchObject({ video_id, media_id, organisation_id: owner.organisationId })
          expect(Date.parse(String(timestamp))).toBeGreaterThan(Date.now() - 60_000)
        }
        expect(verified[1]).toMatchObject({ data: { action: 'new video', code: 4001 } })
        for (const length of [1_999, 2_000]) await make(fixture, { url: `${fixture.sources.url}/`.padEnd(length, 'x') })
        const form = new URLSearchParams([
          ['url', url],
          ['events', 'key.expiring'],
          ['enabled', 'false'],
          ['organisation_id', owner.organisationId],
        ])
        const byForm = await clients.system.send<Webhook>('POST', '/webhook', { body: form })
        expect([byForm.status, byForm.body]).toMatchObject([201, { enabled: '0', events: quiet }])
        await clients.owner.delete(`/webhook/${webhook_id}`)
        const tenant = fixture.platform.withKey((await createTenant(fixture.platform.system)).key)
        const many = await Promise.all(Array.from({ length: 22 }, () => tenant.post('/webhook', { url, events: quiet })))
        expect(many.map(({ status }) => status).toSorted()).toEqual([...Array(20).fill(201), 409, 409])
      },
      async rejectedCalls(fixture) {
        const { sources, otherTenant } = fixture
        await only(fixture)
        for (let count = 1; count < 20; count++) await make(fixture)
        const good = { url: `${sources.url}/hook`, events: quiet }
        const rejectedCall = { method: 'POST', path: '/webhook' }
        return [
          { ...rejectedCall, payload: good, status: 409, code: 'webhooks_full' },
          { ...rejectedCall, payload: {}, status: 400, fields: ['url', 'events'] },
          { ...rejectedCall, payload: { url: 'http://10.0.0.1/', events: [] }, status: 400, fields: ['url', 'events'] },
          ...[
            'http://10.0.0.1/',
            'http://[::1]/',
            'ftp://example.org/',
            'https://a:b@example.org/',
            'https://example.org:22/',
            'x',
            '',
          ].map((url) => ({
            ...rejectedCall,
            payload: { ...good, url },
            status: 400,
            fields: ['url'],
          })),
          { ...rejectedCall, payload: { ...good, url: `${sources.url}/`.padEnd(2_001, 'x') }, status: 400, fields: ['url'] },
          { ...rejectedCall, payload: { ...good, events: ['video.ready', '*'] }, status: 400, fields: ['events[1]'] },
          { ...rejectedCall, payload: { ...good, enabled: 'maybe', secret: 'mine' }, status: 400, fields: ['enabled', 'secret'] },
          { ...rejectedCall, payload: { ...good, organisation_id: otherTenant.organisationId }, status: 403 },
          { ...rejectedCall, payload: { ...good, organisation_id: '999999' }, status: 403 },
          { ...rejectedCall, caller: 'system', payload: good, status: 400, fields: ['organisation_id'] },
          {
            ...rejectedCall,
            caller: 'system',
            payload: { ...good, organisation_id: '999999' },
            status: 404,
            code: 'organisation_not_found',
          },
          { ...rejectedCall, caller: 'guest', payload: good, status: 401 },
        ]
      },
    },
    {
      endpoint: 'PUT /webhook/{webhook_id}',
      async works(fixture) {
        const { clients } = fixture
        const webhook = withoutSecret(await only(fixture))
        const endpointPath = `/webhook/${webhook['webhook_id']}`
        const changed = { ...webhook, url: `${fixture.sources.url}/other`, events: ['video.failed', 'video.ready'], enabled: '0' }
        const { status, body } = await clients.uploader.put(endpointPath, { url: changed.url, events: changed.events, enabled: 0 })
        expect([status, body, (await clients.owner.get(endpointPath)).body]).toEqual([200, changed, changed])
        expect((await clients.system.put(endpointPath, { enabled: true })).body).toEqual({ ...changed, enabled: '1' })
      },
      async rejectedCalls(fixture) {
        const { webhook_id } = await only(fixture)
        const rejectedCall = { method: 'PUT', path: `/webhook/${webhook_id}` }
        return [
          ...callsWithInvalidId('PUT', (id) => `/webhook/${id}`, webhook_id, { enabled: false }),
          { ...rejectedCall, payload: {}, status: 400, fields: ['payload'] },
          { ...rejectedCall, payload: { url: 'http://169.254.169.254/', events: [] }, status: 400, fields: ['url', 'events'] },
          { ...rejectedCall, payload: { url: `${fixture.sources.url}/`.padEnd(2_001, 'x') }, status: 400, fields: ['url'] },
          { ...rejectedCall, payload: { colour: 'red', secret: 'x' }, status: 400, fields: ['colour', 'secret'] },
        ]
      },
    },
    {
      endpoint: 'DELETE /webhook/{webhook_id}',
      async works(fixture) {
        const { clients } = fixture
        const { webhook_id } = await only(fixture)
        const { status, body } = await clients.uploader.delete(`/webhook/${webhook_id}`)
        expect([status, body]).toEqual([200, { deleted: true }])
        expect((await clients.owner.get('/webhook')).body).toEqual([])
        expect((await clients.uploader.delete(`/webhook/${webhook_id}`)).status).toBe(404)
        expect((await clients.system.delete(`/webhook/${(await make(fixture)).webhook_id}`)).status).toBe(200)
      },
      rejectedCalls: async (fixture) => callsWithInvalidId('DELETE', (id) => `/webhook/${id}`, (await only(fixture)).webhook_id),
    },
    {
      endpoint: 'POST /webhook/{webhook_id}/secret',
      async works(fixture) {
        const { clients } = fixture
        const { url, calls } = receiver(fixture)
        const { webhook_id, secret: first } = await only(fixture, { url })
        const { status, body } = await clients.uploader.post<Webhook>(`/webhook/${webhook_id}/secret`)
        expect([status, Object.keys(body), body.secret === first]).toEqual([200, ['webhook_id', 'secret'], false])
        await tested(fixture, webhook_id)
        await waitFor(() => calls.length === 1)
        const { body: sent = '', headers = {} } = calls[0] ?? {}
        for (const secret of [first, body.secret]) {
          expect(new Verifier(secret).verify(sent, headers)).toMatchObject({ type: 'webhook.test', data: { webhook_id } })
        }
        const repeated = { 'idempotency-key': `rotated-${webhook_id}` }
        const twice = [
          await clients.owner.post(`/webhook/${webhook_id}/secret`, {}, repeated),
          await clients.owner.post(`/webhook/${webhook_id}/secret`, {}, repeated),
        ]
        expect(twice[0]?.body).toEqual(twice[1]?.body)
      },
      rejectedCalls: async (fixture) => callsWithInvalidId('POST', (id) => `/webhook/${id}/secret`, (await only(fixture)).webhook_id),
    },
    {
      endpoint: 'POST /webhook/{webhook_id}/test',
      async works(fixture) {
        const { url, calls } = receiver(fixture)
        const { webhook_id } = await only(fixture, { url })
        const delivery = await tested(fixture, webhook_id)
        expect(await waitForDelivery(fixture, webhook_id, delivery)).toMatchObject({
          event: 'webhook.test',
          attempt: '1',
          status: 'delivered',
          response_code: '200',
        })
        expect(calls).toHaveLength(1)
        expect((await fixture.clients.system.post(`/webhook/${webhook_id}/test`)).status).toBe(202)
      },
      async rejectedCalls(fixture) {
        const { webhook_id } = await only(fixture, { url: receiver(fixture, 500).url })
        await tested(fixture, webhook_id)
        const disabled = await make(fixture, { enabled: false })
        const endpointPath = (id: string) => `/webhook/${id}/test`
        return [
          ...callsWithInvalidId('POST', endpointPath, webhook_id),
          { method: 'POST', path: endpointPath(webhook_id), status: 409, code: 'delivery_waiting' },
          { method: 'POST', path: endpointPath(disabled.webhook_id), status: 409, code: 'webhook_disabled' },
        ]
      },
    },
    {
      endpoint: 'GET /webhook/{webhook_id}/delivery',
      async works(fixture) {
        const { clients } = fixture
        const { webhook_id } = await only(fixture, { url: receiver(fixture).url })
        expect(await log(fixture, webhook_id)).toEqual([])
        const ids: string[] = []
        for (let count = 0; count < 3; count++) {
          ids.unshift(await tested(fixture, webhook_id))
          await waitForDelivery(fixture, webhook_id, ids[0] ?? '')
        }
        for (const api of [clients.uploader, clients.system]) {
          const { body } = await api.get<Delivery[]>(`/webhook/${webhook_id}/delivery`)
          expect(body.map(({ delivery_id }) => delivery_id)).toEqual(ids)
        }
        const part = await clients.owner.get<Delivery[]>(`/webhook/${webhook_id}/delivery?start=2&limit=1`)
        expect(part.body.map(({ delivery_id }) => delivery_id)).toEqual([ids[1]])
        const next = /<[^>]*\/v2([^>]*)>/.exec(part.headers.get('link') ?? '')?.[1] ?? 'nowhere'
        expect((await clients.owner.get<Delivery[]>(next)).body.map(({ delivery_id }) => delivery_id)).toEqual([ids[2]])
      },
      async rejectedCalls(fixture) {
        const { webhook_id } = await only(fixture)
        return [
          ...callsWithInvalidId('GET', (id) => `/webhook/${id}/delivery`, webhook_id),
          { method: 'GET', path: `/webhook/${webhook_id}/delivery?limit=1001&start=0`, status: 400, fields: ['limit', 'start'] },
          { method: 'GET', path: `/webhook/${webhook_id}/delivery?cursor=x`, status: 400, fields: ['cursor'] },
        ]
      },
    },
    {
      endpoint: 'POST /webhook/{webhook_id}/delivery/{delivery_id}/resend',
      async works(fixture) {
        const { url, calls } = receiver(fixture)
        const { webhook_id } = await only(fixture, { url })
        const first = await tested(fixture, webhook_id)
        await waitForDelivery(fixture, webhook_id, first)
        const { status, body } = await fixture.clients.uploader.post<{ delivery_id: string }>(
          `/webhook/${webhook_id}/delivery/${first}/resend`,
        )
        expect([status, Object.keys(body), body.delivery_id === first]).toEqual([202, ['delivery_id'], false])
        await waitForDelivery(fixture, webhook_id, body.delivery_id)
        expect(calls[1]?.body).toBe(calls[0]?.body)
        expect(calls[1]?.headers['webhook-id']).toBe(calls[0]?.headers['webhook-id'])
        expect((await log(fixture, webhook_id)).map(({ delivery_id }) => delivery_id)).toEqual([body.delivery_id, first])
      },
      async rejectedCalls(fixture) {
        const { webhook_id } = await only(fixture, { url: receiver(fixture, 500).url })
        const waiting = await tested(fixture, webhook_id)
        const { webhook_id: otherWebhookId } = await make(fixture, { url: receiver(fixture).url })
        const foreign = await tested(fixture, otherWebhookId)
        await waitForDelivery(fixture, otherWebhookId, foreign)
        await fixture.clients.owner.put(`/webhook/${otherWebhookId}`, { enabled: false })
        const endpointPath = (id: string, delivery: string) => `/webhook/${id}/delivery/${delivery}/resend`
        return [
          ...callsWithInvalidId('POST', (id) => endpointPath(id, waiting), webhook_id),
          ...[MISSING, 'x', foreign].map((bad) => ({
            method: 'POST',
            path: endpointPath(webhook_id, bad),
            status: 404,
            code: 'delivery_not_found',
          })),
          { method: 'POST', path: endpointPath(webhook_id, waiting), status: 409, code: 'delivery_waiting' },
          { method: 'POST', path: endpointPath(otherWebhookId, foreign), status: 409, code: 'webhook_disabled' },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'POST /webhook': (v) => ({ organisation_id: v['organisation_id'], url: 'https://example.org/hook', events: quiet }),
      'PUT /webhook/{}': () => ({ enabled: false }),
    },
    async make(fixture) {
      const { webhook_id } = await make(fixture, { url: receiver(fixture).url })
      const delivery_id = await tested(fixture, webhook_id)
      await waitForDelivery(fixture, webhook_id, delivery_id)
      return { webhook_id, delivery_id }
    },
  },
}
