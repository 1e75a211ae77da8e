import { expect } from '@jest/globals'
import { parseFeed } from '@rowanmanning/feed-parser'
import { XMLValidator } from 'fast-xml-parser'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'
import { upload, waitUntilSettled } from '../support/video-steps.ts'

const buildText = (length: number) => 'x'.repeat(length)
const path = (playlistId: string) => `/playlist/${playlistId}`
type Order = { order: string[]; count: number }

const createPlaylist = async ({ clients, owner }: Fixture, fields?: Record<string, unknown>, videos?: string[]) => {
  const { body } = await clients.owner.post<{ playlist_id: string }>(`/playlist/create/${owner.organisationId}`, fields)
  if (videos) expect((await clients.owner.put(path(body.playlist_id), { videos })).status).toBe(200)
  return body.playlist_id
}
const fetchIds = async ({ clients }: Fixture, playlistId: string, caller: 'owner' | 'guest' | 'otherTenant' | 'system' = 'owner') => {
  const { body } = await clients[caller].get<{ videos: { video_id: string }[] }>(path(playlistId))
  return body.videos.map(({ video_id }) => video_id)
}
const createForeignVideo = async ({ clients, otherTenant, sources }: Fixture) => {
  const { id } = await upload(clients.otherTenant, otherTenant.organisationId, `${sources.url}/none.mp4`)
  await waitUntilSettled(clients.otherTenant, id)
  return id
}

const max = {
  playlist_type: buildText(50),
  title: buildText(255),
  description: buildText(5_000),
  monetization_url: `https://example.org/${buildText(2_048 - 'https://example.org/'.length)}`,
  randomise: '1',
  video_limit: '25',
  open_in_playlist_view: '1',
  settings: buildText(10_000),
  monetization: { a: [1, { b: null }] },
}
const tooMuch = {
  playlist_type: buildText(51),
  title: buildText(256),
  description: buildText(5_001),
  monetization_url: `${max.monetization_url}x`,
  randomise: 2,
  video_limit: 26,
  open_in_playlist_view: 'x',
  settings: buildText(10_001),
  monetization: [1],
  videos: Array.from({ length: 26 }, () => '7'),
  colour: 'red',
}
const plain = {
  playlist_type: 'standard',
  monetization_url: '',
  randomise: '0',
  video_limit: '0',
  open_in_playlist_view: '0',
  settings: '',
  security: { is_ip_restricted: false },
  monetization: null,
  videos: [],
}

const creating = (verb: 'post' | 'put') => ({
  async works({ clients, owner, uploader }: Fixture) {
    const texts = { title: buildText(255), description: buildText(5_000) }
    const { status, body } = await clients.uploader[verb]<{ playlist_id: string }>(`/playlist/create/${owner.organisationId}`, texts)
    expect(status).toBe(200)
    expect(body.playlist_id).toMatch(/^[1-9]\d{10,18}$/)
    const ownFields = { playlist_id: body.playlist_id, organisation_id: owner.organisationId, created_by_user_id: uploader.userId }
    expect((await clients.guest.get(path(body.playlist_id))).body).toEqual({ ...plain, ...texts, ...ownFields })
    // Created without any field, and by the system for another user.
    const bare = await clients.system[verb]<{ playlist_id: string }>(`/playlist/create/${owner.organisationId}`)
    expect((await clients.owner.get(path(bare.body.playlist_id))).body).toMatchObject({ title: '', description: '', ...plain })
  },
  async rejectedCalls({ owner, otherTenant }: Fixture): Promise<RejectedCall[]> {
    const method = verb.toUpperCase()
    const createPath = `/playlist/create/${owner.organisationId}`
    const bad = { title: buildText(256), description: buildText(5_001), randomise: 1, playlist_id: '7' }
    return [
      { method, path: createPath, payload: bad, status: 400, fields: Object.keys(bad) },
      { method, path: createPath, payload: { title: 'a\0' }, status: 400 },
      {
        method,
        path: `/playlist/create/${otherTenant.organisationId}`,
        payload: { title: 'X' },
        status: 403,
        code: 'foreign_organisation',
      },
      { method, path: '/playlist/create/x', status: 403 },
      { caller: 'system', method, path: '/playlist/create/999999', status: 404, code: 'organisation_not_found' },
      { caller: 'system', method, path: '/playlist/create/x', status: 404 },
      { caller: 'guest', method, path: createPath, payload: { title: 'X' }, status: 401 },
    ]
  },
})

