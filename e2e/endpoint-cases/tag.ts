import { expect } from '@jest/globals'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'
import { createTenant, upload, waitUntilSettled } from '../support/video-steps.ts'

const MISSING = '4611686018427387905'
const buildTags = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`)
const inPath = (tags: unknown) => encodeURIComponent(JSON.stringify(tags))
const read = async ({ clients }: Fixture, videoId: string) => (await clients.owner.get<string[]>(`/tag/video/${videoId}`)).body
/** Returns the path of the next page. */
const parseNextPath = ({ headers }: { headers: Headers }) => /<[^>]*\/v2([^>]*)>/.exec(headers.get('link') ?? '')?.[1] ?? 'nowhere'
/** Invalid tags. */
const BAD = ['a b', '', 'x'.repeat(101), 'a\tb', 'a\u2003b', 7, null]

/** Creates an organisation with videos of these tags. Returns their ids. */
async function tagged({ platform, sources }: Fixture, ...videos: string[][]) {
  const tenant = await createTenant(platform.system)
  const api = platform.withKey(tenant.key)
  const ids: string[] = []
  for (const tags of videos) {
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/none.mp4`, { tags })
    await waitUntilSettled(api, id)
    ids.push(id)
  }
  return { api, ids, organisationId: tenant.organisationId }
}

const badTags = (method: string, path: string): RejectedCall[] => [
  ...BAD.map((tag) => ({ method, path: `${path}/${inPath(['fine', tag])}`, status: 400, fields: ['tags[1]'] })),
  { method, path: `${path}/${inPath(['\ud800'])}`, status: 400, fields: ['tags'] },
  { method, path: `${path}/${inPath([])}`, status: 400, fields: ['tags'] },
  { method, path: `${path}/${inPath(buildTags(101))}`, status: 400, fields: ['tags'] },
  { method, path: `${path}/${encodeURIComponent('["a"')}`, status: 400, fields: ['tags'] },
  { method, path: `${path}/${encodeURIComponent('a b')}`, status: 400, fields: ['tags[0]'] },
]

