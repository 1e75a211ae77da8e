import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { Webhook as Verifier } from 'standardwebhooks'
import type { House, NounRows, Refused } from '../support/table-row.ts'
import { aTenant } from '../support/video-steps.ts'

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
/** Nothing of this happens in the house, so that nothing moves behind the rows. */
const quiet = ['key.expiring']
const everything = [
  'video.created',
  'video.playable',
  'video.ready',
  'video.failed',
  'video.deleted',
  'media.replaced',
  'caption.created',
  'presentation.ready',
  'key.expiring',
]
let paths = 0

/** An address of the house's web server that keeps what it was sent. */
function receiver({ sources }: House, status = 200) {
  const path = `/hook-${++paths}`
  const calls: { body: string; headers: Record<string, string> }[] = []
  sources.answer(path, async (request: IncomingMessage, response: ServerResponse) => {
    calls.push({ body: await text(request), headers: request.headers as Record<string, string> })
    response.writeHead(status).end()
  })
  return { url: `${sources.url}${path}`, calls }
}

/** A new webhook of the owner's organisation, which has no other one then. */
async function only(house: House, more: Record<string, unknown> = {}): Promise<Webhook> {
  const { owner } = house.as
  for (const { webhook_id } of (await owner.get<Webhook[]>('/webhook')).body) await owner.delete(`/webhook/${webhook_id}`)
  return make(house, more)
}

async function make({ as, sources }: House, more: Record<string, unknown> = {}): Promise<Webhook> {
  const { status, body } = await as.uploader.post<Webhook>('/webhook', { url: `${sources.url}/nobody`, events: quiet, ...more })
  if (status !== 201) throw new Error(`no webhook was made: ${JSON.stringify(body)}`)
  return body
}

const withoutSecret = ({ secret: _, ...webhook }: Webhook) => webhook
const log = async ({ as }: House, id: string) => (await as.owner.get<Delivery[]>(`/webhook/${id}/delivery`)).body
const ended = (house: House, id: string, delivery: string) =>
  waitFor(async () => (await log(house, id)).find(({ delivery_id, status }) => delivery_id === delivery && status !== 'waiting'))

async function tested(house: House, id: string): Promise<string> {
  const { status, body } = await house.as.owner.post<{ delivery_id: string }>(`/webhook/${id}/test`)
  expect(status).toBe(202)
  return body.delivery_id
}

/** What every row of one webhook refuses. */
function refusedFor(method: string, at: (id: string) => string, id: string, payload?: object): Refused[] {
  const sent = payload && { payload }
  return [
    ...[MISSING, 'x', '0'].map((bad) => ({ method, path: at(bad), ...sent, status: 404, code: 'webhook_not_found' })),
    { as: 'stranger', method, path: at(id), ...sent, status: 404, code: 'webhook_not_found' },
    { as: 'guest', method, path: at(id), ...sent, status: 401 },
  ]
}

