import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { EVENT_TYPES } from '@vitascope/proto/event-types'
import { fixedMasterKeys } from '@vitascope/security'
import { buildRenditionSet, createCall } from '../../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../../test/catalogue-database.ts'
import { createEventStore } from '../event/event-store.ts'
import { createDeliveryStore, type DeliveryStore } from './delivery-store.ts'
import { createSendingStore, type Sending, type SendingStore } from './sending-store.ts'
import { createSecretCipher } from './webhook-secret.ts'
import { createWebhookStore, type WebhookStore } from './webhook-store.ts'

const masterKeys = fixedMasterKeys('a master key of thirty-two characters, or more')
const box = createSecretCipher(masterKeys)
const noneBusy = { webhookIds: [], organisationIds: [] }
let catalogue: CatalogueDatabase
let webhooks: WebhookStore
let deliveries: DeliveryStore
let sendings: SendingStore
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  webhooks = createWebhookStore(catalogue.db, masterKeys)
  deliveries = createDeliveryStore(catalogue.db)
  sendings = createSendingStore(catalogue.db)
})
afterAll(() => catalogue.close())

let organisations = 100
/** Creates a webhook, by default in a new organisation. */
async function createWebhook(more: { events?: string[]; organisationId?: string } = {}) {
  const organisationId = more.organisationId ?? String(++organisations)
  await catalogue.organisations.apply({
    ...{ organisationId, revision: 1, active: true, allowedIps: [], defaultSettingId: '', defaultThemeId: '', quota: {} },
  })
  const fields = { organisationId, url: 'http://198.51.100.7/hook', events: more.events ?? [...EVENT_TYPES], enabled: true }
  const { webhook, secret } = await webhooks.create(fields, createCall())
  return { ...webhook, secret, key: { scope: organisationId, webhookId: webhook.webhookId } }
}
type CreatedWebhook = Awaited<ReturnType<typeof createWebhook>>

const log = async ({ key }: CreatedWebhook) => (await deliveries.list(key, { before: '0', limit: 1_000, skip: 0 })).toReversed()
const upload = ({ organisationId }: CreatedWebhook) => catalogue.upload({}, { organisationId })
/** Leases all due deliveries of one webhook. */
async function leaseAll({ webhookId, organisationId }: CreatedWebhook): Promise<Sending[]> {
  const others = (await catalogue.db.query<{ id: string }>('select organisation_id as id from organisation')).map(({ id }) => id)
  const busy = { webhookIds: [], organisationIds: others.filter((id) => id !== organisationId) }
  const leasedSendings: Sending[] = []
  for (let sending = await sendings.lease(busy); sending; sending = await sendings.lease(busy)) leasedSendings.push(sending)
  return leasedSendings.filter((one) => one.webhookId === webhookId)
}
const leaseOne = async (webhook: CreatedWebhook): Promise<Sending> => {
  const [sending] = await leaseAll(webhook)
  if (!sending) throw new Error('nothing was due')
  return sending
}
const readLanes = ({ webhookId }: CreatedWebhook) =>
  catalogue.db.query<{ next_time: Date | number; wait: number }>(
    `select next_time, extract(epoch from next_time - now())::float8 as wait from webhook_lane where webhook_id = $1`,
    [webhookId],
  )
/** Makes the waiting lanes due now. */
const makeDue = ({ webhookId }: CreatedWebhook) =>
  catalogue.db.query(`update webhook_lane set next_time = now() where webhook_id = $1 and next_time < 'infinity'`, [webhookId])