export const tagRows: NounRows = {
  noun: 'tag',
  rows: [
    {
      endpoint: 'GET /tag',
      async works(fixture) {
        const { api, ids, organisationId } = await tagged(fixture, ['b', 'a', '__proto__'], ['b', 'A'], ['b'])
        const all = [
          { tag: 'b', count: 3 },
          { tag: 'A', count: 1 },
          { tag: '__proto__', count: 1 },
          { tag: 'a', count: 1 },
        ]
        expect((await api.get('/tag')).body).toEqual(all)
        expect((await fixture.clients.system.get(`/tag?organisation_id=${organisationId}`)).body).toEqual(all)
        const part = await api.get('/tag?start=2&limit=2')
        expect([part.body, (await api.get(parseNextPath(part))).body]).toEqual([all.slice(1, 3), all.slice(3)])
        await fixture.clients.system.put(`/video/${ids[0]}`, { tags: ['c'] })
        const { media_id } = (await api.get(`/video/${ids[1]}`)).body
        await api.delete(`/media?media_id=${media_id}`)
        expect((await api.get('/tag')).body).toEqual([
          { tag: 'b', count: 1 },
          { tag: 'c', count: 1 },
        ])
      },
      rejectedCalls: async ({ otherTenant }) => [
        { method: 'GET', path: `/tag?organisation_id=${otherTenant.organisationId}`, status: 403, code: 'foreign_organisation' },
        { caller: 'system', method: 'GET', path: '/tag', status: 400, fields: ['organisation_id'] },
        { caller: 'system', method: 'GET', path: '/tag?organisation_id=999999', status: 404, code: 'organisation_not_found' },
        { caller: 'system', method: 'GET', path: '/tag?organisation_id=x', status: 400, fields: ['organisation_id'] },
        { method: 'GET', path: '/tag?limit=1001&start=0', status: 400, fields: ['limit', 'start'] },
        { method: 'GET', path: '/tag?start=10001', status: 400, fields: ['start'] },
        { method: 'GET', path: '/tag?cursor=x', status: 400, fields: ['cursor'] },
        { caller: 'guest', method: 'GET', path: '/tag', status: 401 },
      ],
    },
    {
      endpoint: 'GET /tag/video/{video_id}',
      async works({ clients, video }) {
        const [none, some] = [await video(), await video({ tags: ['launch', 'ümläut'] })]
        for (const api of [clients.owner, clients.uploader, clients.system]) {
          expect((await api.get(`/tag/video/${none.video_id}`)).body).toEqual([])
          expect((await api.get(`/tag/video/${some.video_id}`)).body).toEqual(['launch', 'ümläut'])
        }
      },
      async rejectedCalls({ video }) {
        const { video_id } = await video({ tags: ['a'] })
        return [
          { caller: 'otherTenant', method: 'GET', path: `/tag/video/${video_id}`, status: 404, code: 'video_not_found' },
          { method: 'GET', path: `/tag/video/${MISSING}`, status: 404 },
          { method: 'GET', path: '/tag/video/x', status: 404 },
          { caller: 'guest', method: 'GET', path: `/tag/video/${video_id}`, status: 401 },
        ]
      },
    },
    {
      endpoint: 'POST /tag/video/add/{video_id}/{tags}',
      async works(fixture) {
        const { clients, video } = fixture
        const { video_id } = await video({ tags: ['old'] })
        const endpointPath = `/tag/video/add/${video_id}`
        const unusualTags = ['a/b', '%2F', "'or-1=1--", '🎬', 'x'.repeat(99), 'x'.repeat(100), 'constructor']
        const { status, body } = await clients.uploader.post(`${endpointPath}/${inPath(['old', ...unusualTags, 'new', 'new'])}`)
        expect([status, body]).toEqual([200, { added: [...unusualTags, 'new'] }])
        expect((await clients.system.post(`${endpointPath}/single`)).body).toEqual({ added: ['single'] })
        expect((await clients.owner.post(`${endpointPath}/single`)).body).toEqual({ added: [] })
        expect(await read(fixture, video_id)).toEqual(['old', ...unusualTags, 'new', 'single'])
        expect((await clients.owner.get(`/video/${video_id}`)).body).toMatchObject({ tags: ['old', ...unusualTags, 'new', 'single'] })

        const { video_id: raced } = await video()
        const responses = await Promise.all(
          buildTags(20).map((tag) => clients.owner.post<{ added: string[] }>(`/tag/video/add/${raced}/${inPath(['same', tag])}`)),
        )
        expect(responses.flatMap(({ body: { added } }) => added).filter((tag) => tag === 'same')).toHaveLength(1)
        expect(await read(fixture, raced)).toHaveLength(21)
      },
      async rejectedCalls({ video }) {
        const [{ video_id }, full] = [await video(), await video({ tags: buildTags(100) })]
        const endpointPath = `/tag/video/add/${video_id}`
        return [
          ...badTags('POST', endpointPath),
          { method: 'POST', path: `/tag/video/add/${full.video_id}/more`, status: 409, code: 'tags_full' },
          { method: 'POST', path: `${endpointPath}/a`, payload: { tags: ['b'] }, status: 400, fields: ['tags'] },
          { caller: 'otherTenant', method: 'POST', path: `${endpointPath}/a`, status: 404, code: 'video_not_found' },
          { method: 'POST', path: `/tag/video/add/${MISSING}/a`, status: 404 },
          { caller: 'guest', method: 'POST', path: `${endpointPath}/a`, status: 401 },
        ]
      },
    },
    {
      endpoint: 'POST /tag/video/add/{video_id}',
      async works(fixture) {
        const { clients, video } = fixture
        const { video_id } = await video()
        const endpointPath = `/tag/video/add/${video_id}`
        expect((await clients.uploader.post(endpointPath, { tags: buildTags(98) })).body).toEqual({ added: buildTags(98) })
        const form = await clients.owner.send('POST', endpointPath, { body: new URLSearchParams({ tags: '["t1","t98"]' }) })
        expect([form.status, form.body]).toEqual([200, { added: ['t98'] }])
        const repeated = new URLSearchParams([
          ['tags', 't2'],
          ['tags', 't99'],
        ])
        expect((await clients.owner.send('POST', endpointPath, { body: repeated })).body).toEqual({ added: ['t99'] })
        expect(await read(fixture, video_id)).toEqual(buildTags(100))
      },
      async rejectedCalls({ video }) {
        const [{ video_id }, full] = [await video(), await video({ tags: buildTags(99) })]
        const rejectedCall = { method: 'POST', path: `/tag/video/add/${video_id}` }
        return [
          { ...rejectedCall, status: 400, fields: ['tags'] },
          { ...rejectedCall, payload: { tags: [] }, status: 400, fields: ['tags'] },
          { ...rejectedCall, payload: { tags: buildTags(101) }, status: 400, fields: ['tags'] },
          { ...rejectedCall, payload: { tags: buildTags(10_000) }, status: 400 },
          { ...rejectedCall, payload: { tags: BAD }, status: 400, fields: BAD.map((_, index) => `tags[${index}]`) },
          { ...rejectedCall, payload: { tag: ['a'] }, status: 400, fields: ['tag'] },
          { method: 'POST', path: `/tag/video/add/${full.video_id}`, payload: { tags: ['a', 'b'] }, status: 409, code: 'tags_full' },
          { ...rejectedCall, caller: 'otherTenant', payload: { tags: ['a'] }, status: 404 },
          { ...rejectedCall, caller: 'guest', payload: { tags: ['a'] }, status: 401 },
        ]
      },
    },
    {
      endpoint: 'DELETE /tag/video/delete/{video_id}/{tags}',
      async works(fixture) {
        const { clients, video } = fixture
        const { video_id } = await video({ tags: ['a', 'b', 'c/d', 'e'] })
        const endpointPath = `/tag/video/delete/${video_id}`
        expect((await clients.uploader.delete(`${endpointPath}/${inPath(['c/d', 'none', 'a', 'a'])}`)).body).toEqual({
          deleted: ['c/d', 'a'],
        })
        expect((await clients.system.delete(`${endpointPath}/b`)).body).toEqual({ deleted: ['b'] })
        expect((await clients.owner.delete(`${endpointPath}/b`)).body).toEqual({ deleted: [] })
        expect((await clients.owner.delete(`${endpointPath}/${inPath(buildTags(100))}`)).body).toEqual({ deleted: [] })
        expect(await read(fixture, video_id)).toEqual(['e'])
      },
      async rejectedCalls({ video }) {
        const { video_id } = await video({ tags: ['a'] })
        const endpointPath = `/tag/video/delete/${video_id}`
        return [
          ...badTags('DELETE', endpointPath),
          { caller: 'otherTenant', method: 'DELETE', path: `${endpointPath}/a`, status: 404, code: 'video_not_found' },
          { method: 'DELETE', path: `/tag/video/delete/${MISSING}/a`, status: 404 },
          { caller: 'guest', method: 'DELETE', path: `${endpointPath}/a`, status: 401 },
        ]
      },
    },
    {
      endpoint: 'GET /video/tag/{tag}',
      async works(fixture) {
        const { api, ids, organisationId } = await tagged(fixture, ['a', 'x/y'], ['b'], ['a', 'b'], [])
        const [a, b, both] = ids
        const find = async (tag: string, query = '') => (await api.get<string[]>(`/video/tag/${tag}${query}`)).body
        expect([await find('a'), await find('none'), await find(encodeURIComponent('x/y'))]).toEqual([[a, both], [], [a]])
        const tagPath = inPath({ tags: ['a', 'b'] })
        expect([await find(tagPath), await find(tagPath, '?match=any'), await find(inPath(['b', 'a']))]).toEqual([
          [both],
          [a, b, both],
          [both],
        ])
        for (const count of [19, 20]) expect(await find(inPath({ tags: ['a', ...buildTags(count - 1)] }), '?match=any')).toEqual([a, both])
        expect((await fixture.clients.system.get(`/video/tag/a?organisation_id=${organisationId}`)).body).toEqual([a, both])
        expect((await fixture.clients.owner.get('/video/tag/x%2Fy')).body).toEqual([])
        const part = await api.get(`/video/tag/${tagPath}?match=any&limit=1&start=2`)
        expect([part.body, (await api.get(parseNextPath(part))).body]).toEqual([[b], [both]])
      },
      rejectedCalls: async ({ otherTenant }) => [
        { method: 'GET', path: `/video/tag/a?organisation_id=${otherTenant.organisationId}`, status: 403 },
        { caller: 'system', method: 'GET', path: '/video/tag/a', status: 400, fields: ['organisation_id'] },
        { caller: 'system', method: 'GET', path: '/video/tag/a?organisation_id=999999', status: 404 },
        { method: 'GET', path: `/video/tag/${inPath({ tags: buildTags(21) })}`, status: 400, fields: ['tag'] },
        { method: 'GET', path: `/video/tag/${inPath({ tags: [] })}`, status: 400, fields: ['tag'] },
        { method: 'GET', path: `/video/tag/${inPath({ tags: ['a'], more: 1 })}`, status: 400, fields: ['tag'] },
        { method: 'GET', path: `/video/tag/${inPath({ tags: ['a', 'b c'] })}`, status: 400, fields: ['tag[1]'] },
        { method: 'GET', path: '/video/tag/%7B', status: 400, fields: ['tag'] },
        { method: 'GET', path: '/video/tag/a?cursor=x', status: 400, fields: ['cursor'] },
        { method: 'GET', path: '/video/tag/a%20b', status: 400, fields: ['tag[0]'] },
        { method: 'GET', path: '/video/tag/a?match=some&limit=0', status: 400, fields: ['match', 'limit'] },
        { caller: 'guest', method: 'GET', path: '/video/tag/a', status: 401 },
      ],
    },
  ],
  samples: {
    payloads: {
      'POST /tag/video/add/{}': () => ({ tags: ['sample-tag'] }),
      // The tags are part of the path.
      'POST /tag/video/add/{}/{}': () => ({}),
    },
    make: async () => ({ tag: 'sample', tags: 'sample' }),
  },
}
