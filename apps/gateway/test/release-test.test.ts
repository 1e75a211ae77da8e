import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import { runReleaseTest } from '../src/release-test/release-test.ts'

type Responses = Record<string, [status: number, body: unknown]>

let server: Server | undefined
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
})

const MASTER = '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv/index.m3u8\n'
const encoded = { media_id: '43', status: { status: 'ok', progress: 100, code: 2000 } }
/** Responses of a working platform. Its proxy adds `/videos` in front of the paths. */
const working: Responses = {
  'GET /v2/user?organisation_id=1': [200, [{ user_id: '1', user_type: 'system' }]],
  'POST /v2/video/upload': [200, { id: '42' }],
  'GET /v2/video/42': [200, { ...encoded, uri: { hls: 'https://video.example.org/videos/delivery/42/a/master.m3u8?token=t' } }],
  'GET /delivery/42/a/master.m3u8?token=t': [200, MASTER],
  'GET /delivery/42/a/v/index.m3u8': [200, '#EXTM3U\n#EXTINF:4,\nhttps://other.example.org/delivery/42/a/v/1.m4s\n#EXT-X-ENDLIST\n'],
  'GET /delivery/42/a/v/1.m4s': [200, 'bytes'],
  'DELETE /v2/media?media_id=43&user_id=1': [200, { result: true }],
}

/** Runs the test on a server with these responses. Returns the requests, the lines and the failure. */
async function runWith(responses: Responses, timeoutMs = 20_000) {
  const requests: string[] = []
  const lines: string[] = []
  server = createServer((request, response) => {
    request.resume().on('end', () => {
      const line = `${request.method} ${request.url}`
      requests.push(line)
      const [status, body] = responses[line] ?? [404, 'not found']
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server?.once('listening', resolve))
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const options = { url, mediaUrl: url, key: 'k', organisationId: '1', clip: new Uint8Array(3), timeoutMs }
  const failure = await runReleaseTest({ ...options, report: (line) => void lines.push(line) }).then(
    () => '',
    (error: Error) => error.message.replaceAll(url.origin, ''),
  )
  return { requests, lines, failure }
}

test('loads playlists and segments below the media address, whatever their host name and prefix', async () => {
  const { requests, lines, failure } = await runWith(working)
  expect(failure).toBe('')
  expect(requests).toEqual(expect.arrayContaining(Object.keys(working)))
  expect(lines.at(-2)).toBe('played /delivery/42/a/v/1.m4s, 5 bytes')
})

test.each<[string, Responses, string]>([
  [
    'a playlist is rejected',
    { 'GET /delivery/42/a/v/index.m3u8': [403, 'no token'] },
    '/delivery/42/a/v/index.m3u8 returned 403: no token',
  ],
  ['a segment is empty', { 'GET /delivery/42/a/v/1.m4s': [200, ''] }, '/delivery/42/a/v/1.m4s is empty'],
  [
    'a playlist has no variant',
    { 'GET /delivery/42/a/master.m3u8?token=t': [200, '#EXTM3U\n'] },
    '/delivery/42/a/master.m3u8?token=t is not a playlist with an entry',
  ],
])('fails and deletes the video if %s', async (_, responses, message) => {
  const { requests, lines, failure } = await runWith({ ...working, ...responses })
  expect(failure).toBe(message)
  expect(requests.at(-1)).toBe('DELETE /v2/media?media_id=43&user_id=1')
  expect(lines.at(-1)).toBe('deleted video 42')
})

test('fails and deletes the video if it is not encoded in time', async () => {
  const waiting = { ...encoded, status: { status: 'waiting for encoding', progress: 0, code: 1 } }
  const { requests, failure } = await runWith({ ...working, 'GET /v2/video/42': [200, waiting] }, 1_500)
  expect(failure).toBe(
    'the video was not encoded within 1.5 s (status "waiting for encoding", 0 %): check whether workers run and have capacity',
  )
  expect(requests.at(-1)).toBe('DELETE /v2/media?media_id=43&user_id=1')
})

test('names the video that it could not delete', async () => {
  const { failure } = await runWith({ ...working, 'DELETE /v2/media?media_id=43&user_id=1': [503, 'unavailable'] })
  expect(failure).toBe('video 42 remains: DELETE /v2/media returned 503: unavailable')
})

test('rejects a response of another server', async () => {
  const { failure } = await runWith({ ...working, 'POST /v2/video/upload': [200, '<html>'] })
  expect(failure).toBe('POST /v2/video/upload returned 200: <html>')
})