describe('a webhook', () => {
  test('stores its secret encrypted, and keeps the old secret for a day after a rotation', async () => {
    const webhook = await createWebhook()
    const [row] = await catalogue.db.query<{ secret: Buffer }>('select secret from webhook where webhook_id = $1', [webhook.webhookId])
    expect(row?.secret.includes(webhook.secret)).toBe(false)
    expect(box.open(row?.secret ?? Buffer.of(), webhook.webhookId)).toBe(webhook.secret)
    expect(() => box.open(row?.secret ?? Buffer.of(), '999')).toThrow()
    const secret = await webhooks.rotate(webhook.key, createCall())
    await upload(webhook)
    const opened = (sending: Sending) => sending.sealedSecrets.map((sealed) => box.open(sealed, webhook.webhookId))
    const sending = await leaseOne(webhook)
    expect(opened(sending)).toEqual([secret, webhook.secret])
    await catalogue.db.query(`update webhook set old_secret_time = now() - interval '1 second' where webhook_id = $1`, [webhook.webhookId])
    await sendings.release(sending)
    expect(opened(await leaseOne(webhook))).toEqual([secret])
  })
  test('is limited to 20, also under concurrent requests', async () => {
    const { organisationId } = await createWebhook()
    const responses = await Promise.allSettled(Array.from({ length: 25 }, () => createWebhook({ organisationId })))
    const errors = responses.flatMap((result) => (result.status === 'rejected' ? [(result.reason as { reason: string }).reason] : []))
    expect(errors).toEqual(Array(6).fill('WEBHOOKS_FULL'))
  })
  test('is created once per idempotency key, with one secret', async () => {
    const { organisationId } = await createWebhook()
    const fields = { organisationId, url: 'http://198.51.100.7/', events: ['video.ready'], enabled: true }
    const call = () => createCall({ key: 'a webhook', fingerprint: 'a' })
    expect(await webhooks.create(fields, call())).toEqual(await webhooks.create(fields, call()))
  })
  test('of another organisation is not found', async () => {
    const { webhookId } = await createWebhook()
    const key = { scope: '1', webhookId }
    const expectedError = { kind: 'not_found', reason: 'WEBHOOK_NOT_FOUND' }
    await expect(webhooks.require(key)).rejects.toMatchObject(expectedError)
    await expect(webhooks.update(key, (current) => current)).rejects.toMatchObject(expectedError)
    await expect(webhooks.remove(key)).rejects.toMatchObject(expectedError)
    await expect(webhooks.rotate(key, createCall())).rejects.toMatchObject(expectedError)
    await expect(deliveries.test(key, createCall())).rejects.toMatchObject(expectedError)
    await expect(deliveries.list(key, { before: '0', limit: 1, skip: 0 })).rejects.toMatchObject(expectedError)
    await expect(deliveries.resend(key, '1', createCall())).rejects.toMatchObject(expectedError)
  })
})

