import { expect } from '@jest/globals'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'

interface Overlay extends Record<string, unknown> {
  overlay_id: string
  title: string
}

const buildText = (count: number) => 'ä'.repeat(count)
const address = (length: number) => `https://example.org/${'a'.repeat(length - 20)}`

const newOverlay = async ({ clients }: Fixture, fields: Record<string, unknown> = {}): Promise<Overlay> => {
  const { status, body } = await clients.uploader.post<Overlay>('/overlay', { title: 'Tickets', ...fields })
  if (status !== 201) throw new Error(`no overlay: ${JSON.stringify(body)}`)
  return body
}
const fetchOverlays = async ({ clients }: Fixture, videoId: string) =>
  (await clients.guest.get<{ overlays: Overlay[] }>(`/video/${videoId}`)).body.overlays

/** Every field at its maximum. */
const max = {
  title: buildText(255),
  description: buildText(1_000),
  image_path: address(2_048),
  link_text: buildText(255),
  link_action: buildText(50),
  link_url: address(2_048),
  link_target: buildText(50),
  link_javascript_code: `</script><script>alert("${buildText(4_964)}")</script>`,
  language: 'pt-BR',
  width: '8192',
  height: '1',
}
const tooMuch = {
  title: buildText(256),
  description: buildText(1_001),
  image_path: address(2_049),
  link_text: buildText(256),
  link_action: buildText(51),
  link_url: address(2_049),
  link_target: buildText(51),
  link_javascript_code: buildText(5_001),
  language: 'x',
  width: 8_193,
  height: 0,
}
const show = { at_end: '1', during: { start: '00:00', end: '999:59' } }

const badPayloads = (call: Pick<RejectedCall, 'method' | 'path'>): RejectedCall[] => [
  { ...call, payload: tooMuch, status: 400, fields: Object.keys(tooMuch) },
  ...['javascript:alert(1)', 'java\tscript:alert(1)', 'data:text/html,x', '/tickets', 'ftp://example.org/', 'https://'].map((link_url) => ({
    ...{ ...call, payload: { title: 'a', link_url }, status: 400, fields: ['link_url'] },
  })),
  ...['javascript:alert(1)', ' https://example.org/a.png', 'data:image/png;base64,AA=='].map((image_path) => ({
    ...{ ...call, payload: { title: 'a', image_path }, status: 400, fields: ['image_path'] },
  })),
  {
    ...call,
    payload: { title: 'a', show: { at_end: 2, during: { start: '00:60', end: '1000:00' } } },
    status: 400,
    fields: ['show.at_end', 'show.during.start', 'show.during.end'],
  },
  { ...call, payload: { title: 'a', show: { during: { start: '00:02', end: '00:01' } } }, status: 400, fields: ['show.during'] },
  // PUT accepts an overlay as it was read.
  ...(call.method === 'POST'
    ? [{ ...call, payload: { title: 'a', overlay_id: '1', in_player_ad_id: '1' }, status: 400, fields: ['overlay_id', 'in_player_ad_id'] }]
    : [{ ...call, payload: { title: 'a', overlay_id: '1', colour: 'red' }, status: 400, fields: ['colour'] }]),
  { ...call, payload: { title: 'a', associated_with_media_id: '7' }, status: 404, code: 'media_not_found' },
  { ...call, caller: 'guest', payload: { title: 'a' }, status: 401 },
]

const fullMedia = async (fixture: Fixture): Promise<string> => {
  const { media_id } = await fixture.video()
  for (let count = 0; count < 25; count++) await newOverlay(fixture, { associated_with_media_id: media_id })
  return media_id
}

