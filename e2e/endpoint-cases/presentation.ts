import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { addSlides, buildPdf } from '../support/slides.ts'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'

interface Presentation {
  id: string
  filename: string
  title: string
  url: string
  status: { message: string; progress: number; code: number; reason: string }
  video_id: string
  slides: Record<string, { seconds: number | null; url: string; thumbnail: string }>
  slides_url: Record<string, string>
  number_of_slides: number
}

const caller = 'system' as const
const missing = '/presentation/4611686018427387904'
const awaiting = { message: 'ok, but awaiting timings', progress: 99, code: 1999 }

async function create({ clients, owner }: Fixture, fields: Record<string, unknown> = {}): Promise<Presentation> {
  const payload = { title: 'Launch', organisation_id: owner.organisationId, ...fields }
  const { status, body } = await clients.system.post<Presentation>('/presentation', payload)
  expect(status).toBe(201)
  return body
}

/** Waits until the file of the presentation is processed. */
function waitUntilProcessed({ clients }: Fixture, id: string): Promise<Presentation> {
  const check = async () => {
    const { body } = await clients.owner.get<Presentation>(`/presentation/${id}`)
    return body.status.message !== 'processing' && body
  }
  return waitFor(check, { timeout: 50_000, describe: `the slides of ${id}` }) as Promise<Presentation>
}

/** Returns calls with fields and texts that no write accepts. */
function listInvalidFieldCalls(method: string, path: string): RejectedCall[] {
  const good = { title: 'a' }
  const buildRejectedCall = (payload: Record<string, unknown>, fields: string[]): RejectedCall => ({
    caller,
    method,
    path,
    payload,
    status: 400,
    fields,
  })
  return [
    buildRejectedCall({ ...good, title: '' }, ['title']),
    buildRejectedCall({ ...good, title: 'x'.repeat(256) }, ['title']),
    buildRejectedCall({ ...good, title: ' ', description: 'x'.repeat(5_001), user_id: 'x', video_id: -1 }, [
      'description',
      'title',
      'user_id',
      'video_id',
    ]),
    // PUT accepts a record as it was read.
    ...(method === 'POST'
      ? [buildRejectedCall({ ...good, status: 'ok', id: '1', date_created: '2030-01-01 00:00:00' }, ['date_created', 'id', 'status'])]
      : [buildRejectedCall({ ...good, id: '1', colour: 'red' }, ['colour'])]),
  ]
}

