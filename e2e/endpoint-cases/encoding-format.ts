import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'

type Entry = Record<string, unknown>
type Formats = Record<string, unknown> & { title: string }

const AV1 = {
  ...{ aspect_mode: 'preserve', audio_bitrate: 64, audio_channels: 2, audio_codec: 'aac', audio_sample_rate: 48_000, format: 'mp4' },
  ...{ keyframe_interval: 2, label: 250, size: '640x360', speed: 4, upscale: false, video_bitrate: 186, video_codec: 'av1' },
}

/** Invalid values of format fields, including ones that would be dangerous on a command line. */
const BAD = [
  ...['1280x720;reboot', '1280x720 -i /etc/passwd', '$(id)', '`id`', '| cat', '&& true', '%03d', '../../x', 'file:/etc/passwd', '-vf'],
  ...['concat:a|b', 'libx264 -y', "'", '"', '\n', 'a\nb', '0x10', '1e3', ' 7', '7 ', '+7', '７', '9'.repeat(40), '', 'NaN', 'null', 'true'],
  ...[-1, 0, 1.5, 2 ** 31, 2 ** 53, 1e300, true, false, null, [], [1], {}, { $gt: 0 }],
]
const DETAILS = ['size', 'video_codec', 'format', 'speed', 'label', 'width']

/** Returns calls with each bad value in `field`, which must be a profile, and in unknown fields. */
function badFormats(method: string, path: string, field: string): RejectedCall[] {
  const buildRejectedCall = (value: unknown): RejectedCall => ({
    caller: 'system',
    method,
    path,
    payload: { [field]: value },
    status: 400,
    fields: [field],
  })
  const otherFieldCall = (name: string, value: unknown): RejectedCall => ({
    ...({ caller: 'system', method, path, payload: { [field]: 21, [name]: value } } as const),
    ...{ status: 400, fields: [name] },
  })
  return [...BAD.map(buildRejectedCall), ...DETAILS.flatMap((name) => BAD.map((value) => otherFieldCall(name, value)))]
}

const createOrganisation = async ({ clients }: Fixture) =>
  (await clients.system.post<{ organisation_id: string }>('/organisation', { name: 'Formats' })).body.organisation_id

