// Faults: S4
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { type LocalOrigin, startOrigin } from '../test/local-origin.ts'
import { type DownloadOptions, download } from './download.ts'
import { sourcePolicy } from './policy.ts'
import { isSourceError } from './source-error.ts'

// The source is so large that a cut, which loses at most about 200 kB of buffered bytes, leaves a
// part to resume from.
const bytes = randomBytes(5_000_000)
const sha256 = createHash('sha256').update(bytes).digest('hex')
const policy = sourcePolicy({ allow: ['127.0.0.1'] })
const limits = { maxBytes: 8 << 20, timeoutMs: 10_000, backoffMs: 1 }

let folder: string
let target: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-fetch-'))
  target = join(folder, 'source')
})
afterAll(() => rm(folder, { recursive: true }))

const origins: LocalOrigin[] = []
afterEach(async () => {
  await Promise.all(origins.splice(0).map((origin) => origin.close()))
  await rm(target, { force: true })
})

type Responder = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Starts a source whose first request is handled by the first responder, and so on. The last
 * responder handles all further requests.
 */
async function startSource(...responders: Responder[]): Promise<LocalOrigin> {
  let requests = 0
  const origin = await startOrigin((request, response) => responders[Math.min(requests++, responders.length - 1)]?.(request, response))
  origins.push(origin)
  return origin
}

/**
 * Returns a responder that sends the whole file or the requested range, and cuts the connection
 * after `cutAfter` bytes.
 */
function sendFile(options: { cutAfter?: number; etag?: string; modified?: string; whole?: Buffer; ranges?: boolean } = {}): Responder {
  const { cutAfter = Number.POSITIVE_INFINITY, etag = '"v1"', modified, whole = bytes, ranges = true } = options
  return ({ headers }, response) => {
    const validator = etag.startsWith('"') ? etag : modified
    const start = ranges && headers.range && headers['if-range'] === validator ? Number(/\d+/.exec(headers.range)?.[0]) : 0
    const rest = whole.subarray(start)
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': rest.length,
      'content-type': 'video/mp4',
      ...(etag ? { etag } : {}),
      ...(modified ? { 'last-modified': modified } : {}),
      ...(start > 0 ? { 'content-range': `bytes ${start}-${whole.length - 1}/${whole.length}` } : {}),
    })
    if (rest.length > cutAfter) response.write(rest.subarray(0, cutAfter), () => response.destroy())
    else response.end(rest)
  }
}

function fetchFrom(origin: LocalOrigin, more: Partial<DownloadOptions> = {}) {
  return download(origin.url('/video.mp4'), target, { policy, limits, ...more })
}

test('a source is downloaded completely, with its hash and its progress', async () => {
  const progress: { bytes: number; total: number | undefined }[] = []
  const origin = await startSource(sendFile())
  expect(await fetchFrom(origin, { onProgress: (now) => progress.push(now) })).toEqual({
    bytes: 5_000_000,
    sha256,
    contentType: 'video/mp4',
  })
  expect((await readFile(target)).equals(bytes)).toBe(true)
  expect(progress.at(-1)).toEqual({ bytes: 5_000_000, total: 5_000_000 })
  expect(progress.every((now, i) => now.bytes > (progress[i - 1]?.bytes ?? 0))).toBe(true)
})

test.each([
  ['ETag', {}],
  ['date if the ETag is weak', { etag: 'W/"v1"', modified: 'Fri, 01 May 2026 12:00:00 GMT' }],
  ['date', { etag: '', modified: 'Fri, 01 May 2026 12:00:00 GMT' }],
])('a cut download is resumed by the %s', async (_, version) => {
  const origin = await startSource(
    sendFile({ ...version, cutAfter: 2_000_000 }),
    sendFile({ ...version, cutAfter: 1_000_000 }),
    sendFile(version),
  )
  expect(await fetchFrom(origin)).toMatchObject({ bytes: 5_000_000, sha256 })
  expect((await readFile(target)).equals(bytes)).toBe(true)
  const starts = origin.requests.map(({ headers }) => Number(/\d+/.exec(headers.range ?? '0')?.[0]))
  expect(starts[0]).toBe(0)
  expect(starts[1]).toBeGreaterThan(0)
  expect(starts[2]).toBeGreaterThan(starts[1] ?? 0)
})

test.each<[string, Responder, Responder]>([
  ['the source changed meanwhile', sendFile({ etag: '"old"', whole: randomBytes(6_000_000), cutAfter: 2_000_000 }), sendFile()],
  ['the source does not support ranges', sendFile({ cutAfter: 2_000_000 }), sendFile({ ranges: false })],
  ['there is no ETag and no date', sendFile({ etag: '', cutAfter: 2_000_000 }), sendFile({ etag: '' })],
])('a cut download restarts if %s', async (_, first, second) => {
  const origin = await startSource(first, second)
  expect(await fetchFrom(origin)).toMatchObject({ bytes: 5_000_000, sha256 })
  expect((await readFile(target)).equals(bytes)).toBe(true)
})

