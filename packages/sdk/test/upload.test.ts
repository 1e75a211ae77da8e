import { createReadStream } from 'node:fs'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { extendTimeout } from '@vitascope/testing'
import { isUploadOver, type UploadInput, type UploadProgress, uploadToTicket, Vitascope, VitascopeError } from '../src/node.ts'

const SIZE = 5_000_003
const BYTES = Uint8Array.from({ length: SIZE }, (_, index) => (index * 31 + (index >> 8)) % 251)

/** One upload of a tus server, with its faults. */
interface TusServer {
  url: string
  stored: Buffer
  metadata: Record<string, string>
  created: number
  methods: string[]
  /** Runs before each request. Returns true if it has ended the request. */
  fault: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Bytes of the next PATCH after which the connection breaks. They are stored. */
  breakAfter: number | undefined
  /** Number of responses without the id of the video. */
  lateVideo: number
  close(): Promise<void>
}

async function startTusServer(): Promise<TusServer> {
  let length: number | undefined
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  const state: TusServer = {
    ...{ url: '', stored: Buffer.alloc(0), metadata: {}, created: 0, methods: [], breakAfter: undefined, lateVideo: 0 },
    fault: () => false,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    state.methods.push(request.method ?? '')
    if (state.fault(request, response)) return
    const number = (name: string) => (request.headers[name] === undefined ? undefined : Number(request.headers[name]))
    if (request.method === 'POST') {
      state.created++
      length = number('upload-length')
      const pairs = (request.headers['upload-metadata'] ?? '').toString().split(',')
      state.metadata = Object.fromEntries(
        pairs.map((pair) => [pair.split(' ')[0], Buffer.from(pair.split(' ')[1] ?? '', 'base64').toString()]),
      )
      response.writeHead(201, { 'x-request-id': 'r', location: `/v2/upload/tus/u-1`, 'upload-offset': '0' }).end()
      return
    }
    if (request.method === 'PATCH') {
      if (number('upload-offset') !== state.stored.length) {
        const body = JSON.stringify({ code: 'offset_mismatch', request_id: 'r', detail: 'wrong offset', title: 'x', status: 409 })
        response.writeHead(409, { 'content-type': 'application/problem+json' }).end(body)
        return
      }
      length ??= number('upload-length')
      let received = 0
      for await (const chunk of request as AsyncIterable<Buffer>) {
        const kept = state.breakAfter === undefined ? chunk : chunk.subarray(0, Math.max(0, state.breakAfter - received))
        state.stored = Buffer.concat([state.stored, kept])
        received += chunk.length
        if (state.breakAfter !== undefined && received >= state.breakAfter) {
          state.breakAfter = undefined
          request.destroy()
          return
        }
      }
    }
    const isComplete = state.stored.length === length && state.lateVideo-- <= 0
    response.writeHead(request.method === 'HEAD' ? 200 : 204, {
      ...{ 'x-request-id': 'r', 'upload-offset': String(state.stored.length) },
      ...(isComplete && { 'x-video-id': '42', 'x-job-id': '44' }),
    })
    response.end()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return state
}

let folder: string
let file: string
let server: TusServer
let vitascope: Vitascope
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sdk-upload-'))
  file = join(folder, 'launch ü.mp4')
})
afterAll(() => rm(folder, { recursive: true }))
beforeEach(async () => {
  await writeFile(file, BYTES)
  server = await startTusServer()
  vitascope = new Vitascope({ url: server.url, key: 'a-key', organisationId: '7' })
})
afterEach(() => server.close())

const isStored = () => Buffer.compare(server.stored, BYTES) === 0
const slices = function* () {
  for (let at = 0; at < SIZE; at += 70_001) yield BYTES.subarray(at, at + 70_001)
}

