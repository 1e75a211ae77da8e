import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { asSuperuser } from '../support/database.ts'
import type { House, NounRows, Refused, Row } from '../support/table-row.ts'
import { aUser, settled, upload } from '../support/video-steps.ts'

const MISSING_VIDEO = '4611686018427387905'
const MISSING = '9007199254740991'

interface Clip extends Record<string, unknown> {
  id: string
  order: number
}

interface Entry extends Record<string, unknown> {
  id: string
  clips: Clip[]
}

/** An entry of the owner’s uploader on a new video. */
async function anEntry(house: House) {
  const { video_id } = await house.video()
  return { video_id, id: await entryOf(house, video_id) }
}

async function entryOf({ as, uploader }: House, videoId: string, userId = uploader.userId): Promise<string> {
  const { status, body } = await as.owner.post<{ id: string }>(`/collaborate/${videoId}`, { user_id: userId })
  if (status !== 200) throw new Error(`no entry was made: ${JSON.stringify(body)}`)
  return body.id
}

async function clipOf({ as }: House, entryId: string, more: object = {}): Promise<string> {
  const payload = { time_start: 0, time_finish: 1, ...more }
  const { status, body } = await as.owner.post<{ id: string }>(`/collaborate/clip/${entryId}/post`, payload)
  if (status !== 200) throw new Error(`no clip was made: ${JSON.stringify(body)}`)
  return body.id
}

const read = async ({ as }: House, entryId: string) => (await as.owner.get<Entry>(`/collaborate/item/${entryId}`)).body
const order = async (house: House, entryId: string) => (await read(house, entryId)).clips.map(({ id, order }) => [id, order])

async function emailOf({ as, owner }: House, userId: string): Promise<string> {
  const { body } = await as.system.get<{ user_id: string; email: string }[]>(`/user?organisation_id=${owner.organisationId}`)
  return body.find((user) => user.user_id === userId)?.email ?? 'nobody'
}

async function foreignVideo({ as, stranger, sources }: House): Promise<string> {
  const { id } = await upload(as.stranger, stranger.organisationId, `${sources.url}/none.mp4`)
  await settled(as.stranger, id)
  return id
}

/** What is asked of an id by a path that `at` makes: foreign, missing, malformed, and by guests. */
function wrongIds(method: string, at: (id: string) => string, id: string, code: string, payload?: unknown): Refused[] {
  const refused = { method, ...(payload !== undefined && { payload }) }
  return [
    { ...refused, as: 'stranger', path: at(id), status: 404, code },
    { ...refused, path: at(MISSING), status: 404, code },
    { ...refused, as: 'system', path: at(MISSING), status: 404, code },
    { ...refused, path: at('x'), status: 404, code },
    { ...refused, path: at('9'.repeat(30)), status: 404, code },
    { ...refused, as: 'guest', path: at(id), status: 401 },
  ]
}

/** Everything that was stored for the video is gone from the tables too. */
function untilSwept({ platform }: House, videoId: string): Promise<unknown> {
  const rows = () =>
    asSuperuser(
      platform,
      async (client) =>
        (
          await client.query('select 1 from collaboration.entry left join collaboration.clip using (entry_id) where video_id = $1', [
            videoId,
          ])
        ).rows,
    )
  return waitFor(async () => (await rows()).length === 0, { timeout: 90_000, describe: `the entries of video ${videoId} to be swept` })
}

const entryDeletion = (suffix: string): Row => ({
  endpoint: `DELETE /collaborate/item/{collaborate_id}${suffix}`,
  async works(house) {
    const { as } = house
    const { id, video_id } = await anEntry(house)
    const clip = await clipOf(house, id)
    const original_data = await read(house, id)
    const { status, body } = await as.uploader.delete(`/collaborate/item/${id}${suffix}`)
    expect([status, body]).toEqual([200, { deleted: id, original_data }])
    expect((await as.owner.get(`/collaborate/clip/${clip}`)).status).toBe(404)
    expect((await as.owner.get(`/collaborate/${video_id}`)).body).toEqual({})
    expect((await as.owner.delete(`/collaborate/item/${id}${suffix}`)).status).toBe(404)
    const bySystem = await entryOf(house, video_id)
    expect((await as.system.delete(`/collaborate/item/${bySystem}${suffix}`)).status).toBe(200)
  },
  async refused(house) {
    const { id } = await anEntry(house)
    await clipOf(house, id)
    return wrongIds('DELETE', (one) => `/collaborate/item/${one}${suffix}`, id, 'collaboration_not_found')
  },
})

