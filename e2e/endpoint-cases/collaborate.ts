import { expect } from '@jest/globals'
import {
  createClip,
  createEntry,
  createForeignVideo,
  createLink,
  createVideoWithEntry,
  type Entry,
  findEmail,
  MISSING,
  MISSING_VIDEO,
  readEntry,
  rejectedIdCalls,
  waitUntilDeleted,
} from '../support/collaborate-steps.ts'
import type { NounRows, Row } from '../support/table-row.ts'
import { createUser } from '../support/video-steps.ts'
import { clipRows } from './collaborate-clip.ts'
import { guestReviewRows } from './guest-review.ts'

const entryDeletion = (suffix: string): Row => ({
  endpoint: `DELETE /collaborate/item/{collaborate_id}${suffix}`,
  async works(fixture) {
    const { clients } = fixture
    const { id, video_id } = await createVideoWithEntry(fixture)
    const clip = await createClip(fixture, id)
    const original_data = await readEntry(fixture, id)
    const { status, body } = await clients.uploader.delete(`/collaborate/item/${id}${suffix}`)
    expect([status, body]).toEqual([200, { deleted: id, original_data }])
    expect((await clients.owner.get(`/collaborate/clip/${clip}`)).status).toBe(404)
    expect((await clients.owner.get(`/collaborate/${video_id}`)).body).toEqual({})
    expect((await clients.owner.delete(`/collaborate/item/${id}${suffix}`)).status).toBe(404)
    const bySystem = await createEntry(fixture, video_id)
    expect((await clients.system.delete(`/collaborate/item/${bySystem}${suffix}`)).status).toBe(200)
  },
  async rejectedCalls(fixture) {
    const { id } = await createVideoWithEntry(fixture)
    await createClip(fixture, id)
    return rejectedIdCalls('DELETE', (one) => `/collaborate/item/${one}${suffix}`, id, 'collaboration_not_found')
  },
})