describe('sources', () => {
  test.each<[string, () => UploadInput]>([
    ['a path', () => file],
    ['a file URL', () => pathToFileURL(file)],
    ['a Blob', () => new Blob([BYTES])],
    ['a Buffer', () => Buffer.from(BYTES)],
    ['bytes', () => BYTES],
    ['an ArrayBuffer', () => BYTES.buffer],
    ['a web stream', () => new Blob([BYTES]).stream()],
    ['a stream of Node.js', () => createReadStream(file)],
    ['an async iterable', () => Readable.from(slices(), { objectMode: true })],
  ])('%s is stored completely, with progress', async (_, open) => {
    const progress: UploadProgress[] = []
    const video = await vitascope.videos.upload(open(), {
      title: 'Launch',
      visibility: 'private',
      onProgress: (state) => progress.push(state),
    })
    expect(video).toEqual({ id: '42', job_id: '44' })
    expect(isStored()).toBe(true)
    expect(progress[0]?.sentBytes).toBe(0)
    expect(progress.at(-1)).toEqual({ sentBytes: SIZE, totalBytes: SIZE })
    expect(progress.length).toBeGreaterThan(2)
    expect(server.metadata).toMatchObject({ organisation_id: '7', title: 'Launch', visibility: 'private' })
  })

  test('the file name is that of the path, or that of the caller', async () => {
    await vitascope.videos.upload(file)
    expect(server.metadata['filename']).toBe('launch ü.mp4')
    await server.close()
    server = await startTusServer()
    await new Vitascope({ url: server.url }).videos.upload(new File(['abc'], 'a.mp4'), { filename: 'b.mp4' })
    expect(server.metadata).toEqual({ filename: 'b.mp4' })
  })

  test('a path that does not exist, or another value, is rejected before a request', async () => {
    await expect(vitascope.videos.upload(join(folder, 'none.mp4'))).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('ENOENT'),
    })
    await expect(vitascope.videos.upload(5 as unknown as Blob)).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(server.methods).toEqual([])
  })

  test.each([
    ['an empty file', () => new Blob([])],
    ['an empty stream', () => new Blob([]).stream()],
  ])('%s is rejected', async (_, open) => {
    await expect(vitascope.videos.upload(open())).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  test('a file that becomes shorter ends the upload', async () => {
    const call = vitascope.videos.upload(file, { onStart: () => void truncate(file, 1_000) })
    await expect(call).rejects.toMatchObject({ code: 'source_changed' })
  })
})

test('a stream that fails ends the upload, with its error', async () => {
  const failing = async function* () {
    yield BYTES.subarray(0, 1_000)
    throw new Error('the camera is off')
  }
  await expect(vitascope.videos.upload(failing())).rejects.toMatchObject({
    code: 'source_failed',
    message: expect.stringContaining('the camera is off'),
  })
})

