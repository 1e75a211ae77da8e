import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { EVENT_TYPES } from '@vitascope/proto/event-types'
import { fixedMasterKeys } from '@vitascope/security'
import { webhookEventProblems } from '@vitascope/testing/webhook-events'
import { createCaptionStore } from '../src/caption/caption-store.ts'
import { createDeliveryStore } from '../src/notification/webhook/delivery-store.ts'
import { createSendingStore } from '../src/notification/webhook/sending-store.ts'
import { createWebhookStore } from '../src/notification/webhook/webhook-store.ts'
import { checkNewKey } from '../src/playback-key/playback-key.ts'
import { createPlaybackKeyStore } from '../src/playback-key/playback-key-store.ts'
import { createPlaybackRulesStore } from '../src/playback-rules/playback-rules-store.ts'
import { createSlideJobStore } from '../src/presentation/slide-job-store.ts'
import { buildRenditionSet, createCall } from './builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from './catalogue-database.ts'

const organisationId = '1'
/** Events of other services. The tests of those services compare them with the API document. */
const OTHER_SERVICES_EVENTS = ['key.expiring', 'delivery.throttled']
let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
afterAll(() => catalogue.close())

async function subscribe() {
  const webhooks = createWebhookStore(catalogue.db, fixedMasterKeys('a master key of thirty-two characters, or more'))
  const fields = { organisationId, url: 'http://198.51.100.7/hook', events: [...EVENT_TYPES], enabled: true }
  const { webhook } = await webhooks.create(fields, createCall())
  await createDeliveryStore(catalogue.db).test({ scope: organisationId, webhookId: webhook.webhookId }, createCall())
}

/** Causes every type of event of videos, media and captions. */
async function changeVideos(): Promise<void> {
  const { mediaId, jobId } = await catalogue.play()
  expect(jobId).not.toBe('')
  const caption = { title: 'English', language: 'en-GB', userId: '7', lines: [] }
  await createCaptionStore(catalogue.db).create({ scope: organisationId, mediaId }, caption, createCall())
  const source = { sourceUrl: 'https://example.org/b.mp4', userId: '7', startsWaiting: false }
  const second = await catalogue.media.replace({ scope: organisationId, mediaId }, source, createCall())
  await catalogue.jobs.apply(second.jobId, { kind: 'published', renditions: buildRenditionSet(second.jobId) }, 1)
  const third = await catalogue.media.replace({ scope: organisationId, mediaId }, source, createCall())
  await catalogue.jobs.apply(third.jobId, { kind: 'failed', code: 4002, message: 'no video' }, 1)
  await catalogue.media.remove({ scope: organisationId, mediaId }, { userId: '7', callerId: '7', notes: '' })
}

async function addSlides(): Promise<void> {
  const jobs = createSlideJobStore(catalogue.db, catalogue.enqueue)
  const { presentationId, jobId } = await jobs.add({
    ...{ presentationId: '', organisationId, userId: '7', filename: 'launch.pdf', title: 'launch' },
    ...{ sourceObject: 'upload/1/launch.pdf', sourceBytes: 10 },
  })
  const slides = [{ path: 's1.jpg', thumbnailPath: 't1.jpg', width: 64, height: 36 }]
  const set = { jobId, prefix: `slides/${presentationId}/${jobId}-1`, slides, documentPath: 'document.pdf', bytes: 100 }
  await jobs.apply(jobId, { kind: 'slides', set }, 1)
}

async function changePlaybackRules(): Promise<void> {
  const rules = createPlaybackRulesStore(catalogue.db)
  const { videoId } = await catalogue.upload()
  const denyAll = { defaultDecision: 'deny' as const, rules: [] }
  await rules.set({ videoId, scope: organisationId }, denyAll)
  await rules.set({ organisationId }, denyAll)
}

async function changePlaybackKeys(): Promise<void> {
  const keys = createPlaybackKeyStore(catalogue.db)
  const publicKey = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const { keyId } = await keys.create(checkNewKey({ organisationId, name: 'site', active: true, publicKey }), createCall())
  await keys.update({ scope: organisationId, keyId }, (current) => ({ ...current, name: 'shop' }))
  await keys.remove({ scope: organisationId, keyId })
}

type Event = Parameters<typeof webhookEventProblems>[0]

/** Marks all pending deliveries as successful and returns their bodies. */
async function deliverAll(): Promise<Event[]> {
  const sendings = createSendingStore(catalogue.db)
  const bodies: Event[] = []
  const lease = () => sendings.lease({ webhookIds: [], organisationIds: [] })
  for (let sending = await lease(); sending; sending = await lease()) {
    bodies.push(JSON.parse(sending.body))
    await sendings.recordResult(sending, 204)
  }
  return bodies
}

test('every event of the catalogue has the form that the API document describes', async () => {
  await subscribe()
  await changeVideos()
  await addSlides()
  await changePlaybackRules()
  await changePlaybackKeys()
  const bodies = await deliverAll()
  expect(new Set(bodies.map(({ type }) => type))).toEqual(
    new Set([...EVENT_TYPES.filter((type) => !OTHER_SERVICES_EVENTS.includes(type)), 'webhook.test']),
  )
  expect(bodies.flatMap(webhookEventProblems)).toEqual([])
})

test('an event that does not match the API document is reported', () => {
  const event = { type: 'video.ready', timestamp: '2030-01-01T09:30:00.000Z' }
  const ids = { organisation_id: '1', video_id: '2', media_id: '3' }
  expect(webhookEventProblems({ ...event, data: { ...ids, job_id: '4' } })).toEqual([])
  expect(webhookEventProblems({ ...event, data: ids })).toEqual(["video.ready /data: must have required property 'job_id'"])
  expect(webhookEventProblems({ ...event, data: { ...ids, job_id: '4', title: 'x' } })).toEqual([
    'video.ready /data: must NOT have additional properties',
  ])
  expect(webhookEventProblems({ ...event, type: 'video.lost', data: ids })).toEqual(['video.lost is not in the API document'])
})