describe('events', () => {
  test('of a video are stored in order', async () => {
    const webhook = await createWebhook()
    const { organisationId } = webhook
    const { videoId, mediaId, jobId } = await upload(webhook)
    for (const _ of [1, 2])
      await catalogue.jobs.apply(jobId, { kind: 'playable', preview: buildRenditionSet(jobId, { renditions: [] }) }, undefined)
    await catalogue.jobs.apply(jobId, { kind: 'published', renditions: buildRenditionSet(jobId) }, 1)
    const source = { sourceUrl: 'https://example.org/b.mp4', userId: '7', startsWaiting: false }
    const second = await catalogue.media.replace({ scope: organisationId, mediaId }, source, createCall())
    await catalogue.jobs.apply(second.jobId, { kind: 'published', renditions: buildRenditionSet(second.jobId) }, 1)
    const third = await catalogue.media.replace({ scope: organisationId, mediaId }, source, createCall())
    await catalogue.jobs.apply(third.jobId, { kind: 'failed', code: 4002, message: 'no video' }, 1)
    const { videoId: publish } = await catalogue.media.publish({ scope: organisationId, mediaId }, '7', createCall())
    await catalogue.media.remove({ scope: organisationId, mediaId }, { userId: '7', callerId: '7', notes: '' })
    const seen: [string, unknown][] = []
    for (;;) {
      const [sending, ...more] = await leaseAll(webhook)
      expect(more).toEqual([])
      if (!sending) break
      const { type, data } = JSON.parse(sending.body) as { type: string; data: Record<string, string> }
      expect(data).toMatchObject({ media_id: mediaId, organisation_id: organisationId })
      seen.push([type, data['video_id']])
      expect(await sendings.recordResult(sending, 204)).toBe('delivered')
    }
    expect(seen.slice(0, 6)).toEqual([
      ['video.created', videoId],
      ['video.playable', videoId],
      ['video.ready', videoId],
      ['media.replaced', videoId],
      ['video.failed', videoId],
      ['video.created', publish],
    ])
    expect(seen.slice(6).toSorted()).toEqual([videoId, publish].toSorted().map((id) => ['video.deleted', id]))
    expect(await readLanes(webhook)).toEqual([])
    expect((await log(webhook)).every(({ state, responseCode }) => state === 'delivered' && responseCode === 204)).toBe(true)
  })
  test('of a failed upload that was replaced successfully contain no replacement event', async () => {
    const webhook = await createWebhook()
    const { mediaId, jobId } = await upload(webhook)
    await catalogue.jobs.apply(jobId, { kind: 'failed', code: 4002, message: 'no video' }, 1)
    const source = { sourceUrl: 'https://example.org/b.mp4', userId: '7', startsWaiting: false }
    const second = await catalogue.media.replace({ scope: webhook.organisationId, mediaId }, source, createCall())
    await catalogue.jobs.apply(second.jobId, { kind: 'published', renditions: buildRenditionSet(second.jobId) }, 1)
    const seen: string[] = []
    for (let [sending] = await leaseAll(webhook); sending; [sending] = await leaseAll(webhook)) {
      seen.push((JSON.parse(sending.body) as { type: string }).type)
      await sendings.recordResult(sending, 204)
    }
    expect(seen).toEqual(['video.created', 'video.failed', 'video.playable', 'video.ready'])
  })
  test('are sent to the subscribers of their organisation', async () => {
    const [all, ready, other] = [await createWebhook(), await createWebhook({ events: ['video.ready'] }), await createWebhook()]
    const { organisationId } = all
    const both = await createWebhook({ organisationId, events: ['video.ready', 'video.created'] })
    const { jobId } = await upload(all)
    await catalogue.jobs.apply(jobId, { kind: 'published', renditions: buildRenditionSet(jobId) }, 1)
    const types = async (webhook: CreatedWebhook) => (await log(webhook)).map(({ event }) => event)
    expect(await types(all)).toEqual(['video.created', 'video.playable', 'video.ready'])
    expect(await types(both)).toEqual(['video.created', 'video.ready'])
    expect([await types(ready), await types(other)]).toEqual([[], []])
  })
  test('without a subscriber are not stored, and a rejected change stores none', async () => {
    const count = async () => (await catalogue.db.query<{ n: number }>('select count(*)::int as n from event'))[0]?.n
    const webhook = await createWebhook({ events: ['key.expiring'] })
    const before = await count()
    await upload(webhook)
    expect(await count()).toBe(before)
    const eager = await createWebhook()
    await expect(catalogue.upload({ themeId: '77' }, { organisationId: eager.organisationId })).rejects.toMatchObject({ kind: 'not_found' })
    expect(await count()).toBe(before)
  })
  test('of other services are accepted once', async () => {
    const webhook = await createWebhook()
    const events = createEventStore(catalogue.db)
    const event = {
      eventId: `key-${webhook.webhookId}`,
      type: 'key.expiring',
      organisationId: webhook.organisationId,
      objectKey: 'key:1',
      dataJson: '{"user_id":"7","n":9007199254740993}',
    }
    for (let repeated = 0; repeated < 3; repeated++) await events.addFromService(event)
    expect((await log(webhook)).map(({ event: type }) => type)).toEqual(['key.expiring'])
    const { eventId, body } = await leaseOne(webhook)
    expect([eventId, body]).toEqual([event.eventId, expect.stringContaining('9007199254740993')])
  })
})