export const presentationRows: NounRows = {
  noun: 'presentation',
  rows: [
    {
      endpoint: 'GET /presentation/{id}',
      async works(fixture) {
        const { owner, clients } = fixture
        const id = await addSlides(fixture, buildPdf(2))
        const processedPresentation = await waitUntilProcessed(fixture, id)
        expect(processedPresentation).toMatchObject({
          ...{ id, filename: 'launch.pdf', title: 'launch', number_of_slides: 2, video_id: '' },
          status: { ...awaiting, reason: '' },
          slides: { '1': { seconds: null }, '2': { seconds: null } },
          slides_url: { '1': processedPresentation.slides['1']?.url, '2': processedPresentation.slides['2']?.url },
        })
        for (const [address, type] of [
          [processedPresentation.slides['1']?.url, 'image/jpeg'],
          [processedPresentation.slides['2']?.thumbnail, 'image/jpeg'],
          [processedPresentation.url, 'application/pdf'],
        ]) {
          const file = await fetch(String(address))
          expect([file.status, file.headers.get('content-type')]).toEqual([200, type])
          expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(100)
        }
        for (const caller of ['guest', 'otherTenant', 'uploader', 'system'] as const) {
          expect((await clients[caller].get(`/presentation/${id}`)).body).toEqual(processedPresentation)
        }
        // Another file adds its pages after the existing ones.
        await addSlides(fixture, buildPdf(1), { presentationId: id })
        const longer = await waitUntilProcessed(fixture, id)
        expect(longer).toMatchObject({
          filename: 'launch.pdf',
          url: processedPresentation.url,
          number_of_slides: 3,
          slides: processedPresentation.slides,
        })
        // Delivery caches a presentation for two seconds.
        await waitFor(async () => (await fetch(String(longer.slides['3']?.url))).status === 200, { timeout: 20_000 })
        // A file for an unknown id changes nothing; the catalogue reports the reason to its
        // organisation.
        await addSlides(fixture, Buffer.from('no presentation'), { presentationId: id })
        const after = await waitUntilProcessed(fixture, id)
        expect(after).toEqual({ ...longer, status: { ...longer.status, reason: expect.stringContaining('supported format') } })
        expect((await clients.guest.get<Presentation>(`/presentation/${id}`)).body.status.reason).toBe('')
        const failed = await waitUntilProcessed(
          fixture,
          await addSlides(fixture, Buffer.from('PK\x03\x04 nothing'), { filename: 'x'.repeat(255) }),
        )
        expect(failed).toMatchObject({ status: { message: 'failed', code: 4002 }, slides: {}, number_of_slides: 0 })

        // A presentation has the protection of its video, and accepts tokens of the video.
        const { video_id } = await fixture.playing()
        await clients.system.put(`/presentation/${id}`, { video_id })
        expect((await clients.owner.get<{ presentation_id: string }>(`/video/${video_id}`)).body.presentation_id).toBe(id)
        const url = String(processedPresentation.slides['1']?.url)
        const set = (changes: Record<string, unknown>) => clients.owner.patch(`/video/${video_id}`, changes)
        const waitForStatus = (status: number) => waitFor(async () => (await fetch(url)).status === status, { timeout: 20_000 })
        try {
          await set({ security: { token_required_platform: true } })
          await waitForStatus(403)
          const { token } = (await clients.owner.post<{ token: string }>(`/video/${video_id}/token`, { expires_in: 600 })).body
          expect((await fetch(`${url}?token=${token}`)).status).toBe(200)
          await set({ enabled: 0 })
          await waitForStatus(404)
          expect((await clients.guest.get(`/presentation/${id}`)).status).toBe(404)
          expect((await clients.owner.get(`/presentation/${id}`)).status).toBe(200)
        } finally {
          await set({ enabled: 1, security: { token_required_platform: false } })
          await clients.system.delete(`/presentation/${id}`)
        }
        expect(owner.organisationId).not.toBe('')
      },
      rejectedCalls: async () => [
        { method: 'GET', path: missing, status: 404, code: 'presentation_not_found' },
        { caller: 'guest', method: 'GET', path: missing, status: 404, code: 'presentation_not_found' },
        { caller, method: 'GET', path: '/presentation/x', status: 404, code: 'presentation_not_found' },
        { method: 'PATCH', path: missing, status: 405 },
      ],
    },
    {
      endpoint: 'POST /presentation',
      async works(fixture) {
        const { owner, uploader, clients } = fixture
        const max = { title: 'x'.repeat(255), description: 'é'.repeat(5_000), user_id: uploader.userId }
        const created = await create(fixture, max)
        expect(created).toMatchObject({
          ...max,
          organisation_id: owner.organisationId,
          status: awaiting,
          slides: {},
          filename: '',
          url: '',
        })
        expect((await clients.owner.get(`/presentation/${created.id}`)).body).toEqual(created)
        const { video_id } = await fixture.video()
        expect(await create(fixture, { video_id })).toMatchObject({ video_id })
      },
      async rejectedCalls({ owner, otherTenant }) {
        const path = '/presentation'
        const good = { title: 'a', organisation_id: owner.organisationId }
        return [
          ...listInvalidFieldCalls('POST', path).map((rejectedCall) => ({
            ...rejectedCall,
            payload: { organisation_id: owner.organisationId, ...(rejectedCall.payload as Record<string, unknown>) },
          })),
          { caller, method: 'POST', path, payload: {}, status: 400, fields: ['organisation_id', 'title'] },
          { caller, method: 'POST', path, payload: { ...good, slides: {} }, status: 400, fields: ['slides'] },
          { caller, method: 'POST', path, payload: { ...good, organisation_id: '999999' }, status: 404, code: 'organisation_not_found' },
          { caller, method: 'POST', path, payload: { ...good, user_id: '999999' }, status: 404, code: 'user_not_found' },
          { caller, method: 'POST', path, payload: { ...good, user_id: otherTenant.userId }, status: 404, code: 'user_not_found' },
          { caller, method: 'POST', path, payload: { ...good, video_id: '5' }, status: 404, code: 'video_not_found' },
          { method: 'POST', path, payload: good, status: 403 },
          { caller: 'otherTenant', method: 'POST', path, payload: { ...good, organisation_id: otherTenant.organisationId }, status: 403 },
          { caller: 'guest', method: 'POST', path, payload: good, status: 401 },
        ]
      },
    },
    {
      endpoint: 'PUT /presentation/{id}',
      async works(fixture) {
        const { otherTenant, clients } = fixture
        const id = await addSlides(fixture, buildPdf(2))
        await waitUntilProcessed(fixture, id)
        const put = async (payload: Record<string, unknown>) => {
          const { status, body } = await clients.system.put<Presentation>(`/presentation/${id}`, payload)
          expect(status).toBe(200)
          expect((await clients.system.get(`/presentation/${id}`)).body).toEqual(body)
          return body
        }
        expect(await put({ title: 'New', slides: { '1': { seconds: 0 } } })).toMatchObject({ title: 'New', status: awaiting })
        expect(await put({ slides: { '2': { seconds: '604800' } } })).toMatchObject({
          status: { message: 'ok', progress: 100, code: 2000 },
          slides: { '1': { seconds: 0 }, '2': { seconds: 604_800 } },
        })
        expect(await put({ slides: { '1': { seconds: null }, '2': { seconds: 604_799 } } })).toMatchObject({ status: awaiting })
        expect(await put({ organisation_id: otherTenant.organisationId, description: 'x'.repeat(4_999) })).toMatchObject({
          organisation_id: otherTenant.organisationId,
        })
      },
      async rejectedCalls(fixture) {
        const { id } = await create(fixture)
        const path = `/presentation/${id}`
        const timing = (slides: unknown, fields: string[]): RejectedCall => ({
          ...{ caller, method: 'PUT', path, payload: { title: 'changed', slides }, status: 400, fields },
        })
        const foreign =
          (await fixture.clients.otherTenant.get<{ videos: { video_id: string }[] }>('/video')).body.videos[0]?.video_id ?? '5'
        return [
          ...listInvalidFieldCalls('PUT', path),
          timing({ '1': { seconds: 0 } }, ['slides.1']),
          timing({ '1': { seconds: 604_801 } }, ['slides.1.seconds']),
          timing({ '1': { seconds: -1 } }, ['slides.1.seconds']),
          timing({ '1': { seconds: 1.5 } }, ['slides.1.seconds']),
          timing('[]', ['slides']),
          timing(Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [String(i + 1), { seconds: 1 }])), ['slides']),
          { caller, method: 'PUT', path, payload: {}, status: 400 },
          { caller, method: 'PUT', path, payload: { video_id: foreign }, status: 404, code: 'video_not_found' },
          { caller, method: 'PUT', path, payload: { organisation_id: '999999' }, status: 404, code: 'organisation_not_found' },
          { caller, method: 'PUT', path, payload: { user_id: '999999' }, status: 404, code: 'user_not_found' },
          { caller, method: 'PUT', path, payload: { user_id: fixture.otherTenant.userId }, status: 404, code: 'user_not_found' },
          { caller, method: 'PUT', path: missing, payload: { title: 'a' }, status: 404, code: 'presentation_not_found' },
          { method: 'PUT', path, payload: { title: 'a' }, status: 403 },
          { caller: 'guest', method: 'PUT', path, payload: { title: 'a' }, status: 401 },
        ]
      },
    },
    {
      endpoint: 'DELETE /presentation/{id}',
      async works(fixture) {
        const { clients } = fixture
        const { id } = await create(fixture)
        expect((await clients.system.delete(`/presentation/${id}`)).body).toEqual({ id, deleted: true })
        expect((await clients.owner.get(`/presentation/${id}`)).status).toBe(404)
        expect((await clients.system.delete(`/presentation/${id}`)).status).toBe(404)
      },
      async rejectedCalls(fixture) {
        const path = `/presentation/${(await create(fixture)).id}`
        return [
          { caller, method: 'DELETE', path: missing, status: 404, code: 'presentation_not_found' },
          { method: 'DELETE', path, status: 403 },
          { caller: 'otherTenant', method: 'DELETE', path, status: 403 },
          { caller: 'guest', method: 'DELETE', path, status: 401 },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'POST /presentation': ({ organisation_id }) => ({ title: 'made', organisation_id }),
      'PUT /presentation/{}': () => ({ title: 'changed' }),
    },
    make: async (fixture) => ({ presentation_id: (await create(fixture)).id }),
  },
}