export const collaborateRows: NounRows = {
  noun: 'collaborate',
  rows: [
    {
      endpoint: 'GET /collaborate/{video_id}',
      async works(house) {
        const { as, owner, uploader } = house
        const { video_id, media_id } = await house.video()
        expect((await as.owner.get(`/collaborate/${video_id}`)).body).toEqual({})
        const leaver = await aUser(as.system, owner.organisationId, 'uploader')
        const ids: string[] = []
        for (const userId of [uploader.userId, owner.userId, leaver.userId]) ids.push(await entryOf(house, video_id, userId))
        const clips = [await clipOf(house, ids[0] ?? ''), await clipOf(house, ids[0] ?? '')]
        for (const api of [as.uploader, as.system]) {
          const { status, body } = await api.get<Record<string, Entry>>(`/collaborate/${video_id}`)
          expect([status, Object.keys(body)]).toEqual([200, ids])
          expect(body[ids[0] ?? '']).toEqual(await read(house, ids[0] ?? ''))
          expect(body[ids[0] ?? '']?.clips.map(({ id }) => id)).toEqual(clips)
          expect(Object.values(body).map((entry) => [entry['user_id'], entry['is_uploader_account']])).toEqual([
            [uploader.userId, true],
            [owner.userId, false],
            [leaver.userId, true],
          ])
        }
        const part = await as.owner.get(`/collaborate/${video_id}?start=2&limit=1`)
        const next = /<[^>]*\/v2([^>]*)>/.exec(part.headers.get('link') ?? '')?.[1] ?? ''
        const after = await as.owner.get(next)
        expect([Object.keys(part.body), Object.keys(after.body), after.headers.get('link')]).toEqual([[ids[1]], [ids[2]], null])

        const away = ids[2] ?? ''
        const clip = await clipOf(house, away)
        await as.system.delete(`/user/${leaver.userId}`)
        expect(Object.keys((await as.owner.get(`/collaborate/${video_id}`)).body)).toEqual(ids.slice(0, 2))
        for (const path of [`item/${away}`, `clip/${clip}`]) expect((await as.owner.get(`/collaborate/${path}`)).status).toBe(404)
        await as.owner.delete(`/media?media_id=${media_id}`)
        for (const path of [video_id, `item/${ids[0]}`, `clip/${clips[0]}`]) {
          expect((await as.system.get(`/collaborate/${path}`)).status).toBe(404)
        }
        await untilSwept(house, video_id)
      },
      async refused(house) {
        const { video_id } = await anEntry(house)
        return [
          ...wrongIds('GET', (one) => `/collaborate/${one}`, video_id, 'video_not_found'),
          { method: 'GET', path: `/collaborate/${await foreignVideo(house)}`, status: 404, code: 'video_not_found' },
          { method: 'GET', path: `/collaborate/${video_id}?limit=1001&start=0`, status: 400, fields: ['limit', 'start'] },
          { method: 'GET', path: `/collaborate/${video_id}?cursor=x`, status: 400, fields: ['cursor'] },
        ]
      },
    },
    {
      endpoint: 'GET /collaborate/{video_id}/user/{email}',
      async works(house) {
        const { as, uploader } = house
        const { id, video_id } = await anEntry(house)
        const at = (email: string) => `/collaborate/${video_id}/user/${encodeURIComponent(email)}`
        const email = await emailOf(house, uploader.userId)
        for (const api of [as.uploader, as.system]) {
          expect(await api.get(at(email.toUpperCase()))).toMatchObject({ status: 200, body: await read(house, id) })
        }
        const second = await entryOf(house, video_id)
        expect((await as.owner.get<Entry>(at(email))).body.id).toBe(second)
        await as.owner.put(`/collaborate/item/${id}/put`, { email: 'Guest.Editor@example.org' })
        expect((await as.owner.get<Entry>(at('guest.editor@EXAMPLE.org'))).body.id).toBe(id)
        await as.owner.delete(`/collaborate/item/${second}`)
        expect((await as.owner.get<Entry>(at(email))).body.id).toBe(id)
      },
      async refused(house) {
        const { owner, uploader } = house
        const { video_id } = await anEntry(house)
        const email = await emailOf(house, uploader.userId)
        const noEntry = await emailOf(house, owner.userId)
        return [
          ...wrongIds('GET', (one) => `/collaborate/${one}/user/${email}`, video_id, 'video_not_found'),
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
      async works(house) {
        const { as, owner, uploader } = house
        const { video_id } = await house.video()
        const made = await as.uploader.post<{ id: string; data: object }>(`/collaborate/${video_id}`, { user_id: Number(owner.userId) })
        const data = { user_id: owner.userId, user_id_created: uploader.userId, video_id, date_created: expect.any(String) }
        expect([made.status, made.body]).toEqual([200, { id: expect.stringMatching(/^\d+$/), data }])
        const entry = await read(house, made.body.id)
        expect(entry).toEqual({
          ...made.body.data,
          id: made.body.id,
          organisation_id: owner.organisationId,
          user_id_modified: uploader.userId,
          email: await emailOf(house, owner.userId),
          is_uploader_account: false,
          date_modified: entry['date_created'],
          clips: [],
        })
        const nobodys = await as.system.send<{ id: string }>('POST', `/collaborate/${video_id}`)
        expect(nobodys).toMatchObject({ status: 200, body: { data: { user_id: '' } } })
        expect(await read(house, nobodys.body.id)).toMatchObject({ user_id: '', email: '', is_uploader_account: false })

        const key = { 'idempotency-key': 'an entry' }
        const once = (body: URLSearchParams) => as.owner.send<{ id: string }>('POST', `/collaborate/${video_id}`, { body, headers: key })
        const first = await once(new URLSearchParams({ user_id: uploader.userId }))
        const again = await once(new URLSearchParams({ data: JSON.stringify({ user_id: uploader.userId }) }))
        expect(again).toMatchObject({ status: 200, body: first.body })
        expect((await once(new URLSearchParams({ user_id: owner.userId }))).status).toBe(422)
        expect(Object.keys((await as.owner.get(`/collaborate/${video_id}`)).body)).toHaveLength(3)

        for (let count = 3; count < 99; count++) await entryOf(house, video_id)
        const raced = await Promise.all(
          Array.from({ length: 5 }, () => as.owner.post(`/collaborate/${video_id}`, { user_id: owner.userId })),
        )
        expect(raced.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409])
        expect(Object.keys((await as.owner.get(`/collaborate/${video_id}`)).body)).toHaveLength(100)
      },
      async refused(house) {
        const { as, owner, stranger } = house
        const [{ video_id }, full] = [await house.video(), await house.video()]
        for (let count = 0; count < 100; count++) await entryOf(house, full.video_id)
        const left = await aUser(as.system, owner.organisationId, 'uploader')
        await as.system.delete(`/user/${left.userId}`)
        const own = { user_id: owner.userId }
        const refused = { method: 'POST', path: `/collaborate/${video_id}` }
        const ids = wrongIds('POST', (one) => `/collaborate/${one}`, video_id, 'video_not_found', own)
        return [
          ...ids,
          { method: 'POST', path: `/collaborate/${await foreignVideo(house)}`, payload: own, status: 404, code: 'video_not_found' },
          { method: 'POST', path: `/collaborate/${MISSING_VIDEO}`, payload: own, status: 404, code: 'video_not_found' },
          { ...refused, payload: {}, status: 400, fields: ['user_id'] },
          { ...refused, status: 400, fields: ['user_id'] },
          ...[stranger.userId, left.userId, MISSING].flatMap((user_id) => [
            { ...refused, payload: { user_id }, status: 404, code: 'user_not_found' },
            { ...refused, as: 'system' as const, payload: { user_id }, status: 404, code: 'user_not_found' },
          ]),
          ...['x', '', '0', -1, 1.5, null, true].map((user_id) => ({ ...refused, payload: { user_id }, status: 400, fields: ['user_id'] })),
          {
            ...refused,
            payload: {
              ...own,
              organisation_id: stranger.organisationId,
              id: '1',
              date_created: '2030-01-01 00:00:00',
              user_id_created: '1',
            },
            status: 400,
            fields: ['organisation_id', 'id', 'date_created', 'user_id_created'],
          },
          { method: 'POST', path: `/collaborate/${full.video_id}`, payload: own, status: 409, code: 'collaboration_full' },
        ]
      },
    },
    {
      endpoint: 'GET /collaborate/item/{collaborate_id}',
      async works(house) {
        const { as, uploader } = house
        const { id, video_id } = await anEntry(house)
        const clip = await clipOf(house, id)
        for (const api of [as.uploader, as.system]) {
          const { status, body } = await api.get<Entry>(`/collaborate/item/${id}`)
          expect([status, body]).toMatchObject([200, { id, video_id, user_id: uploader.userId, is_uploader_account: true }])
          expect(body.clips).toEqual([expect.objectContaining({ id: clip, collaborate_id: id, order: 0 })])
        }
        const { headers } = await as.owner.get(`/collaborate/item/${id}`)
        const etag = headers.get('etag') ?? ''
        expect((await as.owner.send('GET', `/collaborate/item/${id}`, { headers: { 'if-none-match': etag } })).status).toBe(304)
      },
      async refused(house) {
        const { id } = await anEntry(house)
        return wrongIds('GET', (one) => `/collaborate/item/${one}`, id, 'collaboration_not_found')
      },
    },
    entryDeletion(''),
    entryDeletion('/delete'),
    {
      endpoint: 'PUT /collaborate/item/{collaborate_id}/put',
      async works(house) {
        const { as, owner, uploader } = house
        const { id } = await anEntry(house)
        await clipOf(house, id)
        const original_data = await read(house, id)
        const fields = { user_id: owner.userId, email: 'guest@example.org' }
        const { status, body } = await as.uploader.put(`/collaborate/item/${id}/put`, fields)
        const new_data = await read(house, id)
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
          expect((await as.owner.put(`/collaborate/item/${id}/put`, { email })).body).toMatchObject({ new_data: { email } })
        }
        const back = await as.system.put(`/collaborate/item/${id}/put`, { user_id: uploader.userId, email: '' })
        expect(back.body).toMatchObject({ new_data: { user_id: uploader.userId, email: await emailOf(house, uploader.userId) } })
      },
      async refused(house) {
        const { stranger } = house
        const { id } = await anEntry(house)
        const refused = { method: 'PUT', path: `/collaborate/item/${id}/put` }
        const at = (one: string) => `/collaborate/item/${one}/put`
        return [
          ...wrongIds('PUT', at, id, 'collaboration_not_found', { email: 'a@b' }),
          ...[stranger.userId, MISSING].map((user_id) => ({ ...refused, payload: { user_id }, status: 404, code: 'user_not_found' })),
          { ...refused, as: 'system', payload: { user_id: stranger.userId }, status: 404, code: 'user_not_found' },
          { ...refused, payload: {}, status: 400, fields: ['payload'] },
          { ...refused, payload: { user_id: '', email: 7 }, status: 400, fields: ['user_id', 'email'] },
          ...[`${'e'.repeat(243)}@example.org`, 'x', 'a@b@c', 'a b@c', '\0@c', '@'].map((email) => ({
            ...refused,
            payload: { email },
            status: 400,
            fields: ['email'],
          })),
          {
            ...refused,
            payload: { email: 'a@b', organisation_id: '1', video_id: '1', is_uploader_account: true, clips: [] },
            status: 400,
            fields: ['organisation_id', 'video_id', 'is_uploader_account', 'clips'],
          },
        ]
      },
    },
    {
      endpoint: 'POST /collaborate/clip/{collaborate_id}/post',
      async works(house) {
        const { as } = house
        const { id } = await anEntry(house)
        const path = `/collaborate/clip/${id}/post`
        const plain = await as.uploader.post<{ id: string; data: Clip }>(path, { time_start: 3, time_finish: '7' })
        expect([plain.status, plain.body]).toEqual([
          200,
          {
            collaborate_id: id,
            id: expect.stringMatching(/^\d+$/),
            data: {
              id: plain.body.id,
              collaborate_id: id,
              ...{ title: '', comments: '', type: 'video', preview: '0', time_start: 3, time_finish: 7, order: 0 },
              date_created: expect.any(String),
            },
          },
        ])
        for (const [comments, type] of [
          [1_999, 49],
          [2_000, 50],
        ] as const) {
          const fields = { comments: '📹'.repeat(comments), type: 't'.repeat(type), time_start: 0, time_finish: 0 }
          const { body } = await as.system.post<{ data: Clip }>(path, { ...fields, preview: true })
          expect(body.data).toMatchObject({ ...fields, preview: '1' })
        }
        expect((await read(house, id)).clips).toEqual([plain.body.data, expect.anything(), expect.anything()])
        const once = () =>
          as.owner.send('POST', path, {
            body: new URLSearchParams({ time_start: '1', time_finish: '2', preview: '1' }),
            headers: { 'idempotency-key': 'a clip' },
          })
        const first = await once()
        expect(await once()).toMatchObject({ status: 200, body: first.body })

        const { video_id, duration } = await house.playing()
        const timed = await entryOf(house, video_id)
        await clipOf(house, timed, { time_start: Math.floor(Number(duration)), time_finish: Math.floor(Number(duration)) })

        for (let count = 4; count < 199; count++) await clipOf(house, id)
        const raced = await Promise.all(Array.from({ length: 5 }, () => as.owner.post(path, { time_start: 0, time_finish: 0 })))
        expect(raced.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409])
        expect((await order(house, id)).map(([, place]) => place)).toEqual(Array.from({ length: 200 }, (_, place) => place))
      },
      async refused(house) {
        const { id } = await anEntry(house)
        const full = (await anEntry(house)).id
        for (let count = 0; count < 200; count++) await clipOf(house, full)
        const { video_id, duration } = await house.playing()
        const timed = await entryOf(house, video_id)
        const good = { time_start: 0, time_finish: 1 }
        const refused = { method: 'POST', path: `/collaborate/clip/${id}/post` }
        const past = Math.floor(Number(duration)) + 1
        return [
          ...wrongIds('POST', (one) => `/collaborate/clip/${one}/post`, id, 'collaboration_not_found', good),
          { ...refused, payload: {}, status: 400, fields: ['time_start', 'time_finish'] },
          { ...refused, payload: { time_start: 2, time_finish: 1 }, status: 400, fields: ['time_finish'] },
          {
            ...refused,
            path: `/collaborate/clip/${timed}/post`,
            payload: { time_start: 0, time_finish: past },
            status: 400,
            fields: ['time_finish'],
          },
          ...[-1, 1.5, 2_147_483_648, 'x', '', null, '1.0'].map((bad) => ({
            ...refused,
            payload: { time_start: bad, time_finish: bad },
            status: 400,
            fields: ['time_start', 'time_finish'],
          })),
          {
            ...refused,
            payload: { ...good, comments: 'x'.repeat(2_001), type: 'x'.repeat(51), preview: 2 },
            status: 400,
            fields: ['comments', 'type', 'preview'],
          },
          { ...refused, payload: { ...good, type: ' ' }, status: 400, fields: ['type'] },
          { ...refused, payload: { ...good, comments: 'a\0' }, status: 400, fields: ['comments'] },
          {
            ...refused,
            payload: { ...good, id: '1', order: 5, collaborate_id: '1', date_created: '', title: 'x' },
            status: 400,
            fields: ['id', 'order', 'collaborate_id', 'date_created', 'title'],
          },
          { ...refused, path: `/collaborate/clip/${full}/post`, payload: good, status: 409, code: 'clips_full' },
        ]
      },
    },
    {
      endpoint: 'GET /collaborate/clip/{clip_id}',
      async works(house) {
        const { as, uploader } = house
        const { id, video_id } = await anEntry(house)
        const clip = await clipOf(house, id, { comments: 'Cut here' })
        const [stored] = (await read(house, id)).clips
        for (const api of [as.uploader, as.system]) {
          const { status, body } = await api.get(`/collaborate/clip/${clip}`)
          expect([status, body]).toEqual([200, { ...stored, id: clip, user_id: uploader.userId, video_id }])
        }
      },
      async refused(house) {
        const { id } = await anEntry(house)
        return wrongIds('GET', (one) => `/collaborate/clip/${one}`, await clipOf(house, id), 'clip_not_found')
      },
    },
    {
      endpoint: 'PUT /collaborate/clip/{clip_id}/put',
      async works(house) {
        const { as } = house
        const { id } = await anEntry(house)
        const clip = await clipOf(house, id)
        const [original_data] = (await read(house, id)).clips
        const fields = { title: 'T'.repeat(255), comments: 'New', time_start: 5, time_finish: 6, type: 'audio' }
        const { status, body } = await as.uploader.put(`/collaborate/clip/${clip}/put`, { ...fields, preview: 'true' })
        const [new_data] = (await read(house, id)).clips
        expect([status, body]).toEqual([200, { updated: clip, original_data, new_data }])
        expect(new_data).toEqual({ ...original_data, ...fields, preview: '1' })
        const one = await as.system.put(`/collaborate/clip/${clip}/put`, { title: 'T'.repeat(254) })
        expect(one.body).toMatchObject({ new_data: { ...new_data, title: 'T'.repeat(254) } })
        expect((await as.owner.put(`/collaborate/clip/${clip}/put`, { title: '', time_start: 6 })).body).toMatchObject({
          new_data: { title: '', time_start: 6, time_finish: 6 },
        })
      },
      async refused(house) {
        const { id } = await anEntry(house)
        const clip = await clipOf(house, id, { time_start: 3, time_finish: 4 })
        const { video_id, duration } = await house.playing()
        const timed = await clipOf(house, await entryOf(house, video_id))
        const refused = { method: 'PUT', path: `/collaborate/clip/${clip}/put` }
        const past = Math.floor(Number(duration)) + 1
        return [
          ...wrongIds('PUT', (one) => `/collaborate/clip/${one}/put`, clip, 'clip_not_found', { title: 'x' }),
          { ...refused, payload: {}, status: 400, fields: ['payload'] },
          { ...refused, payload: { time_start: 5 }, status: 400, fields: ['time_start'] },
          { ...refused, payload: { time_finish: 2 }, status: 400, fields: ['time_finish'] },
          { ...refused, path: `/collaborate/clip/${timed}/put`, payload: { time_finish: past }, status: 400, fields: ['time_finish'] },
          {
            ...refused,
            payload: { title: 'x'.repeat(256), comments: 'x'.repeat(2_001), time_start: -1, time_finish: 'x', type: '', preview: 'x' },
            status: 400,
            fields: ['title', 'comments', 'time_start', 'time_finish', 'type', 'preview'],
          },
          { ...refused, payload: { title: 'x', order: 0, id: '1' }, status: 400, fields: ['order', 'id'] },
        ]
      },
    },
    {
      endpoint: 'DELETE /collaborate/clip/{clip_id}/delete',
      async works(house) {
        const { as } = house
        const { id } = await anEntry(house)
        const [first, second, third] = [await clipOf(house, id), await clipOf(house, id), await clipOf(house, id)]
        const original_data = (await read(house, id)).clips[1]
        const { status, body } = await as.uploader.delete(`/collaborate/clip/${second}/delete`)
        expect([status, body]).toEqual([200, { deleted: second, original_data }])
        expect(await order(house, id)).toEqual([
          [first, 0],
          [third, 1],
        ])
        expect((await as.owner.delete(`/collaborate/clip/${second}/delete`)).status).toBe(404)
        expect((await as.system.delete(`/collaborate/clip/${first}/delete`)).status).toBe(200)
        expect(await order(house, id)).toEqual([[third, 0]])
      },
      async refused(house) {
        const { id } = await anEntry(house)
        return wrongIds('DELETE', (one) => `/collaborate/clip/${one}/delete`, await clipOf(house, id), 'clip_not_found')
      },
    },
    {
      endpoint: 'PUT /collaborate/clip/{collaborate_id}/order',
      async works(house) {
        const { as } = house
        const { id } = await anEntry(house)
        const [one, two, three] = [await clipOf(house, id), await clipOf(house, id), await clipOf(house, id)]
        const path = `/collaborate/clip/${id}/order`
        const original_data = (await read(house, id)).clips
        const sent = [three, one, two]
        const body = JSON.stringify(sent.map(Number))
        const answer = await as.uploader.send('PUT', path, { body, headers: { 'content-type': 'application/json' } })
        const new_data = (await read(house, id)).clips
        expect([answer.status, answer.body]).toEqual([200, { updated: id, original_data, new_data }])
        expect(new_data.map(({ id: clip, order }) => [clip, order])).toEqual(sent.map((clip, place) => [clip, place]))
        const forms: [string[], NonNullable<Parameters<typeof as.system.send>[2]>][] = [
          [[one, two, three], { body: new URLSearchParams({ data: JSON.stringify([one, two, three]) }) }],
          [[two, one, three], { body: new URLSearchParams({ order: JSON.stringify([two, one, three]) }) }],
          [[two, three, one], { body: new URLSearchParams([two, three, one].map((clip): [string, string] => ['order', clip])) }],
          [[one, three, two], { body: JSON.stringify({ order: [one, three, two] }), headers: { 'content-type': 'application/json' } }],
        ]
        for (const [wanted, init] of forms) {
          expect((await as.system.send('PUT', path, init)).status).toBe(200)
          expect((await order(house, id)).map(([clip]) => clip)).toEqual(wanted)
        }
        const none = (await anEntry(house)).id
        expect((await as.owner.put(`/collaborate/clip/${none}/order`, [])).body).toEqual({ updated: none, original_data: [], new_data: [] })
        const { id: lone } = await anEntry(house)
        const only = await clipOf(house, lone)
        expect((await as.owner.put(`/collaborate/clip/${lone}/order`, { order: [only] })).status).toBe(200)
      },
      async refused(house) {
        const { id, video_id } = await anEntry(house)
        const [one, two] = [await clipOf(house, id), await clipOf(house, id)]
        const elsewhere = await clipOf(house, await entryOf(house, video_id))
        const refused = { method: 'PUT', path: `/collaborate/clip/${id}/order`, status: 400 }
        return [
          ...wrongIds('PUT', (entry) => `/collaborate/clip/${entry}/order`, id, 'collaboration_not_found', [one, two]),
          ...[[], [one], [one, one], [one, two, two], [one, two, elsewhere], [one, elsewhere], [one, MISSING]].map((payload) => ({
            ...refused,
            payload,
            fields: ['order'],
          })),
          { ...refused, payload: [one, 'x'], fields: ['order[1]'] },
          { ...refused, payload: { order: 'x' }, fields: ['order'] },
          { ...refused, payload: { order: [one, two], position: 1 }, fields: ['position'] },
          { ...refused, payload: {}, fields: ['order'] },
          { ...refused, fields: ['order'] },
          { ...refused, payload: Array.from({ length: 201 }, (_, nth) => String(nth + 1)), fields: ['order'] },
          { ...refused, payload: Array.from({ length: 100_000 }, (_, nth) => nth + 1) },
          { ...refused, payload: { order: Array.from({ length: 10_000 }, (_, nth) => nth + 1) } },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'POST /collaborate/{}': (v) => ({ user_id: v['user_id'] }),
      'PUT /collaborate/item/{}/put': () => ({ email: 'sample@example.org' }),
      'POST /collaborate/clip/{}/post': () => ({ time_start: 0, time_finish: 1 }),
      'PUT /collaborate/clip/{}/put': () => ({ title: 'Sample' }),
      'PUT /collaborate/clip/{}/order': (v) => ({ order: [v['clip_id']] }),
    },
    async make(house) {
      const { id } = await anEntry(house)
      return { collaborate_id: id, clip_id: await clipOf(house, id) }
    },
  },
}