const removing = (verb: 'delete' | 'put') => ({
  async works(fixture: Fixture) {
    const { clients, video } = fixture
    const [a, b] = [(await video()).video_id, (await video()).video_id]
    const playlistId = await createPlaylist(fixture, {}, [a, b, a, b, a])
    const remove = (id: string, query = '') =>
      clients.uploader[verb]<{ status: object; videos: Order }>(`${path(playlistId)}/remove/video/${id}${query}`)
    const response = await remove(a, '?position=2')
    expect([response.status, response.body]).toEqual([200, { status: { tried_to_remove: a }, videos: { order: [a, b, b, a], count: 4 } }])
    // Removing a missing video changes nothing.
    expect((await remove(a, '?position=1')).body.videos).toEqual({ order: [a, b, b, a], count: 4 })
    expect((await remove(a, '?position=24')).body.videos.count).toBe(4)
    expect((await remove(b)).body).toEqual({ status: { tried_to_remove: b }, videos: { order: [a, a], count: 2 } })
    expect((await remove(b)).body.videos).toEqual({ order: [a, a], count: 2 })
    expect(await fetchIds(fixture, playlistId)).toEqual([a, a])
  },
  async rejectedCalls(fixture: Fixture): Promise<RejectedCall[]> {
    const { video_id } = await fixture.video()
    const playlistId = await createPlaylist(fixture, {}, [video_id])
    const method = verb.toUpperCase()
    const removePath = `${path(playlistId)}/remove/video/${video_id}`
    return [
      ...['25', '-1', '1.5', 'x', ''].map((position) => ({
        ...{ method, path: `${removePath}?position=${position}`, status: 400, fields: ['position'] },
      })),
      { method, path: `${path(playlistId)}/remove/video/7`, status: 404, code: 'video_not_found' },
      { method, path: `${path(playlistId)}/remove/video/${await createForeignVideo(fixture)}`, status: 404, code: 'video_not_found' },
      { method, path: `/playlist/7/remove/video/${video_id}`, status: 404, code: 'playlist_not_found' },
      { caller: 'otherTenant', method, path: removePath, status: 404, code: 'playlist_not_found' },
      { caller: 'guest', method, path: removePath, status: 401 },
      { caller: 'guest', method: 'POST', path: removePath, status: 405 },
    ]
  },
})