export const overlayRows: NounRows = {
  noun: 'overlay',
  rows: [
    {
      endpoint: 'GET /overlay',
      async works(fixture) {
        const overlays = [await newOverlay(fixture, { title: 'One' }), await newOverlay(fixture, { title: 'Two' })]
        const hidden = await newOverlay(fixture, { title: 'Hidden', disabled: 1 })
        const { status, body } = await fixture.clients.uploader.get<Record<string, Overlay>>('/overlay')
        expect(status).toBe(200)
        expect(Object.keys(body)).toEqual(Object.keys(body).map((_, index) => String(index)))
        for (const overlay of overlays) expect(Object.values(body)).toContainEqual(overlay)
        expect(Object.values(body)).not.toContainEqual(expect.objectContaining({ overlay_id: hidden.overlay_id }))
        const ownOverlaysPath = `/overlay?organisation_id=${fixture.owner.organisationId}`
        for (const caller of ['owner', 'system'] as const) expect((await fixture.clients[caller].get(ownOverlaysPath)).body).toEqual(body)
        expect((await fixture.clients.otherTenant.get('/overlay')).body).toEqual({})
        const page = await fixture.clients.owner.get(`${ownOverlaysPath}&start=2&limit=1`)
        expect(page.body).toEqual({ '1': body['1'] })
      },
      rejectedCalls: async ({ otherTenant }) => [
        { method: 'GET', path: `/overlay?organisation_id=${otherTenant.organisationId}`, status: 403 },
        { method: 'GET', path: '/overlay?organisation_id=x', status: 403 },
        { caller: 'system', method: 'GET', path: '/overlay', status: 400, fields: ['organisation_id'] },
        { caller: 'system', method: 'GET', path: '/overlay?organisation_id=999999', status: 404 },
        { method: 'GET', path: '/overlay?start=0&limit=1001', status: 400, fields: ['start', 'limit'] },
        { caller: 'guest', method: 'GET', path: '/overlay', status: 401 },
      ],
    },
    {
      endpoint: 'GET /overlay/{id}',
      async works(fixture) {
        const overlay = await newOverlay(fixture, { disabled: 1 })
        for (const caller of ['owner', 'uploader', 'system'] as const) {
          const { status, body } = await fixture.clients[caller].get(`/overlay/${overlay.overlay_id}`)
          expect([status, body]).toEqual([200, overlay])
        }
      },
      async rejectedCalls(fixture) {
        const { overlay_id } = await newOverlay(fixture)
        return [
          { caller: 'otherTenant', method: 'GET', path: `/overlay/${overlay_id}`, status: 404, code: 'overlay_not_found' },
          { method: 'GET', path: '/overlay/999999', status: 404, code: 'overlay_not_found' },
          { method: 'GET', path: '/overlay/x', status: 404 },
          { caller: 'guest', method: 'GET', path: `/overlay/${overlay_id}`, status: 401 },
        ]
      },
    },
    {
      endpoint: 'POST /overlay',
      async works(fixture) {
        const { video_id, media_id } = await fixture.video()
        const sent = { ...max, show, associated_with_media_id: media_id }
        const { overlay_id, ...overlay } = await newOverlay(fixture, sent)
        expect(overlay).toMatchObject({
          ...sent,
          organisation_id: fixture.owner.organisationId,
          in_player_ad_id: overlay_id,
          disabled: '0',
        })
        expect((await fixture.clients.owner.get(`/overlay/${overlay_id}`)).body).toEqual({ overlay_id, ...overlay })
        const second = await fixture.clients.system.post<Overlay>('/overlay', {
          title: 'By the system',
          associated_with_media_id: media_id,
        })
        expect([second.status, second.body]).toMatchObject([201, { organisation_id: fixture.owner.organisationId }])
        const shown = await fetchOverlays(fixture, video_id)
        expect(shown).toHaveLength(2)
        expect(shown[0]).toEqual({ ...max, show, overlay_id })
      },
      async rejectedCalls(fixture) {
        const call = { method: 'POST', path: '/overlay' }
        const { media_id } = await fixture.video()
        const full = await fullMedia(fixture)
        return [
          ...badPayloads(call),
          { ...call, payload: {}, status: 400, fields: ['title'] },
          { ...call, payload: { title: 'a', organisation_id: fixture.otherTenant.organisationId }, status: 403 },
          {
            ...call,
            caller: 'otherTenant',
            payload: { title: 'a', associated_with_media_id: media_id },
            status: 404,
            code: 'media_not_found',
          },
          { ...call, caller: 'system', payload: { title: 'a' }, status: 400, fields: ['organisation_id'] },
          { ...call, caller: 'system', payload: { title: 'a', organisation_id: '999999' }, status: 404 },
          { ...call, payload: { title: 'a', associated_with_media_id: full }, status: 409, code: 'overlays_full' },
        ]
      },
    },
    {
      endpoint: 'PUT /overlay/{id}',
      async works(fixture) {
        const { video_id, media_id } = await fixture.video()
        const before = await newOverlay(fixture, { show, link_url: 'https://example.org/' })
        const path = `/overlay/${before.overlay_id}`
        const changed = await fixture.clients.uploader.put(path, { ...max, associated_with_media_id: media_id, show: { at_end: 0 } })
        const expected = { ...before, ...max, associated_with_media_id: media_id, show: { ...show, at_end: '0' } }
        expect([changed.status, changed.body]).toEqual([200, { ...expected, time_last_modified: expect.any(String) }])
        expect(await fetchOverlays(fixture, video_id)).toHaveLength(1)
        await fixture.clients.system.put(path, { show: { during: null }, link_url: '', width: null, language: '' })
        expect((await fixture.clients.owner.get(path)).body).toMatchObject({
          ...{ show: { at_end: '0', during: { start: '', end: '' } }, link_url: '', width: '', language: '', height: '1' },
        })
        await fixture.clients.owner.put(path, { disabled: '1' })
        expect(await fetchOverlays(fixture, video_id)).toEqual([])
      },
      async rejectedCalls(fixture) {
        const call = { method: 'PUT', path: `/overlay/${(await newOverlay(fixture)).overlay_id}` }
        const full = await fullMedia(fixture)
        return [
          ...badPayloads(call),
          { ...call, payload: {}, status: 400 },
          { ...call, payload: { organisation_id: fixture.owner.organisationId }, status: 400, fields: ['organisation_id'] },
          { ...call, payload: { associated_with_media_id: full }, status: 409, code: 'overlays_full' },
          { ...call, caller: 'otherTenant', payload: { title: 'a' }, status: 404, code: 'overlay_not_found' },
          { ...call, path: '/overlay/999999', payload: { title: 'a' }, status: 404, code: 'overlay_not_found' },
        ]
      },
    },
    {
      endpoint: 'DELETE /overlay/{id}',
      async works(fixture) {
        const { video_id, media_id } = await fixture.video()
        const { overlay_id } = await newOverlay(fixture, { associated_with_media_id: media_id })
        const { status, body } = await fixture.clients.uploader.delete(`/overlay/${overlay_id}`)
        expect([status, body]).toEqual([200, { deleted: true }])
        expect(await fetchOverlays(fixture, video_id)).toEqual([])
        expect((await fixture.clients.owner.delete(`/overlay/${overlay_id}`)).status).toBe(404)
      },
      async rejectedCalls(fixture) {
        const { overlay_id } = await newOverlay(fixture)
        return [
          { caller: 'otherTenant', method: 'DELETE', path: `/overlay/${overlay_id}`, status: 404, code: 'overlay_not_found' },
          { method: 'DELETE', path: '/overlay/999999', status: 404, code: 'overlay_not_found' },
          { caller: 'guest', method: 'DELETE', path: `/overlay/${overlay_id}`, status: 401 },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'POST /overlay': (v) => ({ title: 'Sample', organisation_id: v['organisation_id'] }),
      'PUT /overlay/{}': () => ({ title: 'Changed' }),
    },
    async make(fixture) {
      const { media_id } = await fixture.video()
      return { overlay_id: (await newOverlay(fixture, { associated_with_media_id: media_id })).overlay_id }
    },
  },
}
