import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createOutbox } from '@vitascope/postgres'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { Webhook } from 'standardwebhooks'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { cdnPurgeHandlers } from './cdn-purge.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

let database: CatalogueDatabase
beforeAll(async () => {
  database = await catalogueDatabase()
})
afterAll(() => database.close())

interface Payload {
  videoId: string
  version: string
  pass: number
}

/** Runs a change and returns the payloads that it enqueued. */
async function collect(change: () => Promise<unknown>): Promise<Omit<Payload, 'pass'>[]> {
  await database.db.query(`delete from outbox where topic = 'cdn_purge'`)
  await change()
  const rows = await database.db.query<{ payload: Payload; delay: number }>(
    `select payload, round(extract(epoch from next_time - now()))::int as delay from outbox where topic = 'cdn_purge' order by outbox_id`,
  )
  // Each version is purged after the caches of delivery, and again after long transfers.
  const versions = (pass: number) => rows.flatMap(({ payload: { pass: ofRow, ...ended } }) => (ofRow === pass ? [ended] : []))
  expect(versions(2)).toEqual(versions(1))
  for (const { payload, delay } of rows)
    expect([payload.pass, delay <= 3, delay > 50]).toEqual([payload.pass, payload.pass === 1, payload.pass === 2])
  await database.db.query(`delete from outbox where topic = 'cdn_purge' and next_time > now() + interval '50 s'`)
  return versions(1)
}
const readVersion = async (videoId: string) => (await database.videos.find(null, videoId))?.deliveryVersion ?? ''

test('a protected, disabled or deleted video is purged in the transaction of the change', async () => {
  const { videoId, mediaId } = await database.play()
  const first = await readVersion(videoId)
  const update = (fields: { tokenRequired?: boolean; enabled?: boolean; title?: string }) =>
    database.videos.update({ scope: null, videoId }, '7', (current) => ({ ...current, ...fields }))
  expect(await collect(() => update({ title: 'other' }))).toEqual([])
  expect(await collect(() => update({ tokenRequired: true }))).toEqual([{ videoId, version: first }])
  const second = await readVersion(videoId)
  expect(await collect(() => update({ enabled: false }))).toEqual([{ videoId, version: second }])
  const third = await readVersion(videoId)
  expect(await collect(() => database.db.query('delete from media where media_id = $1', [mediaId]))).toEqual([{ videoId, version: third }])
})

test('a replaced set is purged when it is no longer available, or when the video is protected before', async () => {
  const { videoId } = await database.play()
  const replace = async (version: string) => {
    await database.db.query(`insert into delivery_set values ($1, $2, 1, 'media/1/1', now() + interval '1 hour')`, [videoId, version])
    await database.db.query('update video set delivery_version = new_delivery_version() where video_id = $1', [videoId])
  }
  const first = await readVersion(videoId)
  expect(await collect(() => replace(first))).toEqual([])
  const end = () => database.db.query('delete from delivery_set where video_id = $1', [videoId])
  expect(await collect(end)).toEqual([{ videoId, version: first }])
  const second = await readVersion(videoId)
  await replace(second)
  const third = await readVersion(videoId)
  const protect = () => database.videos.update({ scope: null, videoId }, '7', (current) => ({ ...current, tokenRequired: true }))
  const purged = (await collect(protect)).map(({ version }) => version)
  expect(purged.sort()).toEqual([second, third].sort())
})

test('the purge of a version does not wait for those of other versions of the video', async () => {
  const { videoId } = await database.play()
  const version = await readVersion(videoId)
  await database.db.query(`insert into delivery_set values ($1, 'earlier', 1, 'media/1/1', now() + interval '1 hour')`, [videoId])
  await database.db.query(`delete from outbox where topic = 'cdn_purge'`)
  await database.videos.update({ scope: null, videoId }, '7', (current) => ({ ...current, tokenRequired: true }))
  // The outbox sends a message after the earlier ones of its key.
  const firstMessages = await database.db.query<{ payload: Payload }>(
    `select distinct on (key) payload from outbox where topic = 'cdn_purge' order by key, outbox_id`,
  )
  const firstPasses = firstMessages.map(({ payload }) => `${payload.version} ${payload.pass}`)
  expect(firstPasses.sort()).toEqual(['earlier 1', `${version} 1`].sort())
})

test('a rolled-back change purges nothing', async () => {
  const { videoId } = await database.play()
  const change = () =>
    database.db
      .transaction(async ({ query }) => {
        await query('update video set delivery_version = new_delivery_version() where video_id = $1', [videoId])
        throw new Error('no')
      })
      .catch(() => undefined)
  expect(await collect(change)).toEqual([])
})

test('calls are signed, and repeated while the receiver fails or does not respond', async () => {
  const received: { body: string; headers: Record<string, string> }[] = []
  let status = 503
  const receiver = createServer(async (request, response) => {
    received.push({ body: await text(request), headers: request.headers as Record<string, string> })
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/purge`
  const metrics = createMetrics('test')
  const outbox = createOutbox({ db: database.db, handlers: cdnPurgeHandlers({ url, secret: SECRET }, metrics, testLog), log: testLog })
  const { videoId } = await database.play()
  const version = await readVersion(videoId)
  await collect(() => database.videos.update({ scope: null, videoId }, '7', (current) => ({ ...current, enabled: false })))
  // Messages to encoding have no handler here.
  await database.db.query(`delete from outbox where topic <> 'cdn_purge'`)
  outbox.start()
  await waitFor(() => received.length >= 1)
  status = 200
  await waitFor(async () => (await database.db.query('select from outbox')).length === 0, { timeout: 30_000 })
  expect(received.length).toBeGreaterThanOrEqual(2)
  for (const { body, headers } of received) {
    expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({
      type: 'delivery.purge',
      data: { video_id: videoId, prefix: `/delivery/${videoId}/${version}`, tags: [`version-${version}`] },
    })
    expect(headers['webhook-id']).toBe(`purge-${version}-1`)
  }
  expect(await metrics.text()).toMatch(/vitascope_catalogue_cdn_purges_total\{[^}]*outcome="failed"[^}]*\} [1-9]/)
  await outbox.stop()
  receiver.close()
})

test('without a URL, messages are dropped', async () => {
  const outbox = createOutbox({ db: database.db, handlers: cdnPurgeHandlers(undefined, createMetrics('test'), testLog), log: testLog })
  const { videoId } = await database.play()
  await collect(() => database.videos.update({ scope: null, videoId }, '7', (current) => ({ ...current, enabled: false })))
  await database.db.query(`delete from outbox where topic <> 'cdn_purge'`)
  outbox.start()
  await waitFor(async () => (await database.db.query('select from outbox')).length === 0, { timeout: 30_000 })
  await outbox.stop()
})
