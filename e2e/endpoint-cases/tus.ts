import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { makeSource } from '../support/sources.ts'
import type { CallerName, Fixture, NounRows, RejectedCall } from '../support/table-row.ts'
import { waitUntilSettled } from '../support/video-steps.ts'

const tus = { 'tus-resumable': '1.0.0' }
const parts = { ...tus, 'content-type': 'application/offset+octet-stream' }
const base64 = (text: string) => Buffer.from(text).toString('base64')

function send(
  { clients }: Fixture,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: Buffer,
  caller: CallerName = 'owner',
) {
  return clients[caller].send<{ code?: string }>(method, path, {
    headers: { ...tus, ...headers },
    ...(body && { body: new Uint8Array(body) }),
  })
}

async function create(fixture: Fixture, length: number, metadata = `filename ${base64('a.mp4')}`): Promise<string> {
  const response = await send(fixture, 'POST', '/upload/tus', { 'upload-length': String(length), 'upload-metadata': metadata })
  expect([response.status, response.headers.get('tus-resumable')]).toEqual([201, '1.0.0'])
  const location = response.headers.get('location') ?? ''
  expect(location).toContain(`${fixture.platform.url}/v2/upload/tus/`)
  return location.replace(`${fixture.platform.url}/v2`, '')
}

/** Calls of other users, and calls for missing uploads. Calls without required headers need no upload. */
async function expectRejected(fixture: Fixture, method: string, headers: Record<string, string>): Promise<void> {
  const path = await create(fixture, 10)
  const body = method === 'PATCH' ? Buffer.from('abc') : undefined
  expect((await send(fixture, method, path, headers, body, 'otherTenant')).status).toBe(404)
  const wrongVersion = await send(fixture, method, path, { ...headers, 'tus-resumable': '0.2.2' }, body)
  expect([wrongVersion.status, wrongVersion.headers.get('tus-version')]).toEqual([412, '1.0.0'])
}

const missing = '/upload/tus/6fa1a6a4-8f5c-4f4b-9b3b-3f1f1f0d1c2b'
const rejectedUploadCalls = (method: string, path: string, status = 404): RejectedCall[] => [
  { method, path, status },
  { caller: 'guest', method, path, status: 401 },
]

