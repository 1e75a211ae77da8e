import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { buildPdf } from '../support/slides.ts'
import { makeSource } from '../support/sources.ts'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'
import { upload, waitUntilSettled } from '../support/video-steps.ts'

interface Config {
  bucket: string
  key_prefix: string
  max_bytes: number
  region: string
  endpoint: string
}
interface Success {
  tempLink: string
  thumbnailUrl: string
  presentation_id?: string
}

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
const newUploadKey = ({ owner }: Fixture) => `uploads/${owner.organisationId}/${randomUUID()}.mp4`
const conditionsFor = (key: string) => [{ bucket: 'vitascope' }, { key }, ['content-length-range', '1', '1000000000']]
const signatureRequest = (key: string, conditions: unknown[] = []) => ({
  expiration: inHours(1),
  conditions: [...conditionsFor(key), ...conditions],
})

/** Signs and posts a file as a browser does. Returns the response to the form. */
async function postFile(fixture: Fixture, key: string, file: Buffer, { status = '' } = {}) {
  const requested = signatureRequest(key, status === '' ? [] : [{ success_action_status: status }])
  const { status: signatureStatus, body } = await fixture.clients.owner.post<{ policy: string; signature: string }>(
    '/upload/signature',
    requested,
  )
  expect(signatureStatus).toBe(200)
  const { conditions } = JSON.parse(Buffer.from(body.policy, 'base64').toString()) as { conditions: Record<string, string>[] }
  const form = new FormData()
  for (const one of conditions) if (!Array.isArray(one)) for (const [name, value] of Object.entries(one)) form.set(name, String(value))
  form.set('policy', body.policy)
  form.set('x-amz-signature', body.signature)
  form.set('file', new Blob([new Uint8Array(file)]), 'a.mp4')
  return fixture.clients.guest.send<string>('POST', '/upload/object', { body: form })
}

async function reportSuccess(fixture: Fixture, key: string, query = '', fields: Record<string, unknown> = {}): Promise<Success> {
  const { status, body } = await fixture.clients.owner.post<Success>(`/upload/success?success${query}`, {
    key,
    name: 'Launch.mp4',
    ...fields,
  })
  expect([status, body]).toEqual([200, expect.anything()])
  return body
}

const path = '/upload/signature'
const badCondition = (fixture: Fixture, condition: unknown, field: string): RejectedCall => ({
  method: 'POST',
  path,
  payload: signatureRequest(newUploadKey(fixture), [condition]),
  status: 400,
  fields: [field],
})

