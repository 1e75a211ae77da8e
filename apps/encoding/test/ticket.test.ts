import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { principalHeaders } from '@vitascope/grpc'
import { fixedMasterKeys } from '@vitascope/security'
import { waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { createTickets, type Tickets } from '../src/tus/ticket-service.ts'
import { createTusStore } from '../src/tus/tus-store.ts'
import type { TicketKind } from '../src/upload/upload-ticket.ts'
import { startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

const owner = { kind: 'user', keyId: '5', userId: '7', organisationId: '2', userType: 'uploader' } as const
const tus = { 'tus-resumable': '1.0.0' }
const partHeaders = { ...tus, 'content-type': 'application/offset+octet-stream' }

let environment: TestEnvironment
let service: Awaited<ReturnType<typeof startInProcess>>
let tickets: Tickets

beforeAll(async () => {
  environment = await startTestEnvironment()
  const config = environment.config()
  service = await startInProcess(environment)
  tickets = createTickets({
    uploads: createTusStore(environment.db),
    secrets: fixedMasterKeys(readFileSync(config.uploadSigningKeyFile, 'utf8')),
    maxBytes: config.source.maxBytes,
  })
})
afterEach(async () => {
  environment.catalogue.quotaBytes = Number.POSITIVE_INFINITY
  environment.catalogue.uploadError = undefined
  environment.catalogue.reservations.clear()
  await environment.storage.deletePrefix('tus')
  await environment.db.query('truncate tus_upload, tus_part cascade')
})
afterAll(async () => {
  await service.stop()
  await environment.close()
})

const { signal } = new AbortController()
async function create({ maxBytes = 1_000_000, kinds = ['video'] as TicketKind[], lifetimeSeconds = 60 } = {}): Promise<string> {
  const limits = { maxBytes, kinds, lifetimeSeconds }
  const link = await tickets.create({ organisationId: '2', owner, title: 'Launch', visibility: 'public', ...limits }, signal)
  return `/ticket/${link.uploadId}?expires=${link.expires}&signature=${link.signature}`
}

const guest = () => principalHeaders({ principal: { kind: 'guest' }, requestId: 'r-1' }, testPrincipals(), 'encoding')

async function send(method: string, path: string, headers: Record<string, string> = {}, body?: Buffer | Readable) {
  const response = await fetch(`http://${service.uploadAddress}${path}`, {
    method,
    headers: { ...(await guest()), ...headers },
    ...(body instanceof Readable
      ? { body: Readable.toWeb(body) as ReadableStream, duplex: 'half' }
      : { body: body ? new Uint8Array(body) : null }),
  })
  const text = await response.text()
  const errorHeader = response.headers.get('vitascope-error')
  return {
    status: response.status,
    headers: response.headers,
    reason: errorHeader === null ? text : (JSON.parse(Buffer.from(errorHeader, 'base64').toString()) as { reason: string }).reason,
  }
}

test('a ticket accepts one file, whose bytes were reserved', async () => {
  const path = await create()
  const file = randomBytes(500_000)
  const sent = await send('PUT', path, { 'content-type': 'video/mp4' }, file)
  expect([sent.status, sent.headers.get('x-video-id'), sent.headers.get('upload-offset')]).toEqual([201, '11', '500000'])
  expect([...environment.catalogue.reservations.values()]).toMatchObject([{ bytes: file.length }])
  for (const method of ['PUT', 'POST']) {
    expect(await send(method, path, { ...tus, 'upload-length': '3' }, Buffer.from('abc'))).toMatchObject({ reason: 'TICKET_USED' })
  }
  expect((await send('HEAD', path, tus)).headers.get('x-video-id')).toBe('11')
})

test('a file of unknown length is accepted up to the maximum of the ticket', async () => {
  const path = await create({ maxBytes: 1_000 })
  expect(await send('PUT', path, {}, Readable.from([randomBytes(600), randomBytes(500)]))).toMatchObject({ status: 400 })
  expect(await send('PUT', path, {}, Readable.from([randomBytes(600), randomBytes(400)]))).toMatchObject({ status: 201 })
})

test('an expired ticket, another type, a larger file and a file above the quota are rejected', async () => {
  expect(await send('PUT', await create({ lifetimeSeconds: -1 }), {}, Buffer.from('x'))).toMatchObject({ reason: 'TICKET_EXPIRED' })
  const path = await create({ maxBytes: 10 })
  expect(await send('PUT', path, { 'content-type': 'audio/mpeg' }, Buffer.from('x'))).toMatchObject({ reason: 'UNSUPPORTED_MEDIA_TYPE' })
  expect(await send('PUT', path, {}, Buffer.from('12345678901'))).toMatchObject({ reason: 'UPLOAD_TOO_LARGE' })
  expect(await send('POST', path, { ...tus, 'upload-length': '11' })).toMatchObject({ reason: 'UPLOAD_TOO_LARGE' })
  const filetype = `filetype ${btoa('image/png')}`
  expect(await send('POST', path, { ...tus, 'upload-length': '3', 'upload-metadata': filetype })).toMatchObject({
    reason: 'UNSUPPORTED_MEDIA_TYPE',
  })
  environment.catalogue.quotaBytes = 2
  expect(await send('PUT', path, {}, Buffer.from('abc'))).toMatchObject({ reason: 'QUOTA_BYTES' })
  expect(await environment.objects('tus')).toEqual([])
  environment.catalogue.quotaBytes = 3
  expect((await send('PUT', path, {}, Buffer.from('abc'))).status).toBe(201)
})

test('a file that is interrupted can be sent again or continued by tus', async () => {
  const file = randomBytes(100_000)
  const hasRow = async (condition: string) => (await environment.db.query(`select 1 from tus_upload where ${condition}`)).length > 0
  const interruptOnce = async (path: string) => {
    const headers = { ...(await guest()), 'content-length': file.length }
    const sending = httpRequest(`http://${service.uploadAddress}${path}`, { method: 'PUT', headers, agent: false }).on('error', () => {})
    sending.write(file.subarray(0, 40_000))
    await waitFor(() => hasRow('lease_end is not null'), { describe: 'the upload to begin' })
    sending.destroy()
    await waitFor(async () => !(await hasRow('lease_end is not null')), { describe: 'the upload to end' })
  }
  const interrupt = async (path: string) => {
    const isStored = async () => {
      await interruptOnce(path)
      return await hasRow('received > 0')
    }
    // The connection may end before its first bytes were read.
    await waitFor(isStored, { describe: 'bytes of an interrupted upload' })
  }
  const repeated = await create()
  await interrupt(repeated)
  expect((await send('PUT', repeated, {}, file)).status).toBe(201)
  expect(await environment.objects('tus')).toHaveLength(1)
  await environment.db.query('truncate tus_upload cascade')
  const continued = await create()
  await interrupt(continued)
  const offset = Number((await send('HEAD', continued, tus)).headers.get('upload-offset'))
  expect(offset).toBeGreaterThan(0)
  const rest = await send('PATCH', continued, { ...partHeaders, 'upload-offset': String(offset) }, file.subarray(offset))
  expect([rest.status, rest.headers.get('x-video-id')]).toEqual([204, '11'])
})

test('a complete file that the catalogue rejects uses up the ticket', async () => {
  environment.catalogue.uploadError = new DomainError('exhausted', 'QUOTA_MINUTES', 'no minutes are left')
  const path = await create()
  expect(await send('PUT', path, {}, Buffer.from('abc'))).toMatchObject({ reason: 'QUOTA_MINUTES' })
  expect(await send('PUT', path, {}, Buffer.from('abc'))).toMatchObject({ reason: 'TICKET_USED' })
})
