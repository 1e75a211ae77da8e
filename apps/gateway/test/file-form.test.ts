// Faults: B16
import { createHash, randomBytes } from 'node:crypto'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { z } from 'zod'
import { formBody, route } from '../src/server/route/route.ts'
import { nextApiKey, type StandIns, startOrigin, startStandIns } from './stand-ins.ts'
import { startTestGateway, withKey } from './started-gateway.ts'

/** A file that the replacement of encoding received. */
interface Received {
  url: string
  bytes: number
  sha256: string
  isComplete: boolean
  isEnded: boolean
}

const fields = z.strictObject({ name: z.string().max(20).default(''), tags: z.array(z.string()).default([]) })
const response = z.object({ name: z.string(), tags: z.array(z.string()), file: z.string(), upload_id: z.string() })
const sendSample = route({
  post: ['/sample/file'],
  operationId: 'uploadSample',
  section: 'Samples',
  access: 'user',
  summary: 'Send a file',
  payload: fields.extend({ url: z.string() }),
  response,
  handle: async ({ payload }) => ({ name: payload.name, tags: payload.tags, file: payload.url, upload_id: '' }),
  fileForm: formBody({
    payload: fields,
    findOrganisation: async () => '2',
    handle: async ({ payload, file }) => ({
      isFileUsed: true,
      result: { name: payload.name, tags: payload.tags, file: file.name, upload_id: file.uploadId },
    }),
  }),
})

let standIns: StandIns
let origin: Awaited<ReturnType<typeof startOrigin>>
let gateway: Awaited<ReturnType<typeof startTestGateway>>
let received: Received[]
let rejection: object | 'close' | undefined
const key = nextApiKey()

beforeAll(async () => {
  standIns = await startStandIns()
  standIns.keys.set(key, { keyId: '1', userType: 'uploader', organisationId: '2', resources: ['sample::post'] })
  origin = await startOrigin(receive)
  gateway = await startTestGateway([sendSample], { authAddress: standIns.address, uploadUrl: origin.url })
  const isReady = async () => (await send(multipart([{ name: 'url', content: 'https://example.org' }]))).status === 200
  await waitFor(isReady, { describe: 'the gateway to know the key' })
})
beforeEach(() => {
  received = []
  rejection = undefined
})
afterAll(async () => {
  await gateway.stop(0)
  await origin.stop()
  await standIns.stop()
})

function receive(request: IncomingMessage, response: ServerResponse): void {
  const hash = createHash('sha256')
  const file: Received = { url: request.url ?? '', bytes: 0, sha256: '', isComplete: false, isEnded: false }
  received.push(file)
  if (rejection === 'close') {
    request.socket.destroy()
    return
  }
  if (rejection) {
    response.writeHead(400, { 'vitascope-error': Buffer.from(JSON.stringify(rejection)).toString('base64') }).end()
    return
  }
  request.on('error', () => {})
  request.on('data', (chunk: Buffer) => {
    file.bytes += chunk.length
    hash.update(chunk)
  })
  request.once('close', () => {
    file.isEnded = true
    file.isComplete = request.complete
  })
  request.once('end', () => {
    file.sha256 = hash.digest('hex')
    response.writeHead(204, { 'vitascope-upload-id': 'u-1', 'vitascope-upload-sha256': file.sha256 }).end()
  })
}

type Part = { name: string; filename?: string; content: string | Buffer }