export const webhookRows: NounRows = {
  noun: 'webhook',
  rows: [
    {
      endpoint: 'GET /webhook',
      async works(house) {
        const { as, owner } = house
        const made = [await only(house), await make(house)].map(withoutSecret)
        for (const api of [as.owner, as.uploader]) expect((await api.get('/webhook')).body).toEqual(made)
        const own = `/webhook?organisation_id=${owner.organisationId}`
        expect((await as.system.get(own)).body).toEqual(made)
        expect((await as.stranger.get('/webhook')).body).toEqual([])
        const part = await as.owner.get('/webhook?limit=1')
        expect(part.body).toEqual([made[0]])
        const next = /<[^>]*\/v2([^>]*)>/.exec(part.headers.get('link') ?? '')?.[1] ?? 'nowhere'
        expect((await as.owner.get(next)).body).toEqual([made[1]])
      },
      refused: async ({ stranger }) => [
        { method: 'GET', path: `/webhook?organisation_id=${stranger.organisationId}`, status: 403 },
        { as: 'system', method: 'GET', path: '/webhook', status: 400, fields: ['organisation_id'] },
        { as: 'system', method: 'GET', path: '/webhook?organisation_id=999999', status: 404, code: 'organisation_not_found' },
        { method: 'GET', path: '/webhook?limit=1001&start=0', status: 400, fields: ['limit', 'start'] },
        { as: 'guest', method: 'GET', path: '/webhook', status: 401 },
      ],
    },
    {
      endpoint: 'GET /webhook/{webhook_id}',
      async works(house) {
        const webhook = await only(house)
        for (const who of ['owner', 'uploader', 'system'] as const) {
          const { status, body } = await house.as[who].get(`/webhook/${webhook.webhook_id}`)
          expect([status, body]).toEqual([200, withoutSecret(webhook)])
        }
      },
      refused: async (house) => refusedFor('GET', (id) => `/webhook/${id}`, (await only(house)).webhook_id),
    },
    {
      endpoint: 'POST /webhook',
      async works(house) {
        const { as, owner } = house
        const { url, calls } = receiver(house)
        const { webhook_id, secret, ...webhook } = await only(house, { url, events: [...everything, 'video.ready'], enabled: '1' })
        expect(webhook).toMatchObject({ organisation_id: owner.organisationId, url, events: everything, enabled: '1', disabled_reason: '' })
        const { video_id, media_id } = await house.video()
        await as.owner.delete(`/media?media_id=${media_id}`)
        await waitFor(() => calls.length === 3)
        const verified = calls.map(({ body, headers }) => new Verifier(secret).verify(body, headers) as Record<string, unknown>)
        expect(verified.map(({ type }) => type)).toEqual(['video.created', 'video.failed', 'video.deleted'])
        for (const { data, timestamp } of verified) {
          expect(data).toMatchObject({ video_id, media_id, organisation_id: owner.organisationId })
          expect(Date.parse(String(timestamp))).toBeGreaterThan(Date.now() - 60_000)
        }
        expect(verified[1]).toMatchObject({ data: { action: 'new video', code: 4001 } })
        for (const length of [1_999, 2_000]) await make(house, { url: `${house.sources.url}/`.padEnd(length, 'x') })
        const form = new URLSearchParams([
          ['url', url],
          ['events', 'key.expiring'],
          ['enabled', 'false'],
          ['organisation_id', owner.organisationId],
        ])
        const byForm = await as.system.send<Webhook>('POST', '/webhook', { body: form })
        expect([byForm.status, byForm.body]).toMatchObject([201, { enabled: '0', events: quiet }])
        await as.owner.delete(`/webhook/${webhook_id}`)
        const tenant = house.platform.withKey((await aTenant(house.platform.system)).key)
        const many = await Promise.all(Array.from({ length: 22 }, () => tenant.post('/webhook', { url, events: quiet })))
        expect(many.map(({ status }) => status).toSorted()).toEqual([...Array(20).fill(201), 409, 409])
      },
      async refused(house) {
        const { sources, stranger } = house
        await only(house)
        for (let more = 1; more < 20; more++) await make(house)
        const good = { url: `${sources.url}/hook`, events: quiet }
        const refused = { method: 'POST', path: '/webhook' }
        return [
          { ...refused, payload: good, status: 409, code: 'webhooks_full' },
          { ...refused, payload: {}, status: 400, fields: ['url', 'events'] },
          { ...refused, payload: { url: 'http://10.0.0.1/', events: [] }, status: 400, fields: ['url', 'events'] },
          ...[
            'http://10.0.0.1/',
            'http://[::1]/',
            'ftp://example.org/',
            'https://a:b@example.org/',
            'https://example.org:22/',
            'x',
            '',
          ].map((url) => ({
            ...refused,
            payload: { ...good, url },
            status: 400,
            fields: ['url'],
          })),
          { ...refused, payload: { ...good, url: `${sources.url}/`.padEnd(2_001, 'x') }, status: 400, fields: ['url'] },
          { ...refused, payload: { ...good, events: ['video.ready', '*'] }, status: 400, fields: ['events[1]'] },
          { ...refused, payload: { ...good, enabled: 'maybe', secret: 'mine' }, status: 400, fields: ['enabled', 'secret'] },
          { ...refused, payload: { ...good, organisation_id: stranger.organisationId }, status: 403 },
          { ...refused, payload: { ...good, organisation_id: '999999' }, status: 403 },
          { ...refused, as: 'system', payload: good, status: 400, fields: ['organisation_id'] },
          { ...refused, as: 'system', payload: { ...good, organisation_id: '999999' }, status: 404, code: 'organisation_not_found' },
          { ...refused, as: 'guest', payload: good, status: 401 },
        ]
      },
    },
    {
      endpoint: 'PUT /webhook/{webhook_id}',
      async works(house) {
        const { as } = house
        const webhook = withoutSecret(await only(house))
        const at = `/webhook/${webhook['webhook_id']}`
        const changed = { ...webhook, url: `${house.sources.url}/other`, events: ['video.failed', 'video.ready'], enabled: '0' }
        const { status, body } = await as.uploader.put(at, { url: changed.url, events: changed.events, enabled: 0 })
        expect([status, body, (await as.owner.get(at)).body]).toEqual([200, changed, changed])
        expect((await as.system.put(at, { enabled: true })).body).toEqual({ ...changed, enabled: '1' })
      },
      async refused(house) {
        const { webhook_id } = await only(house)
        const refused = { method: 'PUT', path: `/webhook/${webhook_id}` }
        return [
          ...refusedFor('PUT', (id) => `/webhook/${id}`, webhook_id, { enabled: false }),
          { ...refused, payload: {}, status: 400, fields: ['payload'] },
          { ...refused, payload: { url: 'http://169.254.169.254/', events: [] }, status: 400, fields: ['url', 'events'] },
          { ...refused, payload: { url: `${house.sources.url}/`.padEnd(2_001, 'x') }, status: 400, fields: ['url'] },
          { ...refused, payload: { organisation_id: '1', secret: 'x' }, status: 400, fields: ['organisation_id', 'secret'] },
        ]
      },
    },
    {
      endpoint: 'DELETE /webhook/{webhook_id}',
      async works(house) {
        const { as } = house
        const { webhook_id } = await only(house)
        const { status, body } = await as.uploader.delete(`/webhook/${webhook_id}`)
        expect([status, body]).toEqual([200, { deleted: true }])
        expect((await as.owner.get('/webhook')).body).toEqual([])
        expect((await as.uploader.delete(`/webhook/${webhook_id}`)).status).toBe(404)
        expect((await as.system.delete(`/webhook/${(await make(house)).webhook_id}`)).status).toBe(200)
      },
      refused: async (house) => refusedFor('DELETE', (id) => `/webhook/${id}`, (await only(house)).webhook_id),
    },
    {
      endpoint: 'POST /webhook/{webhook_id}/secret',
      async works(house) {
        const { as } = house
        const { url, calls } = receiver(house)
        const { webhook_id, secret: first } = await only(house, { url })
        const { status, body } = await as.uploader.post<Webhook>(`/webhook/${webhook_id}/secret`)
        expect([status, Object.keys(body), body.secret === first]).toEqual([200, ['webhook_id', 'secret'], false])
        await tested(house, webhook_id)
        await waitFor(() => calls.length === 1)
        const { body: sent = '', headers = {} } = calls[0] ?? {}
        for (const secret of [first, body.secret]) {
          expect(new Verifier(secret).verify(sent, headers)).toMatchObject({ type: 'webhook.test', data: { webhook_id } })
        }
        const again = { 'idempotency-key': `rotated-${webhook_id}` }
        const twice = [
          await as.owner.post(`/webhook/${webhook_id}/secret`, {}, again),
          await as.owner.post(`/webhook/${webhook_id}/secret`, {}, again),
        ]
        expect(twice[0]?.body).toEqual(twice[1]?.body)
      },
      refused: async (house) => refusedFor('POST', (id) => `/webhook/${id}/secret`, (await only(house)).webhook_id),
    },
    {
      endpoint: 'POST /webhook/{webhook_id}/test',
      async works(house) {
        const { url, calls } = receiver(house)
        const { webhook_id } = await only(house, { url })
        const delivery = await tested(house, webhook_id)
        expect(await ended(house, webhook_id, delivery)).toMatchObject({
          event: 'webhook.test',
          attempt: '1',
          status: 'delivered',
          response_code: '200',
        })
        expect(calls).toHaveLength(1)
        expect((await house.as.system.post(`/webhook/${webhook_id}/test`)).status).toBe(202)
      },
      async refused(house) {
        const { webhook_id } = await only(house, { url: receiver(house, 500).url })
        await tested(house, webhook_id)
        const disabled = await make(house, { enabled: false })
        const at = (id: string) => `/webhook/${id}/test`
        return [
          ...refusedFor('POST', at, webhook_id),
          { method: 'POST', path: at(webhook_id), status: 409, code: 'delivery_waiting' },
          { method: 'POST', path: at(disabled.webhook_id), status: 409, code: 'webhook_disabled' },
        ]
      },
    },
    {
      endpoint: 'GET /webhook/{webhook_id}/delivery',
      async works(house) {
        const { as } = house
        const { webhook_id } = await only(house, { url: receiver(house).url })
        expect(await log(house, webhook_id)).toEqual([])
        const ids: string[] = []
        for (let count = 0; count < 3; count++) {
          ids.unshift(await tested(house, webhook_id))
          await ended(house, webhook_id, ids[0] ?? '')
        }
        for (const api of [as.uploader, as.system]) {
          const { body } = await api.get<Delivery[]>(`/webhook/${webhook_id}/delivery`)
          expect(body.map(({ delivery_id }) => delivery_id)).toEqual(ids)
        }
        const part = await as.owner.get<Delivery[]>(`/webhook/${webhook_id}/delivery?start=2&limit=1`)
        expect(part.body.map(({ delivery_id }) => delivery_id)).toEqual([ids[1]])
        const next = /<[^>]*\/v2([^>]*)>/.exec(part.headers.get('link') ?? '')?.[1] ?? 'nowhere'
        expect((await as.owner.get<Delivery[]>(next)).body.map(({ delivery_id }) => delivery_id)).toEqual([ids[2]])
      },
      async refused(house) {
        const { webhook_id } = await only(house)
        return [
          ...refusedFor('GET', (id) => `/webhook/${id}/delivery`, webhook_id),
          { method: 'GET', path: `/webhook/${webhook_id}/delivery?limit=1001&start=0`, status: 400, fields: ['limit', 'start'] },
          { method: 'GET', path: `/webhook/${webhook_id}/delivery?cursor=x`, status: 400, fields: ['cursor'] },
        ]
      },
    },
    {
      endpoint: 'POST /webhook/{webhook_id}/delivery/{delivery_id}/resend',
      async works(house) {
        const { url, calls } = receiver(house)
        const { webhook_id } = await only(house, { url })
        const first = await tested(house, webhook_id)
        await ended(house, webhook_id, first)
        const { status, body } = await house.as.uploader.post<{ delivery_id: string }>(`/webhook/${webhook_id}/delivery/${first}/resend`)
        expect([status, Object.keys(body), body.delivery_id === first]).toEqual([202, ['delivery_id'], false])
        await ended(house, webhook_id, body.delivery_id)
        expect(calls[1]?.body).toBe(calls[0]?.body)
        expect(calls[1]?.headers['webhook-id']).toBe(calls[0]?.headers['webhook-id'])
        expect((await log(house, webhook_id)).map(({ delivery_id }) => delivery_id)).toEqual([body.delivery_id, first])
      },
      async refused(house) {
        const { webhook_id } = await only(house, { url: receiver(house, 500).url })
        const waiting = await tested(house, webhook_id)
        const { webhook_id: other } = await make(house, { url: receiver(house).url })
        const foreign = await tested(house, other)
        await ended(house, other, foreign)
        await house.as.owner.put(`/webhook/${other}`, { enabled: false })
        const at = (id: string, delivery: string) => `/webhook/${id}/delivery/${delivery}/resend`
        return [
          ...refusedFor('POST', (id) => at(id, waiting), webhook_id),
          ...[MISSING, 'x', foreign].map((bad) => ({ method: 'POST', path: at(webhook_id, bad), status: 404, code: 'delivery_not_found' })),
          { method: 'POST', path: at(webhook_id, waiting), status: 409, code: 'delivery_waiting' },
          { method: 'POST', path: at(other, foreign), status: 409, code: 'webhook_disabled' },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'POST /webhook': (v) => ({ organisation_id: v['organisation_id'], url: 'https://example.org/hook', events: quiet }),
      'PUT /webhook/{}': () => ({ enabled: false }),
    },
    async make(house) {
      const { webhook_id } = await make(house, { url: receiver(house).url })
      const delivery_id = await tested(house, webhook_id)
      await ended(house, webhook_id, delivery_id)
      return { webhook_id, delivery_id }
    },
  },
}
