import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { sourcePolicy } from '@vitascope/fetch'
import { EVENT_TYPES } from '@vitascope/proto/event-types'
import { fixedMasterKeys } from '@vitascope/security'
import { testLog, waitFor } from '@vitascope/testing'
import { buildOrganisation, buildRenditionSet, createCall } from '../../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../../test/catalogue-database.ts'
import { type Receiver, startReceiver } from '../../../test/webhook-receiver.ts'
import { createDeliveryStore } from './delivery-store.ts'
import { createSendingStore } from './sending-store.ts'
import { createSecretCipher } from './webhook-secret.ts'
import { createWebhookSender, findBusyReceivers, type WebhookSender } from './webhook-sender.ts'
import { createWebhookStore, type WebhookStore } from './webhook-store.ts'

const masterKeys = fixedMasterKeys('a master key of thirty-two characters, or more')
const allow = ['127.0.0.1']
let catalogue: CatalogueDatabase
let webhooks: WebhookStore
const senders: WebhookSender[] = []
const receivers: Receiver[] = []
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  webhooks = createWebhookStore(catalogue.db, masterKeys)
})
afterEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.stop()))
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()))
  await catalogue.db.query('delete from webhook')
})
afterAll(() => catalogue.close())

async function createReceiver(response?: Parameters<typeof startReceiver>[0]) {
  const receiver = await startReceiver(response)
  receivers.push(receiver)
  return receiver
}

async function subscribe(url: string, organisationId = '1', events: string[] = [...EVENT_TYPES]) {
  await catalogue.organisations.apply(buildOrganisation({ organisationId }))
  const { webhook, secret } = await webhooks.create({ organisationId, url, events, enabled: true }, createCall())
  return { ...webhook, secret, key: { scope: null, webhookId: webhook.webhookId } }
}

function createSender(policy = sourcePolicy({ allow }), log = testLog) {
  const cipher = createSecretCipher(masterKeys)
  const sender = createWebhookSender({ store: createSendingStore(catalogue.db), cipher, policy, log })
  senders.push(sender)
  sender.start()
  return sender
}

/** Creates the events of a video in order. */
async function live(organisationId = '1') {
  const { videoId, mediaId, jobId } = await catalogue.upload({}, { organisationId })
  await catalogue.jobs.apply(jobId, { kind: 'published', renditions: buildRenditionSet(jobId) }, 1)
  await catalogue.media.remove({ scope: null, mediaId }, { userId: '7', callerId: '7', notes: '' })
  return { videoId, types: ['video.created', 'video.playable', 'video.ready', 'video.deleted'] }
}
/** Skips the backoff. */
const makeDue = () =>
  catalogue.db.query(
    `update webhook_lane l set next_time = now() where next_time > now() and next_time < 'infinity' and exists
       (select from webhook_delivery d where d.webhook_id = l.webhook_id and d.object_key = l.object_key and d.state = 'waiting' and d.response_code is not null)`,
  )

test('an unreliable receiver receives every event, in order per video', async () => {
  let isDead = false
  const receiver = await createReceiver(({ number }) => (isDead ? 503 : number % 2 ? 500 : 200))
  const { secret, key } = await subscribe(receiver.url)
  receiver.state.secrets.push(secret)
  createSender()
  createSender()
  const lives: Awaited<ReturnType<typeof live>>[] = []
  for (let count = 0; count < 12; count++) {
    if (count === 4) {
      isDead = true
      receiver.state.secrets.push(await webhooks.rotate(key, createCall()))
    }
    if (count === 8) isDead = false
    lives.push(await live())
    await makeDue()
  }
  await waitFor(
    async () => {
      await makeDue()
      const log = await createDeliveryStore(catalogue.db).list(key, { before: '0', limit: 1_000, skip: 0 })
      return log.length === 48 && log.every(({ state }) => state === 'delivered')
    },
    { timeout: 60_000 },
  )
  expect(receiver.bad).toEqual([])
  for (const { videoId, types } of lives) {
    // Delivery is at least once. Of duplicates, the first counts.
    const seen = receiver.received.filter(({ data }) => data['video_id'] === videoId)
    expect([...new Set(seen.map(({ type }) => type))]).toEqual(types)
  }
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(48)
}, 120_000)

test('a webhook whose deliveries were removed while it was disabled does not delay other webhooks', async () => {
  const [disabled, other] = [await subscribe('http://127.0.0.1:9/', '1'), await subscribe('http://127.0.0.1:9/', '2')]
  for (let count = 0; count < 3; count++) await catalogue.upload({}, { organisationId: '1' })
  await webhooks.update(disabled.key, (current) => ({ ...current, enabled: false }))
  await catalogue.db.query('delete from webhook_delivery where webhook_id = $1', [disabled.webhookId])
  await webhooks.update(disabled.key, (current) => ({ ...current, enabled: true }))
  await catalogue.upload({}, { organisationId: '2' })
  const sending = await createSendingStore(catalogue.db).lease({ webhookIds: [], organisationIds: [] })
  expect(sending).toMatchObject({ webhookId: other.webhookId })
  expect(await catalogue.db.query('select webhook_id from webhook_lane')).toEqual([{ webhook_id: other.webhookId }])
})