function multipart(parts: readonly Part[], { end = '--b--\r\n' } = {}): Buffer {
  const encoded = parts.flatMap(({ name, filename, content }) => [
    Buffer.from(`--b\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...encoded, Buffer.from(end)])
}

interface Answer {
  status: number
  body: { code?: string; errors?: { field: string; message: string }[] } & Record<string, unknown>
}

async function send(body: Buffer, headers: Record<string, string> = {}): Promise<Answer> {
  const result = await fetch(`${gateway.url}/v2/sample/file`, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { 'content-type': 'multipart/form-data; boundary=b', ...withKey(key), ...headers },
  })
  return { status: result.status, body: (await result.json()) as Answer['body'] }
}

const file = (content: string | Buffer = 'a file', name = 'file'): Part => ({ name, filename: 'clip.mp4', content })
/** No file was stored: each request to encoding was aborted. */
const expectNothingStored = async () => {
  await waitFor(() => received.every(({ isEnded }) => isEnded), { describe: 'the requests to encoding to end' })
  expect(received.filter(({ isComplete }) => isComplete)).toEqual([])
}

test('a file is streamed unchanged, and the handler receives the fields and its name', async () => {
  const content = randomBytes(3_000_000)
  const body = multipart([
    { name: 'name', content: 'Läunch' },
    { name: 'tags', content: 'a' },
    { name: 'tags', content: 'b' },
    { ...file(content), filename: 'C:\\films\\clip.mp4' },
  ])
  const { status, body: result } = await send(body)
  expect([status, result]).toEqual([200, { name: 'Läunch', tags: ['a', 'b'], file: 'clip.mp4', upload_id: 'u-1' }])
  const sha256 = createHash('sha256').update(content).digest('hex')
  expect(received).toMatchObject([{ url: `/file?organisation_id=2&bytes=${body.length}`, bytes: content.length, sha256 }])
})

test('a form without fields and a form with JSON in data are accepted', async () => {
  expect(await send(multipart([file()]))).toMatchObject({ status: 200, body: { name: '' } })
  const data = { name: 'data', content: '{"name":"x"}' }
  expect(await send(multipart([data, file()]))).toMatchObject({ status: 200, body: { name: 'x' } })
})

test('a form without a file is a payload', async () => {
  const url = { name: 'url', content: 'https://example.org/a' }
  expect(await send(multipart([url]))).toMatchObject({ status: 200, body: { file: 'https://example.org/a' } })
  expect(await send(multipart([{ name: 'name', content: 'x' }]))).toMatchObject({ status: 400, body: { errors: [{ field: 'url' }] } })
})

test('the file is forwarded while it arrives', async () => {
  const body = multipart([file(randomBytes(1_000_000))])
  const sending = start(body.length)
  sending.write(body.subarray(0, 500_000))
  await waitFor(() => (received[0]?.bytes ?? 0) > 400_000, { describe: 'the first half to arrive' })
  sending.end(body.subarray(500_000))
  await waitFor(() => received[0]?.isComplete === true)
})

describe('a malformed form stores nothing and names the field', () => {
  const text = (name: string, content = 'x'): Part => ({ name, content })
  test.each<[string, Buffer, string]>([
    ['two files', multipart([file(), file()]), 'file'],
    ['another file after it', multipart([file(), file('x', 'other')]), 'other'],
    ['a field after the file', multipart([file(), text('name')]), 'name'],
    ['a file in another part', multipart([file('x', 'video')]), 'video'],
    ['text in the part of the file', multipart([text('file')]), 'file'],
    ['an unknown field', multipart([text('colour'), file()]), 'colour'],
    ['a field that is repeated', multipart([text('name'), text('name'), file()]), 'name'],
    ['a field that is too long', multipart([text('name', 'x'.repeat(21)), file()]), 'name'],
    ['a field with NUL', multipart([text('name', 'a\0b'), file()]), 'name'],
    ['a field that is not UTF-8', multipart([{ name: 'name', content: Buffer.from([0xff]) }, file()]) as Buffer, 'name'],
    ['a URL and a file', multipart([text('url'), file()]), 'url'],
  ])('%s', async (_, body, field) => {
    const answer = await send(body)
    expect([answer.status, answer.body.errors?.map((error) => error.field)]).toEqual([400, [field]])
    await expectNothingStored()
  })

  test.each<[string, Buffer, Record<string, string>, number, string]>([
    ['without its end', multipart([file()], { end: '' }), {}, 400, 'malformed_payload'],
    ['with an end in the middle of a file', multipart([file('x'.repeat(100_000))]).subarray(0, 50_000), {}, 400, 'malformed_payload'],
    ['without a boundary', multipart([file()]), { 'content-type': 'multipart/form-data' }, 400, 'malformed_payload'],
    ['with another boundary', multipart([file()]), { 'content-type': 'multipart/form-data; boundary=c' }, 400, 'malformed_payload'],
    ['with too many bytes before the file', multipart([text('name', 'x'.repeat(300_000)), file()]), {}, 413, 'payload_too_large'],
    ['with a malformed idempotency key', multipart([file()]), { 'idempotency-key': 'x'.repeat(256) }, 400, 'invalid_input'],
  ])('%s', async (_, body, headers, status, code) => {
    const answer = await send(body, headers)
    expect([answer.status, answer.body.code]).toEqual([status, code])
    await expectNothingStored()
  })
})

test('a connection that ends in the middle of the file ends the request to encoding', async () => {
  const sending = start(1_000_000)
  sending.write(multipart([file('x'.repeat(100_000))], { end: '' }))
  await waitFor(() => (received[0]?.bytes ?? 0) > 50_000, { describe: 'the beginning to arrive' })
  sending.destroy()
  await expectNothingStored()
  expect(received).toHaveLength(1)
})

test('an error of encoding is returned while the file still arrives', async () => {
  rejection = { kind: 'exhausted', reason: 'QUOTA_BYTES', message: 'no bytes are left', fields: [] }
  const answer = await send(multipart([file(randomBytes(5_000_000))]))
  expect([answer.status, answer.body.code]).toEqual([413, 'quota_bytes'])
})

test('503 is returned if encoding closes the connection', async () => {
  rejection = 'close'
  const answer = await send(multipart([file(randomBytes(1_000_000))]))
  expect([answer.status, answer.body.code]).toEqual([503, 'service_unavailable'])
})

/** Starts a request and leaves it open. */
function start(length: number) {
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': length, ...withKey(key) }
  return httpRequest(`${gateway.url}/v2/sample/file`, { method: 'POST', headers, agent: false }).on('error', () => {})
}
