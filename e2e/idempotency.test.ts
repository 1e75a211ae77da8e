// Faults: C13
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { nouns } from './endpoint-cases/index.ts'
import type { ApiResponse } from './support/api.ts'
import { asSuperuser, dump } from './support/database.ts'
import { fetchOperations, fillPath, type Operation, type Values } from './support/operations.ts'
import { type Platform, startPlatform } from './support/platform.ts'
import type { Samples } from './support/table-row.ts'
import { waitUntilSettled } from './support/video-steps.ts'

type Payload = Record<string, unknown>
type Call = (payload: Payload, key: string) => Promise<ApiResponse<unknown>>

let fixture: Platform
let posts: Operation[]
let values: Values

beforeAll(async () => {
  fixture = await startPlatform()
  posts = (await fetchOperations(fixture.platform)).filter(({ method, path }) => method === 'POST' && !OWN_IDEMPOTENCY.includes(path))
  values = {}
  for (const { samples } of nouns) values = { ...values, ...(await samples.make?.(fixture)) }
}, 120_000)
afterAll(() => fixture?.close())

const PAYLOADS: Samples['payloads'] = Object.assign({}, ...nouns.map(({ samples }) => samples.payloads))
const formatOperation = ({ method, path }: Operation) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`

/** Routes with their own idempotency: a unique name, an offset, an event id, a required object, a challenge, or no effect. */
const OWN_IDEMPOTENCY = [
  '/security/explain',
  '/session',
  '/session/link',
  '/session/reset',
  '/session/oidc',
  '/session/oidc/callback',
  '/session/passkey',
  '/session/passkey/callback',
  '/passkey',
  '/passkey/registration',
  '/video/{video_id}/access',
  '/video/{video_id}/download',
  '/video/{video_id}/download/original',
  '/upload/object',
  '/upload/tus',
  '/media/{media_id}/upload',
  '/upload/ticket/{upload_id}',
  '/upload/success',
  '/analytics/events',
  '/analytics/cmcd',
]

/** Additional fields for routes whose sample payload alone does not succeed. */
const EXTRA_FIELDS: Record<string, () => Payload> = {
  'POST /user': () => ({ email: `${Math.random().toString(36).slice(2)}@example.org` }),
  'POST /folder': () => ({ name: `Folder ${Math.random()}` }),
  'POST /video/upload': () => ({ url: `${fixture.sources.url}/none.mp4` }),
}

/** A second valid payload. Routes without a payload reject theirs because of an unknown field. */
const OTHER_PAYLOADS: Record<string, Payload> = {
  'POST /apikey/{}/generate': { application_name: 'other' },
  'POST /caption': { title: 'other' },
  'POST /collaborate/clip/{}/post': { comments: 'other' },
  'POST /collaborate/{}': { user_id: undefined },
  'POST /review/{}/clip': { comments: 'other' },
  'POST /contact-form': { primary_text: 'other' },
  'POST /contact-form/{}/submission': { email: 'other@example.org' },
  'POST /folder': { name: 'other' },
  'POST /media/encodingformat-post/{}': { encodingformat: 11 },
  'POST /metadata/{}': { name: 'other' },
  'POST /oauth/thirdparty': { username: 'other' },
  'POST /organisation': { name: 'other' },
  'POST /organisation/{}/playback-keys': { name: 'other' },
  'POST /overlay': { title: 'other' },
  'POST /playlist/create/{}': { title: 'other' },
  'POST /presentation': { title: 'other' },
  'POST /queue-job': { job_name: 'other' },
  'POST /setting/{}': { title: 'other' },
  'POST /tag/video/add/{}': { tags: ['other'] },
  'POST /theme/{}': { title: 'other' },
  'POST /upload/ticket': { name: 'other' },
  'POST /upload/signature': { expiration: new Date(Date.now() + 7_200_000).toISOString() },
  'POST /user': { email: 'other@example.org' },
  'POST /video/upload': { name: 'other' },
  'POST /video/{}/token': { expires_in: 61 },
  'POST /webhook': { url: 'https://example.org/other' },
}

async function prepare(operation: Operation): Promise<{ call: Call; payload: Payload }> {
  const name = formatOperation(operation)
  // The last parameter is the id of the record, but for these POST routes the id of an
  // organisation.
  const hasOrganisationId = /^POST \/(setting|theme)\/\{\}$/.test(name)
  const organisationId = values['organisation_id'] ?? ''
  // Only an invited user can be invited.
  const ids = name === 'POST /user/{}/invitation' ? { ...values, user_id: values['invited_user_id'] ?? '' } : values
  const path = fillPath(operation, hasOrganisationId ? { ...ids, setting_id: organisationId, theme_id: organisationId } : ids)
  if (name === 'POST /folder/{}/video/{}/delete') await fixture.clients.owner.post(path.replace(/delete$/, 'add'))
  const api =
    operation.access === 'system' ? fixture.clients.system : operation.access === 'public' ? fixture.clients.guest : fixture.clients.owner
  const payload = { ...PAYLOADS[name]?.(values), ...EXTRA_FIELDS[name]?.() }
  const call: Call = (sent, key) => {
    const body = operation.isList ? [sent] : sent
    return api.post(path, Object.keys(sent).length === 0 ? undefined : body, { 'idempotency-key': key })
  }
  return { call, payload }
}

/** Returns the rows that calls create, without those of background work and the audit log. */
const dumpRows = async () => {
  const background =
    /outbox|idempotency|encoding[.](?!queue_job)|audit|api_key_use|sign_in_link|passkey_challenge|webhook_delivery|webhook_lane|catalogue[.](mail|playback_session|download_|job|event|caption_search)|analytics[.]video$/
  return Object.fromEntries([...(await dump(fixture.platform, background))].filter(([, text]) => text !== ''))
}
const format = ({ status, body }: ApiResponse<unknown>) => `${status} ${JSON.stringify(body)}`

test('every POST route with an idempotency key has its effect once, repeats its response and rejects another payload', async () => {
  const failures: string[] = []
  for (const operation of posts) {
    const name = formatOperation(operation)
    const { call, payload } = await prepare(operation)
    const key = `of ${name}`
    // A rejected call stores nothing. This one is rejected while an earlier test call of the
    // webhook runs.
    const first = await waitFor(async () => {
      const result = await call(payload, key)
      return name === 'POST /webhook/{}/test' && result.status === 409 ? undefined : result
    })
    if (first.status >= 300) {
      failures.push(`${name}: ${format(first)}`)
      continue
    }
    // Its job ends in the background and changes the media.
    if (name === 'POST /video/upload') await waitUntilSettled(fixture.clients.owner, (first.body as { id: string }).id)
    if (name === 'POST /job/{}/retry') await waitUntilSettled(fixture.clients.owner, (first.body as { video_id: string }).video_id)
    const before = await dumpRows()
    const second = await call(payload, key)
    if (format(second) !== format(first)) failures.push(`${name}: ${format(first)}, then ${format(second)}`)
    const otherPayload = OTHER_PAYLOADS[name]
    if (otherPayload) {
      const third = await call({ ...payload, ...otherPayload }, key)
      if (third.status !== 422) failures.push(`${name} with another payload: ${format(third)}`)
    }
    const after = await dumpRows()
    for (const table of Object.keys(after)) if (after[table] !== before[table]) failures.push(`${name} changed ${table} again`)
  }
  expect(failures).toEqual([])
}, 240_000)

test('the test has a second payload for every POST route with a payload', () => {
  const namesWithPayload = posts.filter(({ fields, path }) => fields !== undefined && !path.includes('{tags}')).map(formatOperation)
  expect(namesWithPayload.toSorted()).toEqual(Object.keys(OTHER_PAYLOADS).toSorted())
})

test('a rejected call stores no response: the same call works with its key later', async () => {
  const { owner } = fixture.clients
  const payload = { organisation_id: fixture.owner.organisationId, name: 'Taken' }
  const key = { 'idempotency-key': 'rejected first' }
  const taken = await owner.post<{ created: string }>('/folder', payload)
  expect(await owner.post('/folder', payload, key)).toMatchObject({ status: 409, body: { code: 'folder_exists' } })
  await owner.delete(`/folder/${taken.body.created}/delete/${fixture.owner.organisationId}`)
  expect(await owner.post('/folder', payload, key)).toMatchObject({ status: 200 })
})

test('a retry returns the first response even if the record was changed or deleted', async () => {
  const { system } = fixture.clients
  const payload = { organisation_id: fixture.owner.organisationId, title: 'As it was' }
  const key = { 'idempotency-key': 'as it was' }
  const first = await system.post<Payload>('/presentation', payload, key)
  expect(first.status).toBe(201)
  const path = `/presentation/${first.body['id']}`
  expect((await system.put(path, { title: 'Changed' })).status).toBe(200)
  expect(format(await system.post('/presentation', payload, key))).toBe(format(first))
  expect((await system.delete(path)).status).toBe(200)
  expect(format(await system.post('/presentation', payload, key))).toBe(format(first))
})

test('an idempotency key applies to one caller and one path', async () => {
  const payload = { organisation_id: fixture.owner.organisationId, title: 'Of one caller' }
  const key = { 'idempotency-key': 'shared' }
  const path = `/playlist/create/${fixture.owner.organisationId}`
  const responses = [
    await fixture.clients.owner.post<Payload>('/overlay', payload, key),
    await fixture.clients.uploader.post<Payload>('/overlay', payload, key),
    await fixture.clients.owner.post<Payload>(path, { title: 'Of one caller' }, key),
  ]
  expect(responses.map(({ status }) => status)).toEqual([201, 201, 200])
  expect(responses[0]?.body['overlay_id']).not.toBe(responses[1]?.body['overlay_id'])
})

test('of concurrent requests with one key, one has an effect; the others return its response or 409', async () => {
  const payload = { title: 'At once' }
  const key = { 'idempotency-key': 'at once' }
  const path = `/theme/${fixture.owner.organisationId}`
  const results = await Promise.all(Array.from({ length: 20 }, () => fixture.clients.owner.post<Payload>(path, payload, key)))
  const [accepted, rejected] = [results.filter(({ status }) => status < 300), results.filter(({ status }) => status >= 300)]
  expect(new Set(accepted.map(format)).size).toBe(1)
  for (const result of rejected) expect(result).toMatchObject({ status: 409, body: { code: 'idempotency_running' } })
  expect(await count('catalogue.theme', 'At once')).toBe(1)
})

const count = (table: 'catalogue.theme', title: string) =>
  asSuperuser(fixture.platform, async (client) => (await client.query(`select from ${table} where title = $1`, [title])).rowCount)
