import { expect } from '@jest/globals'
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5'
import type { CallerName, Fixture, NounRows, RejectedCall } from '../support/table-row.ts'

/** Returns the name and the attributes of the only element of an embed code. */
function parseElement(body: unknown): { name: string } & Record<string, string> {
  const [code = '', ...more] = body as string[]
  const [element, ...others] = parseFragment(code).childNodes as DefaultTreeAdapterTypes.Element[]
  if (!element || more.length > 0 || others.length > 0 || element.childNodes.length > 0) throw new Error(`not one element: ${code}`)
  return { name: element.tagName, ...Object.fromEntries(element.attrs.map(({ name, value }) => [name, value])) }
}

async function fetchCode(fixture: Fixture, path: string, caller: CallerName = 'guest') {
  const { status, body } = await fixture.clients[caller].get<string[]>(path)
  if (status !== 200) throw new Error(`${path} returned ${status}: ${JSON.stringify(body)}`)
  return parseElement(body)
}

async function createVideo(fixture: Fixture, fields: Record<string, unknown> = {}) {
  return (await fixture.video({ name: 'Launch "day" <1>', published_width: 1280, published_height: 720, ...fields })).video_id
}

async function createHiddenVideo(fixture: Fixture) {
  const id = await createVideo(fixture)
  await fixture.clients.owner.patch(`/video/${id}`, { enabled: 0 })
  return id
}

/** Returns calls that exceed each limit by one, and calls by callers that must not see the video. */
async function listRejectedCalls(fixture: Fixture, prefix: string): Promise<RejectedCall[]> {
  const [open, hidden, expired] = [await createVideo(fixture), await createHiddenVideo(fixture), await createVideo(fixture)]
  await fixture.clients.owner.patch(`/video/${expired}`, { content_expiry: { time: '2020-01-01 00:00:00', message: 'Over' } })
  const buildRejectedCall = (query: string, ...fields: string[]) => ({
    caller: 'guest' as const,
    method: 'GET',
    path: `${prefix}/${open}?${query}`,
    status: 400,
    fields,
  })
  return [
    buildRejectedCall('width=10000', 'width'),
    buildRejectedCall('width=0', 'width'),
    buildRejectedCall('height=101%25', 'height'),
    buildRejectedCall('width=1e3&height=12px', 'width', 'height'),
    buildRejectedCall(`element_id=${'a'.repeat(65)}`, 'element_id'),
    buildRejectedCall('element_id=a%22b', 'element_id'),
    buildRejectedCall('player=cat', 'player'),
    buildRejectedCall('referrer_url=javascript:alert(1)', 'referrer_url'),
    buildRejectedCall(`token=${'x'.repeat(2_001)}`, 'token'),
    buildRejectedCall('width=1&width=2', 'width'),
    ...(['guest', 'otherTenant'] as const).map((caller) => ({ caller, method: 'GET', path: `${prefix}/${hidden}`, status: 404 })),
    { caller: 'guest', method: 'GET', path: `${prefix}/${expired}`, status: 404, code: 'video_expired' },
    { caller: 'guest', method: 'GET', path: `${prefix}/7`, status: 404 },
    { caller: 'system', method: 'GET', path: `${prefix}/7`, status: 404 },
    { method: 'POST', path: `${prefix}/${open}`, status: 405 },
  ]
}

