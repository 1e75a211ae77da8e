import { expect } from '@jest/globals'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'
import { waitUntilSettled } from '../support/video-steps.ts'

const path = (id: string) => `/video/${id}`

const listTwo = async ({ clients, owner, video }: Fixture, order: string, titles: (body: { video_title: string }[]) => string[]) => {
  await video({ name: 'B list' })
  await video({ name: 'A list' })
  const { status, body } = await clients.uploader.get<{ video_title: string }[]>(`/video/organisation/${owner.organisationId}${order}`)
  expect(status).toBe(200)
  return titles(body.filter(({ video_title }) => / list$/.test(video_title))).slice(0, 2)
}
const readTitles = (body: { video_title: string }[]) => body.map(({ video_title }) => video_title)

const rejectedListCalls = async ({ otherTenant, owner }: Fixture, order: string) => [
  { method: 'GET', path: `/video/organisation/${otherTenant.organisationId}${order}`, status: 403 },
  { method: 'GET', path: `/video/organisation/x${order}`, status: 403 },
  { caller: 'system' as const, method: 'GET', path: `/video/organisation/999999${order}`, status: 404 },
  {
    method: 'GET',
    path: `/video/organisation/${owner.organisationId}${order}?limit=1001&start=0`,
    status: 400,
    fields: ['limit', 'start'],
  },
  { caller: 'guest' as const, method: 'GET', path: `/video/organisation/${owner.organisationId}${order}`, status: 401 },
]

/** Forms that are rejected before their file is read. */
function rejectedForms(mediaId: string, otherOrganisationId: string): RejectedCall[] {
  const file = new Blob(['a file'])
  const call = (parts: RejectedCall['form'], status: number, expectation: Partial<RejectedCall> = {}): RejectedCall => ({
    ...{ method: 'POST', path: '/video/upload', form: parts ?? [], status },
    ...expectation,
  })
  return [
    call([['name', 'No file']], 400, { fields: ['url', 'organisation_id'] }),
    call([['video', file]], 400, { fields: ['video'] }),
    call([['file', 'text']], 400, { fields: ['file'] }),
    call(
      [
        ['colour', 'red'],
        ['url', 'https://example.org/a.mp4'],
        ['file', file],
      ],
      400,
      { fields: ['colour', 'url'] },
    ),
    call(
      [
        ['name', buildText(256)],
        ['priority', 'high'],
        ['file', file],
      ],
      400,
      { fields: ['name', 'priority'] },
    ),
    call(
      [
        ['organisation_id', otherOrganisationId],
        ['file', file],
      ],
      403,
    ),
    call(
      [
        ['media_id', mediaId],
        ['file', file],
      ],
      404,
      { caller: 'otherTenant' },
    ),
    call([['file', file]], 400, { caller: 'system', fields: ['organisation_id'] }),
    call([['file', file]], 401, { caller: 'guest' }),
  ]
}

const buildText = (length: number) => 'x'.repeat(length)
const maxFields = {
  video_title: buildText(255),
  description: buildText(5_000),
  description_private: buildText(5_000),
  category: buildText(100),
  age_rating: buildText(20),
  tags: Array.from({ length: 100 }, (_, i) => `tag-${i}`),
  sharing: { text: buildText(1_000), embed_within_social: false },
  content_expiry: { time: '2099-12-31 23:59:59', message: buildText(1_000) },
  chapters: Array.from({ length: 200 }, (_, i) => ({ title: buildText(100), start: 86_400 - i / 1_000 })),
  published_width: 8_192,
  published_height: 1,
}
const maxInResponse = {
  ...maxFields,
  chapters: maxFields.chapters.map(({ title, start }) => ({ title, start: String(start) })).toReversed(),
  published_width: '8192',
  published_height: '1',
  sharing: { ...maxFields.sharing, embed_within_social: '0' },
}
const tooLong = {
  video_title: buildText(256),
  description: buildText(5_001),
  description_private: buildText(5_001),
  category: buildText(101),
  age_rating: buildText(21),
  tags: Array.from({ length: 101 }, (_, i) => `tag-${i}`),
  chapters: Array.from({ length: 201 }, (_, start) => ({ title: 'x', start })),
  published_width: 8_193,
  published_height: 0,
  colour: 'red',
}