export const uploadRows: NounRows = {
  noun: 'upload',
  rows: [
    {
      endpoint: 'GET /upload/config',
      async works({ clients, owner, platform }) {
        const prefix = `uploads/${owner.organisationId}/`
        const ownConfig = await clients.uploader.get<Config>('/upload/config')
        expect([ownConfig.status, ownConfig.body]).toEqual([
          200,
          {
            bucket: 'vitascope',
            key_prefix: prefix,
            max_bytes: 20 * 1024 ** 3,
            region: 'us-east-1',
            endpoint: `${platform.url}/v2/upload/object`,
          },
        ])
        const system = await clients.system.get<Config>(`/upload/config?organisation_id=${owner.organisationId}`)
        expect(system.body).toEqual(ownConfig.body)
      },
      rejectedCalls: async ({ otherTenant }) => [
        { method: 'GET', path: `/upload/config?organisation_id=${otherTenant.organisationId}`, status: 403 },
        { caller: 'system', method: 'GET', path: '/upload/config', status: 400, fields: ['organisation_id'] },
        { caller: 'system', method: 'GET', path: '/upload/config?organisation_id=999999', status: 404 },
        { caller: 'guest', method: 'GET', path: '/upload/config', status: 401 },
      ],
    },
    {
      endpoint: 'POST /upload/signature',
      async works(fixture) {
        const key = newUploadKey(fixture)
        const sent = signatureRequest(key, [{ acl: 'private' }, { 'Content-Type': 'video/mp4' }, { 'x-amz-meta-qqfilename': 'a.mp4' }])
        const bodies = [
          { body: JSON.stringify(sent), headers: { 'content-type': 'application/json' } },
          { body: new URLSearchParams({ data: JSON.stringify(sent) }) },
        ]
        for (const init of bodies) {
          const { status, body } = await fixture.clients.owner.send<{ policy: string; signature: string }>('POST', path, init)
          expect([status, body.signature]).toEqual([200, expect.stringMatching(/^[0-9a-f]{64}$/)])
          const policy = JSON.parse(Buffer.from(body.policy, 'base64').toString()) as { expiration: string; conditions: unknown[] }
          expect(policy.expiration).toBe(sent.expiration)
          expect(policy.conditions).toEqual(
            expect.arrayContaining([{ key }, { acl: 'private' }, ['content-length-range', 1, 1_000_000_000]]),
          )
        }
        const system = { ...signatureRequest(newUploadKey(fixture)), organisation_id: fixture.owner.organisationId }
        expect((await fixture.clients.system.post(path, system)).status).toBe(200)
        expect((await fixture.clients.owner.post(path, signatureRequest(`${randomUUID()}.pdf`))).status).toBe(200)
      },
      async rejectedCalls(fixture) {
        const { otherTenant } = fixture
        const good = signatureRequest(newUploadKey(fixture))
        const foreignKey = `${randomUUID()}.mp4`
        await fixture.clients.otherTenant.post(path, signatureRequest(foreignKey))
        return [
          badCondition(fixture, { acl: 'public-read' }, 'conditions[3]'),
          badCondition(fixture, { success_action_redirect: 'https://example.org' }, 'conditions[3]'),
          badCondition(fixture, ['starts-with', '$key', ''], 'conditions[3]'),
          badCondition(fixture, { a: 'b', c: 'd' }, 'conditions[3]'),
          { method: 'POST', path, payload: signatureRequest(foreignKey), status: 400, fields: ['conditions[1]'] },
          {
            method: 'POST',
            path,
            payload: signatureRequest(`uploads/${otherTenant.organisationId}/a.mp4`),
            status: 400,
            fields: ['conditions[1]'],
          },
          { method: 'POST', path, payload: { ...good, expiration: inHours(25) }, status: 400, fields: ['expiration'] },
          { method: 'POST', path, payload: { ...good, conditions: [] }, status: 400, fields: ['conditions', 'conditions', 'conditions'] },
          { method: 'POST', path, payload: { ...good, organisation_id: otherTenant.organisationId }, status: 403 },
          { caller: 'system', method: 'POST', path, payload: good, status: 400, fields: ['organisation_id'] },
          { caller: 'guest', method: 'POST', path, payload: good, status: 401 },
        ]
      },
    },
    {
      endpoint: 'POST /upload/object',
      async works(fixture) {
        const file = randomBytes(1_500_000)
        const key = newUploadKey(fixture)
        const etag = `"${createHash('md5').update(file).digest('hex')}"`
        const result = await postFile(fixture, key, file)
        expect([result.status, result.headers.get('etag'), result.headers.get('x-request-id')]).toEqual([204, etag, expect.anything()])
        const { tempLink } = await reportSuccess(fixture, key, '', { etag })
        expect(Buffer.from(await (await fetch(tempLink)).arrayBuffer()).equals(file)).toBe(true)
      },
      rejectedCalls: async () => [
        { caller: 'guest', method: 'POST', path: '/upload/object', payload: { key: 'a' }, status: 415 },
        { caller: 'guest', method: 'PUT', path: '/upload/object', status: 405 },
      ],
    },
    {
      endpoint: 'GET /upload/file/{upload_id}',
      async works(fixture) {
        const key = newUploadKey(fixture)
        await postFile(fixture, key, Buffer.from('a file'))
        const { tempLink } = await reportSuccess(fixture, key)
        const read = await fetch(tempLink)
        expect([read.status, await read.text(), read.headers.get('content-type')]).toEqual([200, 'a file', 'application/octet-stream'])
        expect(read.headers.get('content-disposition')).toMatch(/^attachment;.*Launch\.mp4/)
        expect((await fetch(tempLink, { method: 'HEAD' })).headers.get('content-length')).toBe('6')
      },
      async rejectedCalls(fixture) {
        const key = newUploadKey(fixture)
        await postFile(fixture, key, Buffer.from('a file'))
        const { tempLink } = await reportSuccess(fixture, key)
        const link = tempLink.replace(`${fixture.platform.url}/v2`, '')
        return [
          {
            caller: 'guest',
            method: 'GET',
            path: link.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
            status: 404,
            code: 'upload_not_found',
          },
          { caller: 'guest', method: 'GET', path: link.replace(/expires=\d/, 'expires=9'), status: 404 },
          { caller: 'guest', method: 'GET', path: link.split('?')[0] ?? '', status: 404 },
          { caller: 'guest', method: 'GET', path: '/upload/file/x', status: 404 },
        ]
      },
    },
    {
      endpoint: 'POST /upload/success',
      async works(fixture) {
        const { clients, owner, platform } = fixture
        // The link becomes the source of a video, whose file is never downloaded.
        const folder = platform.dataDir
        await makeSource(folder, 'small.mp4')
        const key = newUploadKey(fixture)
        await postFile(fixture, key, await readFile(join(folder, 'small.mp4')))
        const { tempLink, thumbnailUrl, presentation_id } = await reportSuccess(fixture, key, '', {
          isBrowserPreviewCapable: 'true',
          uuid: 'x',
        })
        expect([tempLink.startsWith(platform.url), thumbnailUrl, presentation_id]).toEqual([true, '', undefined])
        const accepted = await upload(clients.owner, owner.organisationId, tempLink)
        expect(accepted).toMatchObject({ action: 'new video', status: { status: 'waiting for encoding', progress: 0, code: 1 } })
        const otherVideo = await fixture.video()
        const replaced = await clients.owner.put<{ status: { success: boolean } }>(`/media/${otherVideo.media_id}`, { uri: tempLink })
        expect([replaced.status, replaced.body.status.success]).toEqual([200, true])
        const video = await waitUntilSettled(clients.owner, accepted.id)
        expect([video.status.status, video.video_title]).toEqual(['ok', 'Launch.mp4'])
        expect((await waitUntilSettled(clients.owner, otherVideo.video_id)).status.status).toBe('ok')
        // A link can only be used for videos of its own organisation.
        const foreign = await clients.otherTenant.post<{ errors: { field: string }[] }>('/video/upload', {
          url: tempLink,
          organisation_id: fixture.otherTenant.organisationId,
        })
        expect([foreign.status, foreign.body.errors.map(({ field }) => field)]).toEqual([400, ['url']])
        // Creates a presentation from one file, and adds slides of another one.
        const pdfKey = newUploadKey(fixture)
        await postFile(fixture, pdfKey, buildPdf(2))
        const first = await reportSuccess(fixture, pdfKey, '&application=presentation', { name: 'deck.pdf' })
        const repeated = await reportSuccess(fixture, pdfKey, '&application=presentation', { name: 'deck.pdf' })
        expect(repeated.presentation_id).toBe(first.presentation_id)
        const waitForSlides = async (count: number) => {
          const check = async () => {
            const { body } = await clients.owner.get<{ number_of_slides: number; filename: string }>(
              `/presentation/${first.presentation_id}`,
            )
            return body.number_of_slides === count && body.filename === 'deck.pdf'
          }
          await waitFor(check, { timeout: 60_000, describe: `${count} slides` })
        }
        await waitForSlides(2)
        const secondKey = newUploadKey(fixture)
        await postFile(fixture, secondKey, buildPdf(1))
        const appended = await reportSuccess(fixture, secondKey, '&append', { name: 'more.pdf', presentation_id: first.presentation_id })
        expect(appended.presentation_id).toBe(first.presentation_id)
        await waitForSlides(3)
      },
      async rejectedCalls(fixture) {
        const { otherTenant } = fixture
        const key = newUploadKey(fixture)
        await postFile(fixture, key, Buffer.from('a file'))
        const successPath = '/upload/success?success'
        const call = (payload: Record<string, unknown>, status: number, expectation: Partial<RejectedCall> = {}): RejectedCall => ({
          ...{ method: 'POST', path: successPath, payload: { key, ...payload }, status },
          ...expectation,
        })
        return [
          call({}, 400, { path: '/upload/success', fields: ['success'] }),
          call({}, 404, { caller: 'otherTenant', code: 'upload_not_found' }),
          call({ key: newUploadKey(fixture) }, 404, { code: 'upload_not_found' }),
          call({ key: `uploads/${otherTenant.organisationId}/../x` }, 404),
          call({ bucket: 'other' }, 404),
          call({ etag: 'a'.repeat(32) }, 409, { code: 'etag_mismatch' }),
          call({ name: 'x'.repeat(256), key: '' }, 400, { fields: ['key', 'name'] }),
          call({}, 400, { path: `${successPath}&append`, fields: ['presentation_id'] }),
          call({ presentation_id: '4611686018427387905' }, 404, { path: `${successPath}&append`, code: 'presentation_not_found' }),
          call({ presentation_id: '7' }, 400, { fields: ['presentation_id'] }),
          call({}, 400, { path: `${successPath}&application=video`, fields: ['application'] }),
          call({}, 401, { caller: 'guest' }),
        ]
      },
    },
    {
      endpoint: 'GET /upload/iframe',
      async works({ clients }) {
        const { status, headers, body } = await clients.guest.get<string>('/upload/iframe')
        expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
        expect(body).toContain('<body></body>')
      },
      rejectedCalls: async () => [{ caller: 'guest', method: 'POST', path: '/upload/iframe', status: 405 }],
    },
  ],
  samples: {
    payloads: {
      'POST /upload/signature': (values) => ({
        ...signatureRequest(`uploads/${values['organisation_id']}/a.mp4`),
        organisation_id: values['organisation_id'],
      }),
      'POST /upload/success': (values) => ({ key: `uploads/${values['organisation_id']}/none.mp4` }),
    },
  },
}
