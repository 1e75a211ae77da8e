import { expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook } from '../src/verify-webhook.ts'

const SECRET = `whsec_${Buffer.from('a secret of at least 24 bytes').toString('base64')}`
const OTHER = `whsec_${Buffer.from('another secret of 24 bytes').toString('base64')}`
const EVENT = {
  type: 'video.ready',
  timestamp: '2030-01-01T09:30:00.000Z',
  data: { organisation_id: '1', video_id: '42', media_id: '43', job_id: '44' },
}
const BODY = JSON.stringify(EVENT)

/** Signs with the reference library of Standard Webhooks. */
function sign(body: string, { secret = SECRET, time = new Date(), id = 'event-1' } = {}): Record<string, string> {
  const seconds = String(Math.floor(time.getTime() / 1000))
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': new Webhook(secret).sign(id, time, body) }
}

test('an event that the reference library has signed is accepted, from headers of fetch and of Node.js', async () => {
  const headers = sign(BODY)
  expect(await verifyWebhook(BODY, headers, SECRET)).toEqual(EVENT)
  expect(await verifyWebhook(Buffer.from(BODY), new Headers(headers), SECRET)).toEqual(EVENT)
  expect(await verifyWebhook(BODY, { 'Webhook-Id': ['event-1'], ...headers }, SECRET)).toEqual(EVENT)
})

test('the type of an event selects its data', async () => {
  const event = await verifyWebhook(BODY, sign(BODY), SECRET)
  expect(event.type === 'video.ready' && event.data.job_id).toBe('44')
})

test('an event of a type that a newer platform has added is returned', async () => {
  const body = JSON.stringify({ ...EVENT, type: 'video.painted' })
  expect((await verifyWebhook(body, sign(body), SECRET)).type).toBe('video.painted')
})

test('after a rotation, one matching signature and one matching secret are enough', async () => {
  const headers = sign(BODY)
  const both = {
    ...headers,
    'webhook-signature': `v1a,unknown ${sign(BODY, { secret: OTHER })['webhook-signature']} ${headers['webhook-signature']}`,
  }
  expect(await verifyWebhook(BODY, both, SECRET)).toEqual(EVENT)
  expect(await verifyWebhook(BODY, headers, [OTHER, SECRET])).toEqual(EVENT)
})

const HOUR = 3_600_000
test.each([
  ['another body', `${BODY} `, sign(BODY), SECRET, 'webhook_invalid'],
  ['another secret', BODY, sign(BODY, { secret: OTHER }), SECRET, 'webhook_invalid'],
  ['another id', BODY, { ...sign(BODY), 'webhook-id': 'event-2' }, SECRET, 'webhook_invalid'],
  ['another time', BODY, { ...sign(BODY), 'webhook-timestamp': '1893456000' }, SECRET, 'webhook_invalid'],
  ['no signature', BODY, { ...sign(BODY), 'webhook-signature': undefined }, SECRET, 'webhook_invalid'],
  ['a malformed signature', BODY, { ...sign(BODY), 'webhook-signature': 'v1,%% v1, v1' }, SECRET, 'webhook_invalid'],
  ['a malformed time', BODY, { ...sign(BODY), 'webhook-timestamp': 'now' }, SECRET, 'webhook_invalid'],
  ['no secret', BODY, sign(BODY), [], 'webhook_invalid'],
  ['a signed text', 'text', sign('text'), SECRET, 'webhook_invalid'],
  ['a signed null', 'null', sign('null'), SECRET, 'webhook_invalid'],
  ['an old time', BODY, sign(BODY, { time: new Date(Date.now() - HOUR) }), SECRET, 'webhook_expired'],
  ['a future time', BODY, sign(BODY, { time: new Date(Date.now() + HOUR) }), SECRET, 'webhook_expired'],
  ['a malformed secret', BODY, sign(BODY), 'whsec_%', 'invalid_argument'],
  ['an API key instead of a secret', BODY, sign(BODY), 'an-api-key', 'invalid_argument'],
])('%s is rejected', async (_, body, headers, secret, code) => {
  await expect(verifyWebhook(body, headers, secret)).rejects.toMatchObject({ name: 'VitascopeError', code })
})

test('the tolerance can be longer', async () => {
  const headers = sign(BODY, { time: new Date(Date.now() - HOUR) })
  expect(await verifyWebhook(BODY, headers, SECRET, { toleranceSeconds: 4_000 })).toEqual(EVENT)
})