test('a forbidden address is never contacted', async () => {
  const canary = await createReceiver()
  const port = new URL(canary.url).port
  const shown = await subscribe(canary.url)
  const hidden = await subscribe(`http://hook.example:${port}/`)
  await catalogue.upload()
  createSender(sourcePolicy({ resolve: async () => ['127.0.0.1'] }))
  const deliveries = createDeliveryStore(catalogue.db)
  for (const { key } of [shown, hidden]) {
    const first = async () => (await deliveries.list(key, { before: '0', limit: 1, skip: 0 }))[0]
    await waitFor(async () => ((await first())?.attempt ?? 0) > 0)
    expect(await first()).toMatchObject({ state: 'waiting', responseCode: undefined })
  }
  await senders.splice(0)[0]?.stop()
  expect(canary.state.connections).toBe(0)
})

test('the first failed attempt of a webhook is logged with its response or its reason, and the next ones of that minute are not', async () => {
  const failing = await createReceiver(() => 503)
  const { key } = await subscribe(failing.url)
  const closed = await startReceiver()
  await closed.close()
  const silent = await subscribe(closed.url, '2')
  const lines: object[] = []
  const log = { warn: (fields: object, msg: string) => void lines.push({ ...fields, msg }) } as unknown as typeof testLog
  await catalogue.upload()
  await catalogue.upload()
  await catalogue.upload({}, { organisationId: '2' })
  createSender(undefined, log)
  await waitFor(() => failing.state.calls >= 2 && lines.length >= 2)
  const line = { delivery_id: expect.any(String), attempt: 1, failures: 1, msg: 'webhook attempt failed; retrying' }
  expect(lines).toHaveLength(2)
  expect(lines).toContainEqual({ ...line, webhook_id: key.webhookId, organisation_id: '1', status: 503, reason: undefined })
  const reason = expect.stringContaining('127.0.0.1')
  expect(lines).toContainEqual({ ...line, webhook_id: silent.key.webhookId, organisation_id: '2', status: undefined, reason })
})

test('redirects are not followed', async () => {
  const receiver = await createReceiver(() => 307)
  const { key } = await subscribe(receiver.url)
  await catalogue.upload()
  createSender()
  const deliveries = createDeliveryStore(catalogue.db)
  await waitFor(async () => (await deliveries.list(key, { before: '0', limit: 1, skip: 0 }))[0]?.responseCode === 307)
  expect(receiver.state.calls).toBe(1)
})

test('a slow receiver delays no other receiver, and has at most four calls at once', async () => {
  const held = Promise.withResolvers<void>()
  const slow = await createReceiver(async () => {
    await held.promise
    return 200
  })
  const quick = await createReceiver()
  slow.state.secrets.push((await subscribe(slow.url, '1')).secret)
  quick.state.secrets.push((await subscribe(quick.url, '2')).secret)
  for (let count = 0; count < 20; count++) await catalogue.upload()
  createSender()
  await waitFor(() => slow.state.now === 4)
  for (let count = 0; count < 20; count++) await catalogue.upload({}, { organisationId: '2' })
  await waitFor(() => quick.received.length === 20)
  expect([slow.state.max, slow.received.length]).toEqual([4, 0])
  held.resolve()
  await waitFor(() => slow.received.length === 20)
  expect(slow.state.max).toBe(4)
}, 60_000)

test('unfinished deliveries of a stopped sender are due immediately', async () => {
  let isStuck = true
  const receiver = await createReceiver(() => (isStuck ? new Promise<number>(() => {}) : 200))
  receiver.state.secrets.push((await subscribe(receiver.url)).secret)
  await catalogue.upload()
  const sender = createSender()
  await waitFor(() => receiver.state.calls === 1)
  await sender.stop()
  isStuck = false
  createSender()
  await waitFor(() => receiver.received.length === 1)
})

test('webhooks are busy at 4 calls, and organisations at 16', () => {
  const calls = (count: number, webhookId: string, organisationId: string) => Array(count).fill({ webhookId, organisationId })
  const busy = findBusyReceivers([
    ...calls(3, '1', '1'),
    ...calls(4, '2', '2'),
    ...calls(4, '3', '2'),
    ...calls(4, '4', '2'),
    ...calls(3, '5', '2'),
  ])
  expect(busy).toEqual({ webhookIds: ['2', '3', '4'], organisationIds: [] })
  expect(findBusyReceivers([...calls(8, '1', '1'), ...calls(8, '2', '1')])).toEqual({ webhookIds: ['1', '2'], organisationIds: ['1'] })
})