const changeEndpoint = (verb: 'put' | 'patch', caller: 'system' | 'uploader') => ({
  async works({ clients, video }: Fixture) {
    const { video_id } = await video({ name: 'Change' })
    const { status, body } = await clients[caller][verb]<{ video_id: string; status: Record<string, unknown> }>(path(video_id), maxFields)
    expect([status, body.video_id, body.status['action']]).toEqual([200, video_id, 'update_data'])
    expect((await clients.owner.get(path(video_id))).body).toMatchObject({ ...maxInResponse, sharing: maxInResponse.sharing })
    await clients[caller][verb](path(video_id), { video_title: 'Short', description: '', tags: [], content_expiry: null })
    const after = (await clients.owner.get(path(video_id))).body
    expect(after).toMatchObject({ video_title: 'Short', description: '', tags: null, category: maxFields.category })
  },
  async rejectedCalls({ video }: Fixture) {
    const { video_id } = await video()
    const method = verb.toUpperCase()
    return [
      { caller, method, path: path(video_id), payload: tooLong, status: 400, fields: Object.keys(tooLong) },
      { caller, method, path: path(video_id), payload: {}, status: 400 },
      { caller, method, path: path(video_id), payload: { video_id: '7', uri: {} }, status: 400, fields: ['video_id', 'uri'] },
      {
        ...{ caller, method, path: path(video_id), status: 400, fields: ['chapters[0].end', 'chapters[0].title', 'chapters[1].start'] },
        payload: {
          chapters: [
            { title: '', start: 0, end: 1 },
            { title: 'x', start: 86_401 },
          ],
        },
      },
      { caller, method, path: path(video_id), payload: { tags: ['two words'] }, status: 400, fields: ['tags[0]'] },
      { caller: 'system' as const, method, path: path('7'), payload: { description: '' }, status: 404 },
      { caller: 'otherTenant' as const, method, path: path(video_id), payload: { description: '' }, status: verb === 'put' ? 403 : 404 },
      { caller: 'guest' as const, method, path: path(video_id), payload: { description: '' }, status: 401 },
    ]
  },
})