test.each<[string, Responder]>([
  [
    'a range that was not requested',
    ({ headers }, response) => {
      const rest = bytes.length - Number(/\d+/.exec(headers.range ?? '')?.[0])
      response.writeHead(206, { 'content-range': `bytes 7-${6 + rest}/5000000`, etag: '"v1"' }).end(bytes.subarray(7, 7 + rest))
    },
  ],
  [
    'a range of another version',
    ({ headers }, response) => {
      const start = /\d+/.exec(headers.range ?? '')?.[0]
      response.writeHead(206, { 'content-range': `bytes ${start}-4999999/5000000`, etag: '"v2"' }).end(bytes.subarray(Number(start)))
    },
  ],
  ['status 416', (_, response) => response.writeHead(416).end()],
])('a source is downloaded from the start if it responds with %s', async (_, respond) => {
  const origin = await startSource(sendFile({ cutAfter: 2_000_000 }), respond, sendFile())
  expect(await fetchFrom(origin)).toMatchObject({ sha256 })
  expect(origin.requests[2]?.headers.range).toBeUndefined()
})

test('a download is attempted at most three times', async () => {
  const origin = await startSource(sendFile({ cutAfter: 10_000 }))
  await expect(fetchFrom(origin)).rejects.toMatchObject({ code: 4001 })
  expect(origin.requests).toHaveLength(3)
  expect(await readdir(folder)).toEqual([])
})

test.each([
  [404, 1],
  [500, 3],
])('a download with status %d is attempted %d times, and leaves no file', async (status, tries) => {
  const origin = await startSource((_, response) => response.writeHead(status).end())
  await expect(fetchFrom(origin)).rejects.toMatchObject({ code: 4001, status })
  expect(origin.requests).toHaveLength(tries)
  expect(await readdir(folder)).toEqual([])
})

test('the size limit applies to all attempts together', async () => {
  const origin = await startSource(
    (_, response) => {
      response.writeHead(200, { etag: '"v1"' })
      response.write(bytes.subarray(0, 2_000_000), () => response.destroy())
    },
    ({ headers }, response) => {
      const start = Number(/\d+/.exec(headers.range ?? '0')?.[0])
      response.writeHead(206, { etag: '"v1"', 'content-range': `bytes ${start}-4999999/*` }).end(bytes.subarray(start))
    },
  )
  await expect(fetchFrom(origin, { limits: { ...limits, maxBytes: 4_000_000 } })).rejects.toMatchObject({ code: 4003 })
  expect(origin.requests).toHaveLength(2)
  expect(await readdir(folder)).toEqual([])
})

test('every attempt resolves the name and checks the address again', async () => {
  const origin = await startSource(sendFile({ cutAfter: 2_000_000 }), sendFile())
  let lookUps = 0
  const changingPolicy = sourcePolicy({ allow: ['127.0.0.1'], resolve: async () => (lookUps++ === 0 ? ['127.0.0.1'] : ['127.0.0.2']) })
  const url = `http://source.example:${origin.port}/video.mp4`
  await expect(download(url, target, { policy: changingPolicy, limits })).rejects.toMatchObject({ code: 4004 })
  expect(origin.requests).toHaveLength(1)
  expect(await readdir(folder)).toEqual([])
})

test('a download that exceeds the time limit fails and is not attempted again', async () => {
  const origin = await startSource((_, response) => response.write('x'))
  await expect(fetchFrom(origin, { limits: { ...limits, timeoutMs: 200 } })).rejects.toMatchObject({ code: 4001, transient: false })
  expect(origin.requests).toHaveLength(1)
})

test('an aborted signal ends the download and deletes the file', async () => {
  const controller = new AbortController()
  const origin = await startSource((_, response) => response.write(bytes))
  const fetching = fetchFrom(origin, { signal: controller.signal, onProgress: () => controller.abort() })
  await expect(fetching).rejects.toMatchObject({ name: 'AbortError' })
  expect(await readdir(folder)).toEqual([])
})

test('a failure of the local disk is not reported as an error of the source, and is not retried', async () => {
  const origin = await startSource(sendFile())
  // The target is a link, so the clean-up deletes only the link.
  await symlink('/dev/full', target)
  const error = await fetchFrom(origin).catch((fault: unknown) => fault)
  expect(isSourceError(error)).toBe(false)
  expect(error).toMatchObject({ code: expect.stringMatching(/^E(NOSPC|INVAL)$/) })
  expect(origin.requests).toHaveLength(1)
})