export const tusRows: NounRows = {
  noun: 'tus',
  rows: [
    {
      endpoint: 'POST /upload/tus',
      async works(fixture) {
        const { clients, owner, platform } = fixture
        await makeSource(platform.dataDir, 'small.mp4')
        const file = await readFile(join(platform.dataDir, 'small.mp4'))
        const names = { title: 'Mein Film', filename: 'launch.mp4', visibility: 'unlisted', organisation_id: owner.organisationId }
        const metadata = Object.entries(names).map(([name, value]) => `${name} ${base64(value)}`)
        const headers = { ...parts, 'upload-length': String(file.length), 'upload-metadata': metadata.join(',') }
        const response = await send(fixture, 'POST', '/upload/tus', headers, file, 'system')
        expect([response.status, response.headers.get('upload-offset')]).toEqual([201, String(file.length)])
        const video = await waitUntilSettled(clients.owner, response.headers.get('x-video-id') ?? '')
        expect([video.status.status, video.video_title, video['visibility']]).toEqual(['ok', 'Mein Film', 'unlisted'])
        const job = await clients.owner.get<{ state: string }>(`/job/${response.headers.get('x-job-id')}`)
        expect(job.body.state).toBe('ok')
        const options = await fetch(`${platform.url}/v2/upload/tus`, { method: 'OPTIONS' })
        expect([options.status, options.headers.get('tus-version'), options.headers.get('tus-extension')]).toEqual([
          204,
          '1.0.0',
          'creation,creation-with-upload,creation-defer-length,checksum,expiration,termination',
        ])
      },
      async rejectedCalls(fixture) {
        const { owner, otherTenant } = fixture
        const unknown = { 'upload-length': '1', 'upload-metadata': `visibility ${base64('hidden')}` }
        expect((await send(fixture, 'POST', '/upload/tus', unknown)).status).toBe(400)
        const foreign = { 'upload-length': '1', 'upload-metadata': `organisation_id ${base64(otherTenant.organisationId)}` }
        expect((await send(fixture, 'POST', '/upload/tus', foreign)).status).toBe(403)
        expect((await send(fixture, 'POST', '/upload/tus', { 'upload-length': '1' }, undefined, 'system')).status).toBe(400)
        expect((await send(fixture, 'POST', '/upload/tus', { 'upload-length': String(20 * 1024 ** 3 + 1) })).status).toBe(413)
        expect((await send(fixture, 'POST', '/upload/tus', {})).status).toBe(400)
        expect(owner.organisationId).not.toBe(otherTenant.organisationId)
        return rejectedUploadCalls('POST', '/upload/tus', 412)
      },
    },
    {
      endpoint: 'POST /media/{media_id}/upload',
      async works(fixture) {
        const { clients, platform } = fixture
        const { video_id, media_id } = await fixture.playing()
        await makeSource(platform.dataDir, 'other.mp4')
        const file = await readFile(join(platform.dataDir, 'other.mp4'))
        const path = `/media/${media_id}/upload`
        const created = await send(fixture, 'POST', path, { 'upload-length': String(file.length) }, undefined, 'uploader')
        const location = (created.headers.get('location') ?? '').replace(`${platform.url}/v2`, '')
        expect([created.status, location]).toEqual([201, expect.stringMatching(/^\/upload\/tus\//)])
        const last = await send(fixture, 'PATCH', location, { ...parts, 'upload-offset': '0' }, file)
        expect([last.status, last.headers.get('x-video-id')]).toEqual([204, video_id])
        const job = await waitFor(
          async () => {
            const { body } = await clients.owner.get<{ state: string; media_id: string; action: string }>(
              `/job/${last.headers.get('x-job-id')}`,
            )
            return body.state === 'ok' && body
          },
          { timeout: 60_000, describe: 'the new source' },
        )
        expect(job).toMatchObject({ media_id, action: 'replace' })
      },
      async rejectedCalls(fixture) {
        const { media_id } = await fixture.playing()
        const path = `/media/${media_id}/upload`
        const length = { 'upload-length': '10' }
        const foreign = await send(fixture, 'POST', path, length, undefined, 'otherTenant')
        expect([foreign.status, foreign.body.code]).toEqual([404, 'media_not_found'])
        expect((await send(fixture, 'POST', '/media/1/upload', length)).status).toBe(404)
        expect((await send(fixture, 'POST', path, {})).status).toBe(400)
        return rejectedUploadCalls('POST', path, 412)
      },
    },
    {
      endpoint: 'HEAD /upload/tus/{upload_id}',
      async works(fixture) {
        const path = await create(fixture, 10)
        const { status, headers } = await send(fixture, 'HEAD', path, {}, undefined, 'uploader')
        expect([status, headers.get('upload-offset'), headers.get('upload-length'), headers.get('cache-control')]).toEqual([
          200,
          '0',
          '10',
          'no-store',
        ])
      },
      async rejectedCalls(fixture) {
        await expectRejected(fixture, 'HEAD', {})
        expect((await send(fixture, 'HEAD', missing, {})).status).toBe(404)
        return rejectedUploadCalls('HEAD', missing)
      },
    },
    {
      endpoint: 'PATCH /upload/tus/{upload_id}',
      async works(fixture) {
        const path = await create(fixture, 7)
        const first = await send(fixture, 'PATCH', path, { ...parts, 'upload-offset': '0' }, Buffer.from('abc'))
        expect([first.status, first.headers.get('upload-offset')]).toEqual([204, '3'])
        expect((await send(fixture, 'PATCH', path, { ...parts, 'upload-offset': '0' }, Buffer.from('abc'))).body.code).toBe(
          'offset_mismatch',
        )
        const sum = { 'upload-checksum': 'sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA=' }
        expect((await send(fixture, 'PATCH', path, { ...parts, ...sum, 'upload-offset': '3' }, Buffer.from('de'))).status).toBe(460)
        const last = await send(fixture, 'PATCH', path, { ...parts, 'upload-offset': '3' }, Buffer.from('defg'))
        const id = last.headers.get('x-video-id') ?? ''
        const repeated = await send(fixture, 'HEAD', path, {})
        expect([id !== '', repeated.headers.get('x-video-id')]).toEqual([true, id])
        // Seven letters are not a valid video file.
        expect((await waitUntilSettled(fixture.clients.owner, id)).status).toMatchObject({ status: 'failed', code: 4002 })
        expect((await fixture.clients.owner.get<{ video_title: string }>(`/video/${id}`)).body.video_title).toBe('a.mp4')
        expect((await send(fixture, 'DELETE', path, {})).status).toBe(409)
      },
      async rejectedCalls(fixture) {
        await expectRejected(fixture, 'PATCH', { ...parts, 'upload-offset': '0' })
        expect((await send(fixture, 'PATCH', missing, { ...parts, 'upload-offset': '0' }, Buffer.from('a'))).status).toBe(404)
        return rejectedUploadCalls('PATCH', missing)
      },
    },
    {
      endpoint: 'DELETE /upload/tus/{upload_id}',
      async works(fixture) {
        const path = await create(fixture, 10)
        await send(fixture, 'PATCH', path, { ...parts, 'upload-offset': '0' }, Buffer.from('abc'))
        expect((await send(fixture, 'DELETE', path, {})).status).toBe(204)
        expect((await send(fixture, 'HEAD', path, {})).status).toBe(404)
        expect((await send(fixture, 'DELETE', path, {})).status).toBe(404)
      },
      async rejectedCalls(fixture) {
        await expectRejected(fixture, 'DELETE', {})
        expect((await send(fixture, 'DELETE', missing, {})).status).toBe(404)
        return rejectedUploadCalls('DELETE', missing)
      },
    },
  ],
  samples: {
    payloads: {},
    make: async (fixture) => ({ upload_id: (await create(fixture, 10)).split('/').at(-1) ?? '' }),
  },
}