export const playlistRows: NounRows = {
  noun: 'playlist',
  rows: [
    {
      endpoint: 'GET /playlist/{playlist_id}',
      async works(fixture) {
        const { clients, video } = fixture
        const open = await video({ name: 'Open', description_private: 'secret' })
        const hidden = (await video({ name: 'Hidden' })).video_id
        const expired = (await video({ name: 'Expired' })).video_id
        await clients.owner.patch(`/video/${hidden}`, { enabled: 0, security: { allowed_ips: ['192.0.2.1'] } })
        await clients.owner.patch(`/video/${expired}`, { content_expiry: { time: '2001-01-01 00:00:00' } })
        const all = [open.video_id, hidden, open.video_id, expired]
        const playlistId = await createPlaylist(fixture, { title: 'Seen' }, all)
        for (const caller of ['owner', 'system'] as const) expect(await fetchIds(fixture, playlistId, caller)).toEqual(all)
        for (const caller of ['guest', 'otherTenant'] as const)
          expect(await fetchIds(fixture, playlistId, caller)).toEqual([open.video_id, open.video_id])
        const ownView = await clients.owner.get<{ videos: object[] }>(path(playlistId))
        const guest = await clients.guest.get<{ videos: object[] }>(path(playlistId))
        expect(ownView.body).toMatchObject({
          title: 'Seen',
          security: { is_ip_restricted: true },
          videos: [{ description_private: 'secret' }, {}, {}, {}],
        })
        expect(guest.body).toMatchObject({ title: 'Seen', security: { is_ip_restricted: false } })
        expect(JSON.stringify(guest.body)).not.toContain('secret')
        // The videos of a playlist equal those of the video endpoint.
        expect(guest.body.videos[0]).toEqual((await clients.guest.get(`/video/${open.video_id}`)).body)
      },
      async rejectedCalls(fixture) {
        const { video_id } = await fixture.video()
        return [
          { caller: 'guest', method: 'GET', path: path('7'), status: 404, code: 'playlist_not_found' },
          { caller: 'guest', method: 'GET', path: path(video_id), status: 404, code: 'playlist_not_found' },
          { method: 'GET', path: path('x'), status: 404, code: 'playlist_not_found' },
          { method: 'GET', path: path('0'), status: 404 },
          { method: 'POST', path: path('7'), status: 405 },
        ]
      },
    },
    {
      endpoint: 'PUT /playlist/{playlist_id}',
      async works(fixture) {
        const { clients, video } = fixture
        const [a, b] = [(await video()).video_id, (await video()).video_id]
        const playlistId = await createPlaylist(fixture, { title: 'Before' })
        const videos = Array.from({ length: 25 }, (_, index) => (index % 3 === 0 ? a : b))
        const { status, body } = await clients.uploader.put(path(playlistId), { ...max, videos })
        expect([status, body]).toEqual([200, { status: true }])
        expect((await clients.guest.get(path(playlistId))).body).toMatchObject(max)
        expect(await fetchIds(fixture, playlistId)).toEqual(videos)
        // Flat fields of the query parameter `data`, which also clear fields.
        const data = encodeURIComponent(
          JSON.stringify({ title: 'A–Z', video_limit: 24, monetization: '', monetization_url: '', videos: [b] }),
        )
        expect((await clients.system.put(`${path(playlistId)}?data=${data}`)).status).toBe(200)
        const after = (await clients.owner.get(path(playlistId))).body
        expect(after).toMatchObject({ ...max, title: 'A–Z', video_limit: '24', monetization: null, monetization_url: '' })
        expect(await fetchIds(fixture, playlistId)).toEqual([b])
        expect((await clients.owner.put(path(playlistId), { video_limit: 0, videos: [] })).status).toBe(200)
        expect((await clients.owner.get(path(playlistId))).body).toMatchObject({ video_limit: '0', videos: [] })
      },
      async rejectedCalls(fixture) {
        const { video_id } = await fixture.video()
        const playlistPath = path(await createPlaylist(fixture, {}, [video_id]))
        const method = 'PUT'
        return [
          { method, path: playlistPath, payload: tooMuch, status: 400, fields: Object.keys(tooMuch) },
          { method, path: playlistPath, payload: {}, status: 400 },
          { method, path: playlistPath, payload: { monetization_url: 'javascript:alert(1)' }, status: 400, fields: ['monetization_url'] },
          { method, path: playlistPath, payload: { videos: ['x', video_id, -1] }, status: 400, fields: ['videos[0]', 'videos[2]'] },
          { method, path: playlistPath, payload: { title: 'X', videos: [video_id, '7'] }, status: 404, code: 'video_not_found' },
          {
            method,
            path: playlistPath,
            payload: { title: 'X', videos: [await createForeignVideo(fixture)] },
            status: 404,
            code: 'video_not_found',
          },
          {
            caller: 'system',
            method,
            path: playlistPath,
            payload: { videos: [await createForeignVideo(fixture)] },
            status: 404,
            code: 'video_not_found',
          },
          { caller: 'otherTenant', method, path: playlistPath, payload: { title: 'X' }, status: 404, code: 'playlist_not_found' },
          { method, path: path('7'), payload: { title: 'X' }, status: 404, code: 'playlist_not_found' },
          { caller: 'guest', method, path: playlistPath, payload: { title: 'X' }, status: 401 },
        ]
      },
    },
    { endpoint: 'POST /playlist/create/{organisation_id}', ...creating('post') },
    { endpoint: 'PUT /playlist/create/{organisation_id}', ...creating('put') },
    {
      endpoint: 'PUT /playlist/{playlist_id}/add/video/{video_id}',
      async works(fixture) {
        const { clients, video } = fixture
        const [a, b] = [(await video()).video_id, (await video()).video_id]
        const playlistId = await createPlaylist(fixture)
        const add = (id: string) => clients.uploader.put<{ status: object; videos: Order }>(`${path(playlistId)}/add/video/${id}`)
        const first = await add(a)
        expect([first.status, first.body]).toEqual([200, { status: { added: a }, videos: { order: [a], count: 1 } }])
        await add(b)
        expect((await add(a)).body.videos).toEqual({ order: [a, b, a], count: 3 })
        expect(await fetchIds(fixture, playlistId)).toEqual([a, b, a])
        // Of 50 concurrent additions to a list of 24, one succeeds.
        expect((await clients.owner.put(path(playlistId), { videos: Array.from({ length: 24 }, () => a) })).status).toBe(200)
        const responses = await Promise.all(Array.from({ length: 50 }, () => add(b)))
        expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 49 }, () => 409)])
        expect(await fetchIds(fixture, playlistId)).toEqual([...Array.from({ length: 24 }, () => a), b])
      },
      async rejectedCalls(fixture) {
        const { video_id } = await fixture.video()
        const playlistId = await createPlaylist(fixture)
        const full = await createPlaylist(
          fixture,
          {},
          Array.from({ length: 25 }, () => video_id),
        )
        const foreign = await createForeignVideo(fixture)
        const method = 'PUT'
        return [
          { method, path: `${path(full)}/add/video/${video_id}`, status: 409, code: 'playlist_full' },
          { method, path: `${path(full)}/add/video/${foreign}`, status: 404, code: 'video_not_found' },
          { method, path: `${path(playlistId)}/add/video/${foreign}`, status: 404, code: 'video_not_found' },
          { caller: 'system', method, path: `${path(playlistId)}/add/video/${foreign}`, status: 404, code: 'video_not_found' },
          { method, path: `${path(playlistId)}/add/video/7`, status: 404, code: 'video_not_found' },
          { method, path: `${path(playlistId)}/add/video/${playlistId}`, status: 404, code: 'video_not_found' },
          { method, path: `/playlist/7/add/video/${video_id}`, status: 404, code: 'playlist_not_found' },
          { method, path: `${path(playlistId)}/add/video/${video_id}`, payload: { position: 1 }, status: 400, fields: ['position'] },
          { caller: 'otherTenant', method, path: `${path(playlistId)}/add/video/${foreign}`, status: 404, code: 'playlist_not_found' },
          { caller: 'guest', method, path: `${path(playlistId)}/add/video/${video_id}`, status: 401 },
        ]
      },
    },
    { endpoint: 'DELETE /playlist/{playlist_id}/remove/video/{video_id}', ...removing('delete') },
    { endpoint: 'PUT /playlist/{playlist_id}/remove/video/{video_id}', ...removing('put') },
    {
      endpoint: 'GET /playlist/organisation/{organisation_id}',
      async works(fixture) {
        const { clients, owner, video } = fixture
        const { video_id } = await video()
        const playlistIds = [
          await createPlaylist(fixture, { title: 'First' }, [video_id, video_id]),
          await createPlaylist(fixture, { title: 'Second' }),
        ]
        const whole = `/playlist/organisation/${owner.organisationId}`
        const { status, body } = await clients.uploader.get<{ playlist_id: string }[]>(whole)
        const { videos: _, ...fields } = plain
        const common = { ...fields, description: '', organisation_id: owner.organisationId, created_by_user_id: owner.userId }
        expect([status, body.slice(-2)]).toEqual([
          200,
          [
            { ...common, playlist_id: playlistIds[0], title: 'First', video_count: 2 },
            { ...common, playlist_id: playlistIds[1], title: 'Second', video_count: 0 },
          ],
        ])
        const walked: string[] = []
        for (let next = `${whole}?limit=2`; next !== '' && walked.length < 500; ) {
          const page = await clients.system.get<{ playlist_id: string }[]>(next)
          walked.push(...page.body.map(({ playlist_id }) => playlist_id))
          next = /<[^>]*\/v2([^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? ''
        }
        expect(walked).toEqual(body.map(({ playlist_id }) => playlist_id))
      },
      async rejectedCalls({ owner, otherTenant }) {
        const ownListPath = `/playlist/organisation/${owner.organisationId}`
        return [
          { method: 'GET', path: `/playlist/organisation/${otherTenant.organisationId}`, status: 403, code: 'foreign_organisation' },
          { method: 'GET', path: '/playlist/organisation/x', status: 403 },
          { caller: 'system', method: 'GET', path: '/playlist/organisation/999999', status: 404, code: 'organisation_not_found' },
          { method: 'GET', path: `${ownListPath}?limit=1001&start=0`, status: 400, fields: ['limit', 'start'] },
          { caller: 'guest', method: 'GET', path: ownListPath, status: 401 },
        ]
      },
    },
    {
      endpoint: 'GET /playlist/rss/{playlist_id}',
      async works(fixture) {
        const { clients, platform } = fixture
        const { video_id, uri } = await fixture.playing()
        const hidden = (await fixture.video({ name: 'Hidden' })).video_id
        await clients.owner.patch(`/video/${hidden}`, { enabled: 0 })
        const hostile = (await fixture.video({ name: ']]>]]> & <b>"\u0001\u{1f680}' })).video_id
        const playlistId = await createPlaylist(fixture, { title: 'Feed & more' }, [video_id, hidden, hostile])
        for (const caller of ['uploader', 'system'] as const) {
          const { status, headers, body } = await clients[caller].get<string>(`/playlist/rss/${playlistId}`)
          expect([status, headers.get('content-type')]).toEqual([200, 'application/rss+xml; charset=utf-8'])
          expect(XMLValidator.validate(body)).toBe(true)
          const feed = parseFeed(body)
          expect([feed.title, feed.url]).toEqual(['Feed & more', `${platform.url}/player/${playlistId}`])
          expect(feed.items.map(({ id }) => id)).toEqual([video_id, hostile])
          const files = feed.items[0]?.media ?? []
          expect(files.map(({ url }) => url)).toEqual(expect.arrayContaining([uri.hls, uri.http['h264_1200']]))
          expect(feed.items[0]?.image?.url).toBe(uri.thumbnail)
          for (const { url, length } of files) {
            const file = await fetch(url, { method: 'HEAD' })
            expect(file.status).toBe(200)
            if (length !== null) expect(file.headers.get('content-length')).toBe(String(length))
          }
        }
      },
      async rejectedCalls(fixture) {
        const playlistId = await createPlaylist(fixture)
        return [
          { caller: 'otherTenant', method: 'GET', path: `/playlist/rss/${playlistId}`, status: 404, code: 'playlist_not_found' },
          { method: 'GET', path: '/playlist/rss/7', status: 404, code: 'playlist_not_found' },
          { caller: 'guest', method: 'GET', path: `/playlist/rss/${playlistId}`, status: 401 },
          { method: 'POST', path: `/playlist/rss/${playlistId}`, status: 405 },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'PUT /playlist/{}': () => ({ title: 'changed' }),
      'POST /playlist/create/{}': () => ({ title: 'made' }),
      'PUT /playlist/create/{}': () => ({ title: 'made' }),
    },
    async make(fixture) {
      const { video_id } = await fixture.video()
      return { playlist_id: await createPlaylist(fixture, { title: 'Sample' }, [video_id]) }
    },
  },
}