export const embedRows: NounRows = {
  noun: 'embed',
  rows: [
    {
      endpoint: 'GET /embed/{id}/{type}',
      async works(fixture) {
        const id = await createVideo(fixture)
        const { url } = fixture.platform
        const frame = await fetchCode(fixture, `/embed/${id}/iframe?token=a.b%26c`)
        expect(frame).toMatchObject({ name: 'iframe', width: '1280', height: '720', title: 'Launch "day" <1>' })
        expect(frame['src']).toBe(`${url}/player/${id}?token=a.b%26c`)
        expect((await fetch(frame['src'] ?? '')).status).toBe(200)
        const responsive = await fetchCode(fixture, `/embed/${id}/responsive?width=640&token=a.b%26c`)
        const style = 'border:0;width:100%;max-width:640px;height:auto;aspect-ratio:1280/720'
        expect(responsive).toMatchObject({ name: 'iframe', src: frame['src'], width: '640', height: '360', style })
        const facade = await fixture.clients.guest.get<string[]>(`/embed/${id}/facade`)
        expect(facade.body[0]).toMatch(
          new RegExp(`^<div data-vitascope-video="${id}" .*</div><script async src="${url}/player/embed.js"></script>$`),
        )
        const query =
          'width=9999&height=1%25&element_id=film&player=akita&token=t&show_presentation=true&referrer_url=https://www.example.org/'
        const script = await fetchCode(fixture, `/embed/${id}/js?${query}`)
        expect(script).toMatchObject({
          ...{ name: 'script', src: `${url}/player/embed.js`, 'data-id': id, 'data-width': '9999', 'data-height': '1%' },
          ...{ 'data-element-id': 'film', 'data-player': 'akita', 'data-token': 't', 'data-presentation': 'true' },
          'data-referrer-url': 'https://www.example.org/',
        })
        const embedScript = await fetch(script['src'] ?? '')
        expect([embedScript.status, embedScript.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
        for (const caller of ['owner', 'uploader', 'system', 'otherTenant'] as const) {
          expect(await fetchCode(fixture, `/embed/${id}/iframe?token=a.b%26c`, caller)).toEqual(frame)
        }
        // The code contains nothing of the profile.
        const text = '"><script>alert(1)</script>'
        const profile = { title: text, logo_asset_id: text, logo_destination_url: 'https://x.example/"><b>', ga_tracker_id: 'UA-1' }
        const setting = await fixture.clients.owner.post<{ message: { created: string } }>(
          `/setting/${fixture.owner.organisationId}`,
          profile,
        )
        const videoWithProfile = await createVideo(fixture, { settings_id: setting.body.message.created })
        expect(await fetchCode(fixture, `/embed/${videoWithProfile}/iframe`)).toEqual({
          ...frame,
          src: `${url}/player/${videoWithProfile}`,
        })
        // The organisation of a video gets its embed code before the video is public.
        const hidden = await createHiddenVideo(fixture)
        expect((await fetchCode(fixture, `/embed/${hidden}/iframe`, 'owner'))['src']).toBe(`${url}/player/${hidden}`)
      },
      async rejectedCalls(fixture) {
        const open = await createVideo(fixture)
        return [
          { caller: 'guest', method: 'GET', path: `/embed/${open}/html`, status: 400, fields: ['type'] },
          { caller: 'guest', method: 'GET', path: `/embed/${open}/responsive?height=360`, status: 400, fields: ['height'] },
          { caller: 'guest', method: 'GET', path: `/embed/${open}/facade?height=50%25`, status: 400, fields: ['height'] },
          ...(await listRejectedCalls(fixture, '/embed')).map((call) => ({ ...call, path: call.path.replace(/(\?|$)/, '/iframe$1') })),
        ]
      },
    },
    {
      endpoint: 'GET /embed/{id}',
      async works(fixture) {
        const id = await createVideo(fixture)
        expect(await fetchCode(fixture, `/embed/${id}`)).toEqual(await fetchCode(fixture, `/embed/${id}/js`))
        const { clients, owner } = fixture
        const playlist = await clients.owner.post<{ playlist_id: string }>(`/playlist/create/${owner.organisationId}`, {
          title: 'All & more',
        })
        const list = playlist.body.playlist_id
        expect(await fetchCode(fixture, `/embed/${list}`)).toMatchObject({ name: 'script', 'data-id': list, 'data-title': 'All & more' })
        expect((await fetchCode(fixture, `/embed/${list}/iframe`, 'owner'))['src']).toBe(`${fixture.platform.url}/player/${list}`)
      },
      async rejectedCalls(fixture) {
        const open = await createVideo(fixture)
        const path = `/embed/${open}?show_presentation=yes`
        return [
          { caller: 'guest', method: 'GET', path, status: 400, fields: ['show_presentation'] },
          ...(await listRejectedCalls(fixture, '/embed')),
        ]
      },
    },
    {
      endpoint: 'GET /embed/presentation/{video_id}',
      async works(fixture) {
        const id = await createVideo(fixture)
        const none = await fixture.clients.guest.get(`/embed/presentation/${id}`)
        expect([none.status, none.body]).toMatchObject([404, { code: 'presentation_not_found' }])
        await fixture.clients.system.post('/presentation', { title: 'Slides', organisation_id: fixture.owner.organisationId, video_id: id })
        const script = await fetchCode(fixture, `/embed/presentation/${id}?token=t`)
        expect(script).toMatchObject({
          name: 'script',
          'data-id': id,
          'data-presentation': 'true',
          'data-ratio': '2560/720',
          'data-token': 't',
        })
        expect(await fetchCode(fixture, `/embed/presentation/${id}?token=t`, 'uploader')).toEqual(script)
      },
      async rejectedCalls(fixture) {
        return [
          { caller: 'guest', method: 'GET', path: '/embed/presentation', status: 404 },
          ...(await listRejectedCalls(fixture, '/embed/presentation')),
        ]
      },
    },
  ],
  samples: {
    payloads: {},
    make: async (fixture) => ({ embed_id: (await fixture.video()).video_id, type: 'iframe' }),
  },
}