export const collaborateRows: NounRows = {
  noun: 'collaborate',
  rows: [
    {
      endpoint: 'GET /collaborate/{video_id}',
      async works(fixture) {
        const { clients, owner, uploader } = fixture
        const { video_id, media_id } = await fixture.video()
        expect((await clients.owner.get(`/collaborate/${video_id}`)).body).toEqual({})
        const deletedUser = await createUser(clients.system, owner.organisationId, 'uploader')
        const ids: string[] = []
        for (const userId of [uploader.userId, owner.userId, deletedUser.userId]) ids.push(await createEntry(fixture, video_id, userId))
        const clips = [await createClip(fixture, ids[0] ?? ''), await createClip(fixture, ids[0] ?? '')]
        for (const api of [clients.uploader, clients.system]) {
          const { status, body } = await api.get<Record<string, Entry>>(`/collaborate/${video_id}`)
          expect([status, Object.keys(body)]).toEqual([200, ids])
          expect(body[ids[0] ?? '']).toEqual(await readEntry(fixture, ids[0] ?? ''))
          expect(body[ids[0] ?? '']?.clips.map(({ id }) => id)).toEqual(clips)
          expect(Object.values(body).map((entry) => [entry['user_id'], entry['is_uploader_account']])).toEqual([
            [uploader.userId, true],
            [owner.userId, false],
            [deletedUser.userId, true],
          ])
        }
        const part = await clients.owner.get(`/collaborate/${video_id}?start=2&limit=1`)
        const next = /<[^>]*\/v2([^>]*)>/.exec(part.headers.get('link') ?? '')?.[1] ?? ''
        const after = await clients.owner.get(next)
        expect([Object.keys(part.body), Object.keys(after.body), after.headers.get('link')]).toEqual([[ids[1]], [ids[2]], null])

        const removedEntry = ids[2] ?? ''
        const clip = await createClip(fixture, removedEntry)
        await clients.system.delete(`/user/${deletedUser.userId}`)
        expect(Object.keys((await clients.owner.get(`/collaborate/${video_id}`)).body)).toEqual(ids.slice(0, 2))
        for (const path of [`item/${removedEntry}`, `clip/${clip}`])
          expect((await clients.owner.get(`/collaborate/${path}`)).status).toBe(404)
        await clients.owner.delete(`/media?media_id=${media_id}`)
        for (const path of [video_id, `item/${ids[0]}`, `clip/${clips[0]}`]) {
          expect((await clients.system.get(`/collaborate/${path}`)).status).toBe(404)
        }
        await waitUntilDeleted(fixture, { entryIds: ids, clipIds: [...clips, clip] })
      },
      async rejectedCalls(fixture) {
        const { video_id } = await createVideoWithEntry(fixture)
        return [
          ...rejectedIdCalls('GET', (one) => `/collaborate/${one}`, video_id, 'video_not_found'),
          { method: 'GET', path: `/collaborate/${await createForeignVideo(fixture)}`, status: 404, code: 'video_not_found' },
          { method: 'GET', path: `/collaborate/${video_id}?limit=1001&start=0`, status: 400, fields: ['limit', 'start'] },
          { method: 'GET', path: `/collaborate/${video_id}?cursor=x`, status: 400, fields: ['cursor'] },
        ]
      },
    },
    {
      endpoint: 'GET /collaborate/{video_id}/user/{email}',
      async works(fixture) {
        const { clients, uploader } = fixture
        const { id, video_id } = await createVideoWithEntry(fixture)
        const toPath = (email: string) => `/collaborate/${video_id}/user/${encodeURIComponent(email)}`
        const email = await findEmail(fixture, uploader.userId)
        for (const api of [clients.uploader, clients.system]) {
          expect(await api.get(toPath(email.toUpperCase()))).toMatchObject({ status: 200, body: await readEntry(fixture, id) })
        }
        const second = await createEntry(fixture, video_id)
        expect((await clients.owner.get<Entry>(toPath(email))).body.id).toBe(second)
        await clients.owner.put(`/collaborate/item/${id}/put`, { email: 'Guest.Editor@example.org' })
        expect((await clients.owner.get<Entry>(toPath('guest.editor@EXAMPLE.org'))).body.id).toBe(id)
        await clients.owner.delete(`/collaborate/item/${second}`)
        expect((await clients.owner.get<Entry>(toPath(email))).body.id).toBe(id)
      },
      async rejectedCalls(fixture) {
        const { owner, uploader } = fixture
        const { video_id } = await createVideoWithEntry(fixture)
        const email = await findEmail(fixture, uploader.userId)
        const noEntry = await findEmail(fixture, owner.userId)
        return [
          ...rejectedIdCalls('GET', (one) => `/collaborate/${one}/user/${email}`, video_id, 'video_not_found'),
          ...[noEntry, 'nobody@example.org', 'x', '%20', 'x'.repeat(400)].map((bad) => ({
            method: 'GET',
            path: `/collaborate/${video_id}/user/${bad}`,
            status: 404,
            code: 'collaboration_not_found',
          })),
        ]
      },
    },
    {
      endpoint: 'POST /collaborate/{video_id}',
      async works(fixture) {
        const { clients, owner, uploader } = fixture
        const { video_id } = await fixture.video()
        const created = await clients.uploader.post<{ id: string; data: object }>(`/collaborate/${video_id}`, {
          user_id: Number(owner.userId),
        })
        const data = { user_id: owner.userId, user_id_created: uploader.userId, video_id, date_created: expect.any(String) }
        expect([created.status, created.body]).toEqual([200, { id: expect.stringMatching(/^\d+$/), data }])
        const entry = await readEntry(fixture, created.body.id)
        expect(entry).toEqual({
          ...created.body.data,
          id: created.body.id,
          organisation_id: owner.organisationId,
          user_id_modified: uploader.userId,
          email: await findEmail(fixture, owner.userId),
          is_uploader_account: false,
          date_modified: entry['date_created'],
          guest_link_expires: '',
          clips: [],
        })
        const entryWithoutUser = await clients.system.send<{ id: string }>('POST', `/collaborate/${video_id}`)
        expect(entryWithoutUser).toMatchObject({ status: 200, body: { data: { user_id: '' } } })
        expect(await readEntry(fixture, entryWithoutUser.body.id)).toMatchObject({ user_id: '', email: '', is_uploader_account: false })
        const ofGuest = await clients.uploader.post<{ id: string }>(`/collaborate/${video_id}`, { email: 'guest@example.org' })
        expect(await readEntry(fixture, ofGuest.body.id)).toMatchObject({
          user_id: '',
          email: 'guest@example.org',
          is_uploader_account: false,
        })

        const key = { 'idempotency-key': 'an entry' }
        const sendOnce = (body: URLSearchParams) =>
          clients.owner.send<{ id: string }>('POST', `/collaborate/${video_id}`, { body, headers: key })
        const first = await sendOnce(new URLSearchParams({ user_id: uploader.userId }))
        const repeated = await sendOnce(new URLSearchParams({ data: JSON.stringify({ user_id: uploader.userId }) }))
        expect(repeated).toMatchObject({ status: 200, body: first.body })
        expect((await sendOnce(new URLSearchParams({ user_id: owner.userId }))).status).toBe(422)
        expect(Object.keys((await clients.owner.get(`/collaborate/${video_id}`)).body)).toHaveLength(4)

        for (let count = 4; count < 99; count++) await createEntry(fixture, video_id)
        const raced = await Promise.all(
          Array.from({ length: 5 }, () => clients.owner.post(`/collaborate/${video_id}`, { user_id: owner.userId })),
        )
        expect(raced.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409])
        expect(Object.keys((await clients.owner.get(`/collaborate/${video_id}`)).body)).toHaveLength(100)
      },
      async rejectedCalls(fixture) {
        const { clients, owner, otherTenant } = fixture
        const [{ video_id }, full] = [await fixture.video(), await fixture.video()]
        for (let count = 0; count < 100; count++) await createEntry(fixture, full.video_id)
        const deletedUser = await createUser(clients.system, owner.organisationId, 'uploader')
        await clients.system.delete(`/user/${deletedUser.userId}`)
        const userFields = { user_id: owner.userId }
        const rejectedCall = { method: 'POST', path: `/collaborate/${video_id}` }
        const ids = rejectedIdCalls('POST', (one) => `/collaborate/${one}`, video_id, 'video_not_found', userFields)
        return [
          ...ids,
          {
            method: 'POST',
            path: `/collaborate/${await createForeignVideo(fixture)}`,
            payload: userFields,
            status: 404,
            code: 'video_not_found',
          },
          { method: 'POST', path: `/collaborate/${MISSING_VIDEO}`, payload: userFields, status: 404, code: 'video_not_found' },
          { ...rejectedCall, payload: {}, status: 400, fields: ['user_id'] },
          { ...rejectedCall, status: 400, fields: ['user_id'] },
          { ...rejectedCall, payload: { email: '' }, status: 400, fields: ['user_id'] },
          { ...rejectedCall, payload: { email: 'x' }, status: 400, fields: ['email'] },
          ...[otherTenant.userId, deletedUser.userId, MISSING].flatMap((user_id) => [
            { ...rejectedCall, payload: { user_id }, status: 404, code: 'user_not_found' },
            { ...rejectedCall, caller: 'system' as const, payload: { user_id }, status: 404, code: 'user_not_found' },
          ]),
          ...['x', '', '0', -1, 1.5, null, true].map((user_id) => ({
            ...rejectedCall,
            payload: { user_id },
            status: 400,
            fields: ['user_id'],
          })),
          {
            ...rejectedCall,
            payload: {
              ...userFields,
              organisation_id: otherTenant.organisationId,
              id: '1',
              date_created: '2030-01-01 00:00:00',
              user_id_created: '1',
            },
            status: 400,
            fields: ['organisation_id', 'id', 'date_created', 'user_id_created'],
          },
          { method: 'POST', path: `/collaborate/${full.video_id}`, payload: userFields, status: 409, code: 'collaboration_full' },
        ]
      },
    },
    {
      endpoint: 'GET /collaborate/item/{collaborate_id}',
      async works(fixture) {
        const { clients, uploader } = fixture
        const { id, video_id } = await createVideoWithEntry(fixture)
        const clip = await createClip(fixture, id)
        for (const api of [clients.uploader, clients.system]) {
          const { status, body } = await api.get<Entry>(`/collaborate/item/${id}`)
          expect([status, body]).toMatchObject([200, { id, video_id, user_id: uploader.userId, is_uploader_account: true }])
          expect(body.clips).toEqual([expect.objectContaining({ id: clip, collaborate_id: id, order: 0 })])
        }
        const { headers } = await clients.owner.get(`/collaborate/item/${id}`)
        const etag = headers.get('etag') ?? ''
        expect((await clients.owner.send('GET', `/collaborate/item/${id}`, { headers: { 'if-none-match': etag } })).status).toBe(304)
      },
      async rejectedCalls(fixture) {
        const { id } = await createVideoWithEntry(fixture)
        return rejectedIdCalls('GET', (one) => `/collaborate/item/${one}`, id, 'collaboration_not_found')
      },
    },
    entryDeletion(''),
    entryDeletion('/delete'),
    {
      endpoint: 'PUT /collaborate/item/{collaborate_id}/put',
      async works(fixture) {
        const { clients, owner, uploader } = fixture
        const { id } = await createVideoWithEntry(fixture)
        await createClip(fixture, id)
        const original_data = await readEntry(fixture, id)
        const fields = { user_id: owner.userId, email: 'guest@example.org' }
        const { status, body } = await clients.uploader.put(`/collaborate/item/${id}/put`, fields)
        const new_data = await readEntry(fixture, id)
        expect([status, body]).toEqual([200, { updated: id, original_data, new_data }])
        expect(new_data).toEqual({
          ...original_data,
          ...fields,
          user_id_modified: uploader.userId,
          is_uploader_account: false,
          date_modified: expect.any(String),
        })
        for (const length of [253, 254]) {
          const email = `${'e'.repeat(length - 12)}@example.org`
          expect((await clients.owner.put(`/collaborate/item/${id}/put`, { email })).body).toMatchObject({ new_data: { email } })
        }
        const back = await clients.system.put(`/collaborate/item/${id}/put`, { user_id: uploader.userId, email: '' })
        expect(back.body).toMatchObject({ new_data: { user_id: uploader.userId, email: await findEmail(fixture, uploader.userId) } })
      },
      async rejectedCalls(fixture) {
        const { otherTenant } = fixture
        const { id } = await createVideoWithEntry(fixture)
        const rejectedCall = { method: 'PUT', path: `/collaborate/item/${id}/put` }
        const toPath = (one: string) => `/collaborate/item/${one}/put`
        return [
          ...rejectedIdCalls('PUT', toPath, id, 'collaboration_not_found', { email: 'a@b' }),
          ...[otherTenant.userId, MISSING].map((user_id) => ({
            ...rejectedCall,
            payload: { user_id },
            status: 404,
            code: 'user_not_found',
          })),
          { ...rejectedCall, caller: 'system', payload: { user_id: otherTenant.userId }, status: 404, code: 'user_not_found' },
          { ...rejectedCall, payload: {}, status: 400, fields: ['payload'] },
          { ...rejectedCall, payload: { user_id: '', email: 7 }, status: 400, fields: ['user_id', 'email'] },
          ...[`${'e'.repeat(243)}@example.org`, 'x', 'a@b@c', 'a b@c', '\0@c', '@'].map((email) => ({
            ...rejectedCall,
            payload: { email },
            status: 400,
            fields: ['email'],
          })),
          {
            ...rejectedCall,
            payload: { email: 'a@b', colour: 'red' },
            status: 400,
            fields: ['colour'],
          },
        ]
      },
    },
    ...clipRows,
    ...guestReviewRows,
  ],
  samples: {
    payloads: {
      'POST /collaborate/{}': (v) => ({ user_id: v['user_id'] }),
      'PUT /collaborate/item/{}/put': () => ({ email: 'sample@example.org' }),
      'PUT /collaborate/item/{}/link': () => ({ expires_in: 3_600 }),
      'POST /collaborate/clip/{}/post': () => ({ time_start: 0, time_finish: 1 }),
      'PUT /collaborate/clip/{}/put': () => ({ title: 'Sample' }),
      'POST /review/{}/clip': () => ({ time_start: 0, time_finish: 1 }),
      'PUT /collaborate/clip/{}/order': (v) => ({ order: [v['clip_id']] }),
    },
    async make(fixture) {
      const { id } = await createVideoWithEntry(fixture)
      return { collaborate_id: id, clip_id: await createClip(fixture, id), token: (await createLink(fixture, id)).token }
    },
  },
}
