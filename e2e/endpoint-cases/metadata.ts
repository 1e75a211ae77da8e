import { expect } from '@jest/globals'
import type { Api } from '../support/api.ts'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'

const MISSING = '4611686018427387905'
/** Returns a name of `length` characters that is unique per index. */
const buildName = (index: number, length = 2) =>
  `${'z'.repeat(length - 2)}${String.fromCharCode(97 + Math.floor(index / 26), 97 + (index % 26))}`
const entries = (count: number) => Array.from({ length: count }, (_, index) => ({ name: buildName(index), value: `${index}` }))
const path = (videoId: string) => `/metadata/${videoId}`
const read = async (api: Api, videoId: string) => (await api.get(`/video/${videoId}`)).body['metadata']

/** Creates a video with a public, a private and a read-only entry. */
async function described({ clients, video }: Fixture): Promise<string> {
  const { video_id } = await video()
  await clients.owner.post(path(video_id), [
    { name: 'genre', value: 'film' },
    { name: 'budget', value: '7', private: true },
  ])
  await clients.system.post(path(video_id), [{ name: 'bound', value: 'x', read_only: true }])
  return video_id
}

/** Returns calls with invalid entries for both verbs. */
function badEntries(method: 'POST' | 'PUT', at: string): RejectedCall[] {
  const entry = { name: 'genre', value: 'a' }
  const buildRejectedCall = (payload: unknown, fields: string[]): RejectedCall => ({ method, path: at, payload, status: 400, fields })
  return [
    buildRejectedCall([], ['payload']),
    buildRejectedCall(entry, ['payload']),
    buildRejectedCall(entries(101), ['payload']),
    buildRejectedCall([entry, { ...entry }], ['[1].name']),
    buildRejectedCall(
      [entry, { ...entry, value: 1 }, { name: 'A', value: 'x', colour: 'red' }],
      ['[1].name', '[1].value', '[2].name', '[2].colour'],
    ),
    buildRejectedCall([{ name: 'z'.repeat(101), value: '🎬'.repeat(1_001) }], ['[0].name', '[0].value']),
    buildRejectedCall(
      [{ name: 'Genre', value: 7, private: 'yes', read_only: 2, id: '1' }],
      ['[0].name', '[0].value', '[0].private', '[0].read_only', '[0].id'],
    ),
    ...['', 'a-b', 'a1', 'toString', 'a b', 'é', 'a\n'].map((name) => buildRejectedCall([{ name, value: '' }], ['[0].name'])),
    buildRejectedCall([{ name: 'genre' }], ['[0].value']),
    { method, path: at, payload: Array.from({ length: 10_000 }, () => entry), status: 400 },
  ]
}