export const videoRows: NounRows = {
  noun: 'video',
  rows: [
    {
      endpoint: 'GET /video',
      async works({ clients, video }) {
        const tag = `row-${Date.now()}`
        for (const name of ['B', 'A', 'C']) await video({ name, tags: [tag] })
        const listTitles = async (query: string) => {
          const { status, body } = await clients.uploader.get<{
            total_num_of_records: number
            start: number
            videos: { video_title: string }[]
          }>(`/video?tag=${tag}&${query}`)
          expect([status, body.total_num_of_records]).toEqual([200, 3])
          return readTitles(body.videos)
        }
        expect(await listTitles('')).toEqual(['B', 'A', 'C'])
        expect(await listTitles('sort_by=name')).toEqual(['A', 'B', 'C'])
        expect(await listTitles('sort_by=name&sort_order=descending&limit=2')).toEqual(['C', 'B'])
        expect(await listTitles('sort_by=name&start=2&limit=20')).toEqual(['B', 'C'])
        expect((await clients.otherTenant.get(`/video?tag=${tag}`)).body).toMatchObject({ total_num_of_records: 0, videos: [] })
      },
      rejectedCalls: async ({ otherTenant }) => [
        { method: 'GET', path: '/video?limit=21&start=0&sort_by=x', status: 400, fields: ['limit', 'start', 'sort_by'] },
        { method: 'GET', path: '/video?limit=0', status: 400, fields: ['limit'] },
        { method: 'GET', path: '/video?folder_id=0', status: 400, fields: ['folder_id'] },
        { method: 'GET', path: '/video?folder_id=999999', status: 404, code: 'folder_not_found' },
        { caller: 'system', method: 'GET', path: '/video?folder_id=999999', status: 404, code: 'folder_not_found' },
        { method: 'GET', path: `/video?organisation_id=${otherTenant.organisationId}`, status: 403 },
        { caller: 'guest', method: 'GET', path: '/video', status: 401 },
      ],
    },
    {
      endpoint: 'GET /video/{id}',
      async works({ clients, video, owner }) {
        const { video_id, media_id } = await video({ name: 'Read', description_private: 'ours', tags: ['a', 'b'] })
        const own = await clients.uploader.get(path(video_id))
        expect([own.status, own.body]).toMatchObject([
          200,
          { video_id, media_id, organisation_id: owner.organisationId, video_title: 'Read', tags: ['a', 'b'], description_private: 'ours' },
        ])
        const { description_private: _, poster: __, ...shown } = own.body
        for (const caller of ['guest', 'otherTenant'] as const) expect((await clients[caller].get(path(video_id))).body).toEqual(shown)
      },
      async rejectedCalls({ clients, video }) {
        const hidden = await video()
        await clients.owner.patch(path(hidden.video_id), { enabled: 0 })
        const expired = await video()
        await clients.owner.patch(path(expired.video_id), { content_expiry: { time: '2020-01-01 00:00:00', message: 'Too late' } })
        return [
          { caller: 'guest', method: 'GET', path: path('7'), status: 404 },
          { caller: 'guest', method: 'GET', path: path('x'), status: 404 },
          { caller: 'guest', method: 'GET', path: path(hidden.video_id), status: 404 },
          { caller: 'otherTenant', method: 'GET', path: path(hidden.video_id), status: 404 },
          { caller: 'guest', method: 'GET', path: path(expired.video_id), status: 404, code: 'video_expired' },
          { method: 'GET', path: `${path(hidden.video_id)}?player_settings=yes`, status: 400, fields: ['player_settings'] },
        ]
      },
    },
    { endpoint: 'PUT /video/{id}', ...changeEndpoint('put', 'system') },
    {
      endpoint: 'DELETE /video/{id}',
      async works({ clients, video }) {
        const { media_id } = await video()
        const { body } = await clients.owner.post<{ video_id: string }>(`/media/${media_id}/publish`)
        const deleted = await clients.system.delete(path(body.video_id))
        expect([deleted.status, deleted.body]).toMatchObject([200, { id: body.video_id, result: true }])
        expect((await clients.system.get(path(body.video_id))).status).toBe(404)
      },
      async rejectedCalls({ video }) {
        const { video_id } = await video()
        return [
          { caller: 'system', method: 'DELETE', path: path(video_id), status: 409, code: 'only_publish' },
          { caller: 'system', method: 'DELETE', path: path('7'), status: 404 },
          { method: 'DELETE', path: path(video_id), status: 403 },
        ]
      },
    },
    {
      endpoint: 'GET /video/organisation/{organisation_id}/{order_by}/{order_type}',
      async works(fixture) {
        expect((await listTwo(fixture, '/name/asc', readTitles))[0]).toBe('A list')
        expect((await listTwo(fixture, '/name/desc', readTitles))[0]).toBe('B list')
      },
      rejectedCalls: async (fixture) => [
        ...(await rejectedListCalls(fixture, '/name/asc')),
        {
          method: 'GET',
          path: `/video/organisation/${fixture.owner.organisationId}/size/up`,
          status: 400,
          fields: ['order_by', 'order_type'],
        },
      ],
    },
    {
      endpoint: 'GET /video/organisation/{organisation_id}/{order_by}',
      works: async (fixture) => expect((await listTwo(fixture, '/date_created', readTitles))[0]).toBe('A list'),
      rejectedCalls: (fixture) => rejectedListCalls(fixture, '/date_created'),
    },
    {
      endpoint: 'GET /video/organisation/{organisation_id}',
      works: async (fixture) => expect((await listTwo(fixture, '', readTitles))[0]).toBe('A list'),
      rejectedCalls: (fixture) => rejectedListCalls(fixture, ''),
    },
    {
      endpoint: 'POST /video/upload',
      async works({ clients, owner, sources }) {
        const url = `${sources.url}/none.mp4`
        const organisation_id = owner.organisationId
        const { status, body } = await clients.uploader.post<{ id: string; job_id: string }>('/video/upload', {
          ...{ url, organisation_id, name: buildText(255), tags: ['up'], description: buildText(5_000), priority: 'low' },
        })
        expect([status, body]).toMatchObject([200, { action: 'new video', status: { status: 'encoding', progress: 5, code: 2 } }])
        const { body: video } = await clients.owner.get<{ media_id: string }>(path(body.id))
        expect(video).toMatchObject({ video_title: buildText(255), tags: ['up'], description: buildText(5_000) })
        expect((await clients.owner.get(`/job/${body.job_id}`)).body).toMatchObject({ video_id: body.id })
        const replaced = await clients.uploader.post('/video/upload', { url, organisation_id, media_id: video.media_id })
        expect(replaced.body).toMatchObject({ id: body.id, action: 'replace' })
        const form = new FormData()
        form.append('name', 'From a form')
        form.append('file', new Blob(['not a video']), 'clip.mp4')
        const sent = await clients.uploader.send<{ id: string }>('POST', '/video/upload', { body: form })
        expect([sent.status, sent.body]).toMatchObject([200, { action: 'new video', status: { progress: 0, code: 1 } }])
        expect((await waitUntilSettled(clients.owner, sent.body.id)).video_title).toBe('From a form')
      },
      async rejectedCalls({ owner, otherTenant, video }) {
        const { media_id } = await video()
        const good = { url: 'https://example.org/a.mp4', organisation_id: owner.organisationId }
        const call = (payload: unknown, status: number, expectation = {}) => ({
          method: 'POST',
          path: '/video/upload',
          payload,
          status,
          ...expectation,
        })
        return [
          call({}, 400, { fields: ['url', 'organisation_id'] }),
          call({ ...good, priority: 'high' }, 400, { fields: ['priority'] }),
          ...[
            'file:///etc/passwd',
            'http://[::1]:8080/a',
            'https://a:b@example.org/a',
            'ftp://example.org/a',
            'http://example.org:22/a',
          ].map((url) => call({ ...good, url }, 400, { fields: ['url'] })),
          call({ ...good, name: buildText(256), description: buildText(5_001) }, 400, { fields: ['name', 'description'] }),
          call({ ...good, organisation_id: otherTenant.organisationId }, 403),
          call({ ...good, media_id }, 404, {
            caller: 'otherTenant',
            payload: { ...good, organisation_id: otherTenant.organisationId, media_id },
          }),
          call(good, 401, { caller: 'guest' }),
          ...rejectedForms(media_id, otherTenant.organisationId),
        ]
      },
    },
    {
      endpoint: 'GET /video/upload',
      async works({ clients, platform, owner, sources }) {
        const data = encodeURIComponent(
          JSON.stringify({ url: `${sources.url}/none.mp4`, organisation_id: owner.organisationId, name: 'Script' }),
        )
        const { status, body } = await clients.system.get<{ id: string }>(`/video/upload?data=${data}`)
        expect([status, body]).toMatchObject([200, { code: 1, message: 'waiting for encoding' }])
        expect((await clients.owner.get(path(body.id))).body).toMatchObject({ video_title: 'Script' })
        const script = await platform.system.get<string>(`/video/upload?data=${data}&callback=app.done`)
        expect(String(script.body)).toMatch(/^\/\*\*\/app\.done\(\{"id":"\d+","code":1,"message":"waiting for encoding"\}\);$/)
      },
      rejectedCalls: async () => [
        { caller: 'system', method: 'GET', path: '/video/upload', status: 400, fields: ['data'] },
        { caller: 'system', method: 'GET', path: '/video/upload?data=%7B&callback=alert(1)', status: 400, fields: ['data', 'callback'] },
        { method: 'GET', path: '/video/upload?data=%7B%7D', status: 403 },
        { caller: 'system', method: 'HEAD', path: '/video/upload?data=%7B%7D', status: 405 },
      ],
    },
    { endpoint: 'PATCH /video/{video_id}', ...changeEndpoint('patch', 'uploader') },
    {
      endpoint: 'POST /video/{video_id}/token',
      async works({ clients, playing, platform }) {
        const { video_id } = await playing()
        await clients.owner.patch(path(video_id), { security: { token_required_platform: 1 } })
        try {
          const { status, body } = await clients.uploader.post<{ token: string }>(`/video/${video_id}/token`, { expires_in: 86_400 })
          expect(status).toBe(201)
          const { body: video } = await clients.owner.get<{ uri: { hls: string } }>(path(video_id))
          const address = new URL(video.uri.hls)
          expect(address.origin).toBe(platform.url)
          expect((await fetch(`${address}?token=${body.token}`)).status).toBe(200)
          expect((await fetch(address)).status).not.toBe(200)
        } finally {
          await clients.owner.patch(path(video_id), { security: { token_required_platform: 0 } })
        }
      },
      async rejectedCalls({ video }) {
        const { video_id } = await video()
        return [
          {
            method: 'POST',
            path: `/video/${video_id}/token`,
            payload: { expires_in: 86_401, ip: 'x' },
            status: 400,
            fields: ['expires_in', 'ip'],
          },
          { method: 'POST', path: `/video/${video_id}/token`, payload: { expires_in: 0 }, status: 400, fields: ['expires_in'] },
          { caller: 'otherTenant', method: 'POST', path: `/video/${video_id}/token`, payload: { expires_in: 60 }, status: 404 },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'POST /video/upload': (v) => ({ url: 'https://example.org/a.mp4', organisation_id: v['organisation_id'] }),
      'PUT /video/{}': () => ({ description: 'changed' }),
      'PATCH /video/{}': () => ({ description: 'changed' }),
      'POST /video/{}/token': () => ({ expires_in: 60 }),
    },
    async make({ clients, owner, sources, video }) {
      const first = await video({ tags: ['sample'] })
      const { body } = await clients.owner.post<{ job_id: string }>('/video/upload', {
        ...{ url: `${sources.url}/none.mp4`, organisation_id: owner.organisationId, media_id: first.media_id },
      })
      // A failed job can be retried.
      await waitUntilSettled(clients.owner, first.video_id)
      return { video_id: first.video_id, media_id: first.media_id, job_id: body.job_id, length: '7', order_by: 'name', order_type: 'asc' }
    },
  },
}