describe('a delivery', () => {
  test('waits for earlier deliveries of its video, and for no others', async () => {
    const webhook = await createWebhook({ events: ['video.created', 'video.ready'] })
    const first = await upload(webhook)
    await catalogue.jobs.apply(first.jobId, { kind: 'published', renditions: buildRenditionSet(first.jobId) }, 1)
    await upload(webhook)
    const sendings1 = await leaseAll(webhook)
    expect(sendings1.map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual(['video.created', 'video.created'])
    expect(await sendings.recordResult(sendings1[0] as Sending, 500)).toBe('retry')
    expect(await leaseAll(webhook)).toEqual([])
    await makeDue(webhook)
    const repeated = await leaseOne(webhook)
    expect([repeated.deliveryId, repeated.attempt, repeated.body]).toEqual([sendings1[0]?.deliveryId, 2, sendings1[0]?.body])
    expect(await sendings.recordResult(repeated, 200)).toBe('delivered')
    expect(JSON.parse((await leaseOne(webhook)).body)).toMatchObject({ type: 'video.ready' })
  })
  test('is retried with growing delays', async () => {
    const webhook = await createWebhook({ events: ['video.created'] })
    await upload(webhook)
    const waits: number[] = []
    for (let attempt = 1; attempt <= 16; attempt++) {
      await sendings.recordResult(await leaseOne(webhook), attempt % 2 ? 503 : undefined)
      waits.push((await readLanes(webhook))[0]?.wait ?? 0)
      await makeDue(webhook)
    }
    for (const [index, wait] of waits.entries()) {
      const middle = Math.min(7_200, 2 ** Math.min(index + 1, 13))
      expect(wait).toBeGreaterThan(middle * 0.7 - 2)
      expect(wait).toBeLessThan(middle * 1.3)
    }
    expect((await log(webhook))[0]).toMatchObject({ attempt: 16, state: 'waiting', responseCode: undefined })
  })
  test('whose sender crashed is leased again, and late results of the former lease are ignored', async () => {
    const webhook = await createWebhook({ events: ['video.created', 'video.deleted'] })
    const { mediaId } = await upload(webhook)
    const dead = await leaseOne(webhook)
    expect(await leaseAll(webhook)).toEqual([])
    await makeDue(webhook)
    const alive = await leaseOne(webhook)
    expect([alive.deliveryId, alive.attempt]).toEqual([dead.deliveryId, 2])
    expect(await sendings.recordResult(dead, undefined)).toBe('lost')
    expect(await sendings.recordResult(alive, 200)).toBe('delivered')
    // The lane was deleted and created again. The fence of the old lane does not match the new one.
    await catalogue.media.remove({ scope: null, mediaId }, { userId: '7', callerId: '7', notes: '' })
    const next = await leaseOne(webhook)
    expect(await sendings.recordResult(dead, 200)).toBe('lost')
    expect(await sendings.recordResult(alive, 200)).toBe('lost')
    expect(await sendings.recordResult(next, 200)).toBe('delivered')
  })
  test('is leased by one of many senders', async () => {
    const webhook = await createWebhook({ events: ['video.created'] })
    for (let count = 0; count < 10; count++) await upload(webhook)
    const responses = await Promise.all(Array.from({ length: 30 }, () => sendings.lease(noneBusy)))
    const own = responses.flatMap((result) => (result?.webhookId === webhook.webhookId ? [result.deliveryId] : []))
    expect(new Set(own).size).toBe(own.length)
    expect(own.length + (await leaseAll(webhook)).length).toBe(10)
  })
  test('is skipped while its webhook or organisation is at the limit', async () => {
    const webhook = await createWebhook({ events: ['video.created'] })
    await upload(webhook)
    while (await sendings.lease({ webhookIds: [webhook.webhookId], organisationIds: [] })) {
      // Leases the deliveries that other tests left.
    }
    expect(await sendings.lease({ webhookIds: [], organisationIds: [webhook.organisationId] })).toBeUndefined()
    expect(await sendings.lease(noneBusy)).toMatchObject({ webhookId: webhook.webhookId })
  })
  test('is not lost when it is queued while its lane becomes empty', async () => {
    const webhook = await createWebhook({ events: ['video.created', 'video.playable', 'video.ready'] })
    const { jobId } = await upload(webhook)
    const sending = await leaseOne(webhook)
    await Promise.all([
      sendings.recordResult(sending, 200),
      catalogue.jobs.apply(jobId, { kind: 'published', renditions: buildRenditionSet(jobId) }, 1),
    ])
    expect(JSON.parse((await leaseOne(webhook)).body)).toMatchObject({ type: 'video.playable' })
  })
})

describe('a test call', () => {
  test('fails after three attempts, does not disable the webhook, and allows the next test call', async () => {
    const webhook = await createWebhook({ events: ['video.created'] })
    for (let round = 0; round < 2; round++) {
      await deliveries.test(webhook.key, createCall())
      const ends: string[] = []
      for (let tries = 0; tries < 3; tries++) {
        await makeDue(webhook)
        ends.push(await sendings.recordResult(await leaseOne(webhook), 404))
      }
      expect(ends).toEqual(['retry', 'retry', 'failed'])
      expect(await readLanes(webhook)).toEqual([])
    }
    expect(await webhooks.require(webhook.key)).toMatchObject({ enabled: true, disabledReason: '' })
    expect((await log(webhook)).map(({ event, state, responseCode }) => [event, state, responseCode])).toEqual(
      [1, 2].map(() => ['webhook.test', 'failed', 404]),
    )
  })
  test('and all pending deliveries are retried immediately after a change of the URL', async () => {
    const webhook = await createWebhook({ events: ['video.created'] })
    await upload(webhook)
    await sendings.recordResult(await leaseOne(webhook), 404)
    expect(await leaseAll(webhook)).toEqual([])
    await webhooks.update(webhook.key, (current) => ({ ...current, url: 'https://other.example/hook' }))
    expect(await leaseOne(webhook)).toMatchObject({ url: 'https://other.example/hook', attempt: 2 })
  })
})

describe('after 24 hours of failures', () => {
  test('the webhook is disabled with a reason, and pending deliveries continue when it is enabled', async () => {
    const webhook = await createWebhook({ events: ['video.created'] })
    await upload(webhook)
    await upload(webhook)
    const [late, other] = await leaseAll(webhook)
    if (!late || !other) throw new Error('too little was due')
    await catalogue.db.query(`update webhook_delivery set first_attempt_time = now() - interval '25 hours' where delivery_id = $1`, [
      late.deliveryId,
    ])
    expect(await sendings.recordResult(late, 500)).toBe('disabled')
    // A call that was active when the webhook was disabled does not restart its lane.
    expect(await sendings.recordResult(other, 500)).toBe('retry')
    expect((await readLanes(webhook)).map(({ next_time }) => next_time)).toEqual([Number.POSITIVE_INFINITY])
    const { enabled, disabledReason } = await webhooks.require(webhook.key)
    expect([enabled, disabledReason]).toEqual([false, 'disabled: an event could not be delivered for 24 hours'])
    expect((await log(webhook)).map(({ event, state }) => [event, state])).toEqual([
      ['video.created', 'failed'],
      ['video.created', 'waiting'],
      ['webhook.disabled', 'note'],
    ])
    await upload(webhook)
    expect([await leaseAll(webhook), (await log(webhook)).length]).toEqual([[], 3])
    await expect(deliveries.test(webhook.key, createCall())).rejects.toMatchObject({ reason: 'WEBHOOK_DISABLED' })
    await expect(deliveries.resend(webhook.key, late.deliveryId, createCall())).rejects.toMatchObject({ reason: 'WEBHOOK_DISABLED' })
    expect(await webhooks.update(webhook.key, (current) => ({ ...current, enabled: true }))).toMatchObject({
      enabled: true,
      disabledReason: '',
    })
    expect((await leaseAll(webhook)).map(({ deliveryId }) => deliveryId)).toEqual([other.deliveryId])
  })
  test('a webhook that was disabled by a user has another 24 hours for pending deliveries', async () => {
    const webhook = await createWebhook({ events: ['video.created'] })
    await upload(webhook)
    await sendings.recordResult(await leaseOne(webhook), 500)
    await webhooks.update(webhook.key, (current) => ({ ...current, enabled: false }))
    await catalogue.db.query(`update webhook_delivery set first_attempt_time = now() - interval '30 hours' where webhook_id = $1`, [
      webhook.webhookId,
    ])
    expect(await leaseAll(webhook)).toEqual([])
    await webhooks.update(webhook.key, (current) => ({ ...current, enabled: true }))
    expect(await sendings.recordResult(await leaseOne(webhook), 500)).toBe('retry')
  })
})

describe('the delivery log', () => {
  test('lists deliveries newest first, page by page, and each finished delivery can be sent again', async () => {
    const webhook = await createWebhook({ events: ['video.created'] })
    await upload(webhook)
    const sent = await leaseOne(webhook)
    await expect(deliveries.resend(webhook.key, sent.deliveryId, createCall())).rejects.toMatchObject({ reason: 'DELIVERY_WAITING' })
    await sendings.recordResult(sent, 200)
    const repeated = await deliveries.resend(webhook.key, sent.deliveryId, createCall())
    await expect(deliveries.resend(webhook.key, sent.deliveryId, createCall())).rejects.toMatchObject({ reason: 'DELIVERY_WAITING' })
    await expect(deliveries.resend(webhook.key, '9007199254740991', createCall())).rejects.toMatchObject({ reason: 'DELIVERY_NOT_FOUND' })
    const leased = await leaseOne(webhook)
    expect([leased.deliveryId, leased.eventId, leased.body]).toEqual([repeated, sent.eventId, sent.body])
    const tested = await deliveries.test(webhook.key, createCall())
    await expect(deliveries.test(webhook.key, createCall())).rejects.toMatchObject({ reason: 'DELIVERY_WAITING' })
    const page = (place: object) => deliveries.list(webhook.key, { before: '0', limit: 2, skip: 0, ...place })
    const ids = async (place: object) => (await page(place)).map(({ deliveryId }) => deliveryId)
    expect([await ids({}), await ids({ before: repeated }), await ids({ skip: 1 })]).toEqual([
      [tested, repeated],
      [sent.deliveryId],
      [repeated, sent.deliveryId],
    ])
  })
  test('is bounded, and a webhook with too many pending deliveries is disabled', async () => {
    const short = createDeliveryStore(catalogue.db, { maxLogEntries: 3, maxWaiting: 3 })
    const [quick, slow] = [await createWebhook({ events: ['video.created'] }), await createWebhook({ events: ['video.created'] })]
    for (let count = 0; count < 5; count++) {
      await upload(quick)
      await sendings.recordResult(await leaseOne(quick), 200)
      await upload(slow)
    }
    const before = await log(quick)
    await short.trim()
    expect(await log(quick)).toEqual(before.slice(2))
    expect(await webhooks.require(quick.key)).toMatchObject({ enabled: true })
    expect(await webhooks.require(slow.key)).toMatchObject({ enabled: false, disabledReason: expect.stringContaining('more than 3') })
    expect((await log(slow)).at(-1)).toMatchObject({ event: 'webhook.disabled', state: 'note' })
  })
  test('is deleted after seven days together with its events', async () => {
    const webhook = await createWebhook({ events: ['video.created'] })
    await upload(webhook)
    await upload(webhook)
    const [old] = await log(webhook)
    await catalogue.db.query(
      `update event set create_time = now() - interval '8 days' where event_id = (select event_id from webhook_delivery where delivery_id = $1)`,
      [old?.deliveryId],
    )
    await createEventStore(catalogue.db).sweep(100)
    expect((await log(webhook)).map(({ deliveryId }) => deliveryId)).not.toContain(old?.deliveryId)
    expect(await log(webhook)).toHaveLength(1)
  })
})