export const metadataRows: NounRows = {
  noun: 'metadata',
  rows: [
    {
      endpoint: 'GET /metadata/{video_id}',
      async works(fixture) {
        const { clients } = fixture
        const id = await described(fixture)
        const open = { genre: 'film', bound: 'x' }
        const own = {
          public: [
            { name: 'bound', private: false, value: 'x', read_only: true },
            { name: 'genre', private: false, value: 'film', read_only: false },
          ],
          private: [{ name: 'budget', private: true, value: '7', read_only: false }],
        }
        for (const api of [clients.owner, clients.uploader, clients.system]) {
          const { status, body } = await api.get(path(id))
          expect([status, body['video_id'], body['metadata']]).toEqual([200, id, own])
          expect(await read(api, id)).toEqual(own)
        }
        for (const api of [clients.guest, clients.otherTenant]) {
          const { status, body } = await api.get(path(id))
          expect([status, body['metadata']]).toEqual([200, open])
          expect(body).not.toHaveProperty('description_private')
          expect(await read(api, id)).toEqual(open)
        }
        const { video_id: plain } = await fixture.video()
        for (const api of [clients.owner, clients.guest]) expect((await api.get(path(plain))).body['metadata']).toBe('')
      },
      async rejectedCalls({ clients, video }) {
        const { video_id } = await video()
        await clients.owner.patch(`/video/${video_id}`, { enabled: 0 })
        return [
          { caller: 'guest', method: 'GET', path: path(video_id), status: 404 },
          { caller: 'otherTenant', method: 'GET', path: path(video_id), status: 404 },
          { caller: 'guest', method: 'GET', path: path(MISSING), status: 404 },
          { method: 'GET', path: path('x'), status: 404, code: 'video_not_found' },
        ]
      },
    },
    {
      endpoint: 'POST /metadata/{video_id}',
      async works({ clients, video }) {
        const { video_id } = await video()
        const posted = await clients.uploader.post<{ message: { created: string } }>(path(video_id), [
          ...['__proto__', 'constructor', 'tostring', 'public'].map((name) => ({ name, value: `of ${name}` })),
          { name: 'secret', value: '', private: '1', read_only: false },
        ])
        const { created } = posted.body.message
        expect([posted.status, posted.body]).toEqual([201, { status: 'Created', message: { id: video_id, status: 1, created } }])
        expect(created).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
        expect(JSON.stringify(await read(clients.guest, video_id))).toBe(
          '{"__proto__":"of __proto__","constructor":"of constructor","public":"of public","tostring":"of tostring"}',
        )
        expect(({} as Record<string, unknown>)['of __proto__']).toBeUndefined()

        const { video_id: full } = await video()
        const wide = entries(100).map((_, index) => ({ name: buildName(index, 99 + (index % 2)), value: 'é'.repeat(999 + (index % 2)) }))
        for (const some of [wide.slice(0, 99), wide.slice(99)]) expect((await clients.owner.post(path(full), some)).status).toBe(201)
        expect((await clients.owner.post(path(full), entries(1))).body).toMatchObject({ code: 'metadata_full' })
        expect(Object.keys((await read(clients.guest, full)) as object)).toHaveLength(100)

        const { video_id: flat } = await video()
        const form = await clients.owner.send('POST', path(flat), {
          body: new URLSearchParams({ name: 'genre', value: 'film', private: '0' }),
        })
        const data = await clients.owner.send('POST', path(flat), {
          body: new URLSearchParams({ data: '[{"name":"mood","value":"sad"}]' }),
        })
        expect([form.status, data.status, await read(clients.guest, flat)]).toEqual([201, 201, { genre: 'film', mood: 'sad' }])

        const { video_id: raced } = await video()
        const responses = await Promise.all(
          Array.from({ length: 20 }, () => clients.owner.post(path(raced), [{ name: 'once', value: 'x' }])),
        )
        expect(responses.map(({ status }) => status).toSorted()).toEqual([201, ...Array(19).fill(409)])
        expect(await read(clients.guest, raced)).toEqual({ once: 'x' })
      },
      async rejectedCalls(fixture) {
        const id = await described(fixture)
        const { video_id: full } = await fixture.video()
        await fixture.clients.owner.post(path(full), entries(100))
        const good = [{ name: 'mood', value: 'sad' }]
        return [
          ...badEntries('POST', path(id)),
          { method: 'POST', path: path(id), payload: [...good, { name: 'genre', value: 'b' }], status: 409, code: 'metadata_exists' },
          { method: 'POST', path: path(full), payload: [{ name: 'one_more', value: '' }], status: 409, code: 'metadata_full' },
          { method: 'POST', path: path(id), payload: [{ ...good[0], read_only: true }], status: 403, code: 'system_only' },
          { caller: 'otherTenant', method: 'POST', path: path(id), payload: good, status: 404, code: 'video_not_found' },
          { method: 'POST', path: path(MISSING), payload: good, status: 404, code: 'video_not_found' },
          { caller: 'guest', method: 'POST', path: path(id), payload: good, status: 401 },
        ]
      },
    },
    {
      endpoint: 'PUT /metadata/{video_id}',
      async works(fixture) {
        const { clients } = fixture
        const id = await described(fixture)
        const put = await clients.uploader.put<{ message: object }>(path(id), [
          { name: 'genre', value: 'series' },
          { name: 'budget', value: '' },
        ])
        expect([put.status, put.body]).toMatchObject([200, { status: 'Updated', message: { id, status: 1 } }])
        expect(await read(clients.guest, id)).toEqual({ bound: 'x', genre: 'series' })
        expect(await read(clients.owner, id)).toMatchObject({ private: [{ name: 'budget', value: '' }] })
        await clients.owner.put(path(id), [{ name: 'budget', value: '🎬'.repeat(1_000), private: false }])
        await clients.system.put(path(id), [{ name: 'bound', value: 'y', read_only: false }])
        await clients.owner.put(path(id), [{ name: 'bound', value: 'z' }])
        expect(await read(clients.guest, id)).toEqual({ bound: 'z', budget: '🎬'.repeat(1_000), genre: 'series' })
      },
      async rejectedCalls(fixture) {
        const id = await described(fixture)
        const good = { name: 'genre', value: 'b' }
        const rejectedCall = { method: 'PUT', path: path(id) }
        return [
          ...badEntries('PUT', path(id)),
          { ...rejectedCall, payload: [good, { name: 'mood', value: 'b' }], status: 404, code: 'metadata_not_found' },
          { ...rejectedCall, payload: [good, { name: '__proto__', value: 'b' }], status: 404, code: 'metadata_not_found' },
          { ...rejectedCall, payload: [good, { name: 'bound', value: 'b' }], status: 403, code: 'metadata_read_only' },
          { ...rejectedCall, payload: [{ name: 'bound', value: 'b', read_only: false }], status: 403, code: 'metadata_read_only' },
          { ...rejectedCall, payload: [{ ...good, read_only: true }], status: 403, code: 'system_only' },
          { ...rejectedCall, caller: 'otherTenant', payload: [good], status: 404, code: 'video_not_found' },
          { ...rejectedCall, caller: 'guest', payload: [good], status: 401 },
        ]
      },
    },
    {
      endpoint: 'DELETE /metadata/{video_id}/keys/{key_names}',
      async works(fixture) {
        const { clients } = fixture
        const id = await described(fixture)
        const deleted = await clients.uploader.delete<{ message: object }>(`${path(id)}/keys/genre,budget`)
        expect([deleted.status, deleted.body]).toMatchObject([200, { status: 'Updated', message: { id, status: 1 } }])
        expect(await read(clients.owner, id)).toEqual({ public: [expect.objectContaining({ name: 'bound' })], private: [] })
        expect((await clients.owner.delete(`${path(id)}/keys/genre`)).status).toBe(404)
        expect((await clients.system.delete(`${path(id)}/keys/bound,bound`)).status).toBe(200)
        expect(await read(clients.owner, id)).toBe('')

        const wide = entries(100).map((_, index) => buildName(index, 100))
        await clients.owner.post(
          path(id),
          wide.map((name) => ({ name, value: '' })),
        )
        expect((await clients.owner.delete(`${path(id)}/keys/${wide.join(',')}`)).status).toBe(200)
        expect(await read(clients.owner, id)).toBe('')
      },
      async rejectedCalls(fixture) {
        const id = await described(fixture)
        const rejectedCall = (names: string, status: number, code: string): RejectedCall => ({
          method: 'DELETE',
          path: `${path(id)}/keys/${names}`,
          status,
          code,
        })
        const many = entries(101)
          .map(({ name }) => name)
          .join(',')
        return [
          rejectedCall('genre,mood', 404, 'metadata_not_found'),
          rejectedCall('genre,', 404, 'metadata_not_found'),
          rejectedCall('__proto__', 404, 'metadata_not_found'),
          rejectedCall('Genre', 404, 'metadata_not_found'),
          rejectedCall('genre,bound', 403, 'metadata_read_only'),
          { ...rejectedCall(many, 400, 'invalid_input'), fields: ['key_names'] },
          { ...rejectedCall('genre', 404, 'video_not_found'), caller: 'otherTenant' },
          { method: 'DELETE', path: `${path(MISSING)}/keys/genre`, status: 404, code: 'video_not_found' },
          { ...rejectedCall('genre', 401, 'key_required'), caller: 'guest' },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'POST /metadata/{}': () => ({ name: 'sample', value: 'x' }),
      'PUT /metadata/{}': () => ({ name: 'genre', value: 'x' }),
    },
    make: async () => ({ key_names: 'genre' }),
  },
}
