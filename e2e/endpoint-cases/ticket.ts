import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import { makeSource } from '../support/sources.ts'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'
import { waitUntilSettled } from '../support/video-steps.ts'

interface Ticket {
  upload_id: string
  url: string
  expires: string
  max_bytes: number
  kinds: string[]
}

const tus = { 'tus-resumable': '1.0.0' }
const parts = { ...tus, 'content-type': 'application/offset+octet-stream' }

async function createTicket({ clients, platform }: Fixture, fields: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await clients.uploader.post<Ticket>('/upload/ticket', fields)
  expect(status).toBe(200)
  return body.url.replace(`${platform.url}/v2`, '')
}

function send({ clients }: Fixture, method: string, path: string, headers: Record<string, string>, body?: Buffer) {
  return clients.guest.send<{ code?: string }>(method, path, { headers, ...(body && { body: new Uint8Array(body) }) })
}

async function readSource({ platform }: Fixture): Promise<Buffer> {
  await makeSource(platform.dataDir, 'small.mp4')
  return readFile(join(platform.dataDir, 'small.mp4'))
}

const missing = '/upload/ticket/6fa1a6a4-8f5c-4f4b-9b3b-3f1f1f0d1c2b'
async function rejectedTicketCalls(fixture: Fixture, method: string): Promise<RejectedCall[]> {
  const path = await createTicket(fixture)
  const changed = [path.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')), path.replace('expires=', 'expires=9'), missing, `${missing}x`]
  return changed.map((one) => ({ caller: 'guest', method, path: one, status: 404 }))
}

export const ticketRows: NounRows = {
  noun: 'upload ticket',
  rows: [
    {
      endpoint: 'POST /upload/ticket',
      async works(fixture) {
        const { clients, owner, platform } = fixture
        const { status, body } = await clients.uploader.post<Ticket>('/upload/ticket', {
          max_bytes: 1_000,
          kinds: ['audio'],
          expires_in: 60,
        })
        expect([status, body]).toEqual([
          200,
          {
            id: body.upload_id,
            upload_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
            url: expect.stringContaining(`${platform.url}/v2/upload/ticket/${body.upload_id}?expires=`),
            expires: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
            max_bytes: 1_000,
            kinds: ['audio'],
          },
        ])
        const system = await clients.system.post<Ticket>('/upload/ticket', { organisation_id: owner.organisationId, expires_in: 86_400 })
        expect(system.body).toMatchObject({ max_bytes: 20 * 1024 ** 3, kinds: ['video', 'audio'] })
      },
      rejectedCalls: async ({ otherTenant }) => {
        const call = (payload: Record<string, unknown>, status: number, expectation: Partial<RejectedCall> = {}): RejectedCall => ({
          ...{ method: 'POST', path: '/upload/ticket', payload, status },
          ...expectation,
        })
        return [
          call({ expires_in: 59 }, 400, { fields: ['expires_in'] }),
          call({ expires_in: 86_401, max_bytes: 0 }, 400, { fields: ['expires_in', 'max_bytes'] }),
          call({ max_bytes: 20 * 1024 ** 3 + 1 }, 400, { fields: ['max_bytes'] }),
          call({ kinds: [] }, 400, { fields: ['kinds'] }),
          call({ kinds: ['video', 'video'] }, 400, { fields: ['kinds'] }),
          call({ kinds: ['image'] }, 400, { fields: ['kinds[0]'] }),
          call({ name: 'x'.repeat(256), visibility: 'hidden' }, 400, { fields: ['name', 'visibility'] }),
          call({ organisation_id: otherTenant.organisationId }, 403),
          call({}, 400, { caller: 'system', fields: ['organisation_id'] }),
          call({ organisation_id: '999999' }, 404, { caller: 'system' }),
          call({}, 401, { caller: 'guest' }),
        ]
      },
    },
    {
      endpoint: 'PUT /upload/ticket/{upload_id}',
      async works(fixture) {
        const file = await readSource(fixture)
        const path = await createTicket(fixture, { name: 'From a phone', visibility: 'unlisted', max_bytes: file.length })
        const sent = await send(fixture, 'PUT', path, { 'content-type': 'video/mp4' }, file)
        expect(sent.status).toBe(201)
        const video = await waitUntilSettled(fixture.clients.owner, sent.headers.get('x-video-id') ?? '')
        expect([video.status.status, video.video_title, video['visibility']]).toEqual(['ok', 'From a phone', 'unlisted'])
        const again = await send(fixture, 'PUT', path, {}, file)
        expect([again.status, again.body.code]).toEqual([410, 'ticket_used'])
      },
      async rejectedCalls(fixture) {
        const path = await createTicket(fixture, { max_bytes: 10, kinds: ['video'] })
        const call = (status: number, expectation: Partial<RejectedCall>): RejectedCall => ({
          ...{ caller: 'guest', method: 'PUT', path, status },
          ...expectation,
        })
        return [
          call(415, { payload: {}, code: 'unsupported_media_type' }),
          call(400, { fields: ['file'] }),
          ...(await rejectedTicketCalls(fixture, 'PUT')),
        ]
      },
    },
    {
      endpoint: 'POST /upload/ticket/{upload_id}',
      async works(fixture) {
        const file = await readSource(fixture)
        const path = await createTicket(fixture)
        const length = { 'upload-length': String(file.length) }
        const created = await send(fixture, 'POST', path, { ...tus, ...length, 'upload-metadata': `filename ${btoa('clip.mp4')}` })
        expect([created.status, created.headers.get('location')]).toEqual([201, `${fixture.platform.url}/v2${path}`])
        // A new creation starts from the beginning.
        await send(fixture, 'PATCH', path, { ...parts, 'upload-offset': '0' }, file.subarray(0, 100))
        const again = await send(fixture, 'POST', path, { ...parts, ...length, 'upload-metadata': `filename ${btoa('clip.mp4')}` }, file)
        expect([again.status, again.headers.get('upload-offset')]).toEqual([201, String(file.length)])
        const video = await waitUntilSettled(fixture.clients.owner, again.headers.get('x-video-id') ?? '')
        expect([video.status.status, video.video_title]).toEqual(['ok', 'clip.mp4'])
      },
      rejectedCalls: async (fixture) => [
        { caller: 'guest', method: 'POST', path: await createTicket(fixture), status: 412 },
        ...(await rejectedTicketCalls(fixture, 'POST')),
      ],
    },
    {
      endpoint: 'HEAD /upload/ticket/{upload_id}',
      async works(fixture) {
        const path = await createTicket(fixture)
        await send(fixture, 'POST', path, { ...parts, 'upload-length': '10' }, Buffer.from('abc'))
        const read = await send(fixture, 'HEAD', path, tus)
        expect([read.status, read.headers.get('upload-offset'), read.headers.get('upload-length')]).toEqual([200, '3', '10'])
      },
      rejectedCalls: (fixture) => rejectedTicketCalls(fixture, 'HEAD'),
    },
    {
      endpoint: 'PATCH /upload/ticket/{upload_id}',
      async works(fixture) {
        const path = await createTicket(fixture)
        await send(fixture, 'POST', path, { ...tus, 'upload-length': '10' })
        const sent = await send(fixture, 'PATCH', path, { ...parts, 'upload-offset': '0' }, Buffer.from('abcd'))
        expect([sent.status, sent.headers.get('upload-offset')]).toEqual([204, '4'])
        const wrong = await send(fixture, 'PATCH', path, { ...parts, 'upload-offset': '3' }, Buffer.from('abcd'))
        expect([wrong.status, wrong.body.code]).toEqual([409, 'offset_mismatch'])
      },
      rejectedCalls: (fixture) => rejectedTicketCalls(fixture, 'PATCH'),
    },
  ],
  samples: {
    payloads: {
      'POST /upload/ticket': (values) => ({ organisation_id: values['organisation_id'] }),
    },
  },
}