describe('interruptions', () => {
  test.each<[string, () => UploadInput]>([
    ['file', () => file],
    ['stream', () => createReadStream(file)],
  ])('the upload of a %s continues where the connection broke', async (_, open) => {
    server.breakAfter = 300_000
    expect(await vitascope.videos.upload(open())).toEqual({ id: '42', job_id: '44' })
    expect(isStored()).toBe(true)
    expect(server.created).toBe(1)
    expect(server.methods.slice(0, 4)).toEqual(['POST', 'PATCH', 'HEAD', 'PATCH'])
  })

  test('it survives failed requests for the offset, locks, and proxies', async () => {
    let count = 0
    server.fault = (request, response) => {
      count++
      if (request.method === 'PATCH' && count === 2) response.writeHead(423).end()
      else if (request.method === 'HEAD' && count === 3) response.destroy()
      else if (request.method === 'HEAD' && count === 4) response.writeHead(503, { 'retry-after': '0' }).end()
      else if (request.method === 'PATCH' && count === 6) response.writeHead(502).end('<html>')
      else return false
      return true
    }
    await vitascope.videos.upload(file)
    expect(isStored()).toBe(true)
    expect(server.created).toBe(1)
  })

  test.each<[string, () => UploadInput]>([
    ['file', () => file],
    ['stream', () => createReadStream(file)],
  ])('lost responses to parts of a %s do not upload them twice', async (_, open) => {
    server.fault = (request, response) => {
      if (request.method === 'PATCH' && server.stored.length > 0) request.once('end', () => response.destroy())
      return false
    }
    await vitascope.videos.upload(open())
    expect(isStored()).toBe(true)
  })

  test('it fails after the longest outage that the caller accepts', async () => {
    server.fault = (request, response) => request.method !== 'POST' && Boolean(response.destroy())
    const start = performance.now()
    await expect(vitascope.videos.upload(file, { maxOutageMs: 1_000 })).rejects.toMatchObject({ code: 'network_error' })
    expect(performance.now() - start).toBeLessThan(extendTimeout(10_000))
  })

  test('a rejection ends the upload at once, with its reason', async () => {
    server.fault = (request, response) => {
      if (request.method === 'POST') return false
      const body = JSON.stringify({ code: 'quota_bytes', request_id: 'r', detail: 'the quota is used up', title: 'x', status: 413 })
      response
        .writeHead(413, { 'content-type': 'application/problem+json', 'x-request-id': 'r' })
        .end(request.method === 'HEAD' ? undefined : body)
      return true
    }
    const rejection = { code: 'quota_bytes', status: 413, detail: 'the quota is used up' }
    await expect(vitascope.videos.upload(file)).rejects.toMatchObject(rejection)
    const error = await vitascope.videos.upload(file, { uploadId: 'u-1' }).catch((reason: unknown) => reason)
    expect(error).toMatchObject(rejection)
    expect([isUploadOver(error), isUploadOver(new VitascopeError('x', { code: 'network_error' }))]).toEqual([true, false])
    expect(server.created).toBe(1)
  })

  test('an abort ends it, and another call continues with its id', async () => {
    const controller = new AbortController()
    let uploadId = ''
    const call = vitascope.videos.upload(file, {
      signal: controller.signal,
      onStart: (id) => {
        uploadId = id
      },
      onProgress: ({ sentBytes }) => sentBytes > 0 && controller.abort(new Error('stopped')),
    })
    await expect(call).rejects.toThrow('stopped')
    const stored = server.stored.length
    expect(stored).toBeGreaterThan(0)
    let offsetRequests = 0
    server.fault = (request, response) => {
      if (request.method !== 'HEAD' || offsetRequests++ > 0) return false
      response.writeHead(503, { 'retry-after': '0' }).end()
      return true
    }
    const progress: number[] = []
    await vitascope.videos.upload(file, { uploadId, onProgress: ({ sentBytes }) => progress.push(sentBytes) })
    expect([progress[0], offsetRequests]).toEqual([stored, 2])
    expect(isStored()).toBe(true)
    expect(server.created).toBe(1)
  })

  test.each<[string, () => UploadInput]>([
    ['file', () => file],
    ['stream', () => createReadStream(file)],
  ])('a %s whose upload the platform has removed is sent from its start, as a new upload', async (_, open) => {
    server.fault = (request, response) => {
      if (request.url !== '/v2/upload/tus/removed') return false
      const body = JSON.stringify({ code: 'upload_not_found', request_id: 'r', detail: 'no upload', title: 'x', status: 404 })
      response
        .writeHead(404, { 'content-type': 'application/problem+json', 'x-request-id': 'r' })
        .end(request.method === 'HEAD' ? undefined : body)
      return true
    }
    const started: string[] = []
    const video = await vitascope.videos.upload(open(), { uploadId: 'removed', onStart: (id) => started.push(id) })
    expect(video).toEqual({ id: '42', job_id: '44' })
    expect(isStored()).toBe(true)
    expect(started).toEqual(['u-1'])
    expect(server.methods.slice(0, 4)).toEqual(['HEAD', 'PATCH', 'POST', 'PATCH'])
  })

  test('it waits for a video that is created later', async () => {
    server.lateVideo = 2
    expect(await vitascope.videos.upload(file)).toEqual({ id: '42', job_id: '44' })
  })
})

test('a file is sent to a ticket without a key, and continues', async () => {
  server.breakAfter = 300_000
  const authorizations = new Set<string | undefined>()
  server.fault = ({ headers, url }) => {
    authorizations.add(headers.authorization)
    expect(url).toBe('/v2/upload/ticket/t-1?signature=s')
    return false
  }
  const video = await uploadToTicket(`${server.url}/v2/upload/ticket/t-1?signature=s`, new File([BYTES], 'a.mp4', { type: 'video/mp4' }))
  expect(video.id).toBe('42')
  expect(isStored()).toBe(true)
  expect(server.metadata).toEqual({ filename: 'a.mp4', filetype: 'video/mp4' })
  expect([...authorizations]).toEqual([undefined])
})