export const encodingFormatRows: NounRows = {
  noun: 'encoding-format',
  rows: [
    {
      endpoint: 'GET /encodingformat',
      async works({ clients }) {
        const { status, body } = await clients.system.get<Entry>('/encodingformat')
        expect(status).toBe(200)
        expect(body).toContainEqual({ id: 21, ...AV1 })
      },
      rejectedCalls: async () => [
        { method: 'GET', path: '/encodingformat', status: 403 },
        { caller: 'guest', method: 'GET', path: '/encodingformat', status: 401 },
      ],
    },
    {
      endpoint: 'GET /media/encodingformat/{media_id}',
      async works({ clients, video }) {
        const { media_id } = await video({ name: 'Formats' })
        const empty = { media_id, title: 'Formats' }
        expect((await clients.system.get(`/media/encodingformat/${media_id}`)).body).toEqual(empty)
        await clients.system.post(`/media/encodingformat-post/${media_id}`, { encodingformat: 21 })
        expect((await clients.system.get(`/media/encodingformat/${media_id}`)).body).toEqual({ ...empty, av1_250: AV1 })
      },
      async rejectedCalls({ video }) {
        const path = `/media/encodingformat/${(await video()).media_id}`
        return [
          { method: 'GET', path, status: 403 },
          { caller: 'otherTenant', method: 'GET', path, status: 403 },
          { caller: 'guest', method: 'GET', path, status: 401 },
          { caller: 'system', method: 'GET', path: '/media/encodingformat/7', status: 404 },
          { caller: 'system', method: 'GET', path: '/media/encodingformat/x', status: 404 },
        ]
      },
    },
    {
      endpoint: 'POST /media/encodingformat-post/{media_id}',
      async works({ clients, video }) {
        const { media_id } = await video({ name: 'Applied' })
        const path = `/media/encodingformat-post/${media_id}`
        const { status, body, headers } = await clients.system.post<Formats>(path, { encodingformat: 21 })
        expect([status, body, headers.get('x-job-id')]).toEqual([200, { media_id, title: 'Applied', av1_250: AV1 }, null])
        const headersOfKey = { 'content-type': 'application/json', 'idempotency-key': 'apply 11' }
        const repeated = () => clients.system.send<Formats>('POST', path, { body: '{"encodingformat":"11"}', headers: headersOfKey })
        const [first, second] = [await repeated(), await repeated()]
        expect(Object.keys(first.body).sort()).toEqual(['av1_250', 'hevc_300', 'media_id', 'title'])
        expect([second.status, second.body]).toEqual([200, first.body])
        expect((await clients.system.get(`/media/encodingformat/${media_id}`)).body).toEqual(first.body)
      },
      async rejectedCalls({ video }) {
        const path = `/media/encodingformat-post/${(await video()).media_id}`
        const payload = { encodingformat: 21 }
        return [
          { method: 'POST', path, payload, status: 403 },
          { caller: 'otherTenant', method: 'POST', path, payload, status: 403 },
          { caller: 'guest', method: 'POST', path, payload, status: 401 },
          { caller: 'system', method: 'POST', path: '/media/encodingformat-post/7', payload, status: 404 },
          { caller: 'system', method: 'POST', path, payload: {}, status: 400, fields: ['encodingformat'] },
          { caller: 'system', method: 'POST', path, payload: { encodingformat: 4 }, status: 400, fields: ['encodingformat'] },
          ...badFormats('POST', path, 'encodingformat'),
        ]
      },
    },
    {
      endpoint: 'GET /organisation/encodingformat/{organisation_id}',
      async works(fixture) {
        const organisation_id = await createOrganisation(fixture)
        const { body } = await fixture.clients.system.get(`/organisation/encodingformat/${organisation_id}`)
        expect(body).toEqual({ organisation_id, title: 'Formats' })
      },
      rejectedCalls: async ({ owner }) => [
        { method: 'GET', path: `/organisation/encodingformat/${owner.organisationId}`, status: 403 },
        { caller: 'guest', method: 'GET', path: `/organisation/encodingformat/${owner.organisationId}`, status: 401 },
        { caller: 'system', method: 'GET', path: '/organisation/encodingformat/999999', status: 404 },
      ],
    },
    {
      endpoint: 'PUT /organisation/encodingformat-post/{organisation_id}',
      async works(fixture) {
        const { system } = fixture.clients
        const organisation_id = await createOrganisation(fixture)
        const put = (encodingformat_id: number) =>
          system.put<Record<string, Entry>>(`/organisation/encodingformat-post/${organisation_id}`, { encodingformat_id })
        await put(11)
        const { status, body } = await put(21)
        const ids = { organisation_encodingformat_id: expect.any(Number) }
        const both = { organisation_id, title: 'Formats', hevc_300: expect.objectContaining(ids), av1_250: { ...AV1, ...ids } }
        expect([status, body]).toEqual([200, both])
        expect((await put(21)).body).toEqual(body)
        expect((await system.get(`/organisation/encodingformat/${organisation_id}`)).body).toEqual(body)
        // New uploads are encoded to both formats.
        const { body: upload } = await system.post<{ id: string }>('/video/upload', {
          url: `${fixture.sources.url}/none.mp4`,
          organisation_id,
        })
        const { body: video } = await system.get<{ media_id: string }>(`/video/${upload.id}`)
        const formats = (await system.get<Formats>(`/media/encodingformat/${video.media_id}`)).body
        expect(Object.keys(formats).sort()).toEqual(['av1_250', 'hevc_300', 'media_id', 'title'])
        await waitFor(
          async () => (await system.get<{ status: { status: string } }>(`/video/${upload.id}`)).body.status.status === 'failed',
          {
            timeout: 60_000,
          },
        )
      },
      async rejectedCalls({ owner }) {
        const path = `/organisation/encodingformat-post/${owner.organisationId}`
        const payload = { encodingformat_id: 21 }
        return [
          { method: 'PUT', path, payload, status: 403 },
          { caller: 'guest', method: 'PUT', path, payload, status: 401 },
          { caller: 'system', method: 'PUT', path: '/organisation/encodingformat-post/999999', payload, status: 404 },
          { caller: 'system', method: 'PUT', path, payload: {}, status: 400, fields: ['encodingformat_id'] },
          { caller: 'system', method: 'PUT', path, payload: { encodingformat_id: 26 }, status: 400, fields: ['encodingformat_id'] },
          ...badFormats('PUT', path, 'encodingformat_id'),
        ]
      },
    },
    {
      endpoint: 'DELETE /organisation/encodingformat-delete/{organisationEncodingformat_id}',
      async works(fixture) {
        const { system } = fixture.clients
        const organisation_id = await createOrganisation(fixture)
        const { body } = await system.put<{ av1_250: { organisation_encodingformat_id: number } }>(
          `/organisation/encodingformat-post/${organisation_id}`,
          { encodingformat_id: 21 },
        )
        const { organisation_encodingformat_id: deleted } = body.av1_250
        const path = `/organisation/encodingformat-delete/${deleted}`
        const response = await system.delete(path)
        expect([response.status, response.body]).toEqual([200, { deleted }])
        expect((await system.get(`/organisation/encodingformat/${organisation_id}`)).body).toEqual({ organisation_id, title: 'Formats' })
        expect((await system.delete(path)).status).toBe(404)
      },
      rejectedCalls: async () => [
        { method: 'DELETE', path: '/organisation/encodingformat-delete/1', status: 403 },
        { caller: 'guest', method: 'DELETE', path: '/organisation/encodingformat-delete/1', status: 401 },
        { caller: 'system', method: 'DELETE', path: '/organisation/encodingformat-delete/999999', status: 404 },
        { caller: 'system', method: 'DELETE', path: '/organisation/encodingformat-delete/x', status: 404 },
      ],
    },
  ],
  samples: {
    payloads: {
      'POST /media/encodingformat-post/{}': () => ({ encodingformat: 21 }),
      'PUT /organisation/encodingformat-post/{}': () => ({ encodingformat_id: 21 }),
    },
    async make(fixture) {
      const { body } = await fixture.clients.system.put<{ av1_250: { organisation_encodingformat_id: number } }>(
        `/organisation/encodingformat-post/${await createOrganisation(fixture)}`,
        { encodingformat_id: 21 },
      )
      return { organisation_encodingformat_id: String(body.av1_250.organisation_encodingformat_id) }
    },
  },
}
