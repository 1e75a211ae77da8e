import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createCaptionReader } from '@vitascope/captions'
import { sourcePolicy } from '@vitascope/fetch'
import { createSourceReader } from './caption-source.ts'

const SRT = '1\n00:00:01,500 --> 00:00:02,750\nGrüß Gott\n'
const FILES: Record<string, RequestListener> = {
  '/a.srt': (_, response) => response.end(SRT),
  '/A.SRT': (_, response) => response.end(SRT),
  '/latin.srt': (_, response) => response.end(Buffer.from(SRT, 'latin1')),
  '/wide.srt': (_, response) => response.end(Buffer.from(`\ufeff${SRT}`, 'utf16le')),
  '/moved.srt': (_, response) => response.writeHead(302, { location: '/elsewhere?x=1' }).end(),
  '/elsewhere': (_, response) => response.end(SRT),
  '/inside.srt': (_, response) => response.writeHead(302, { location: 'http://169.254.169.254/a.srt' }).end(),
  '/page.srt': (_, response) => response.end('<!doctype html><title>Log in</title>'),
  '/full.srt': (_, response) => response.end(Buffer.alloc(5 * 2 ** 20, '\n').fill(SRT, 0, Buffer.byteLength(SRT))),
  '/large.srt': (_, response) => response.end(Buffer.alloc(5 * 2 ** 20 + 1, 'x')),
  '/waits.srt': () => undefined,
  '/endless.srt': (_, response) => {
    const overrides = () => response.writable && response.write(Buffer.alloc(65_536), overrides)
    overrides()
  },
}
let server: Server
let origin: string
beforeAll(async () => {
  server = createServer((request, response) => {
    const listener = FILES[(request.url ?? '').split('?')[0] ?? '']
    if (listener) listener(request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await files.close()
})

const files = createCaptionReader()
const reader = createSourceReader(sourcePolicy({ allow: ['127.0.0.1'] }), files)
const read = (source: { url?: string; content?: string; format?: 'srt' | 'vtt' }, by = reader) =>
  by({ url: '', content: '', format: undefined, organisationId: '1', ...source }, { signal: new AbortController().signal })
const LINES = [{ beginMs: 1_500, endMs: 2_750, text: 'Grüß Gott' }]

test.each(['/a.srt', '/A.SRT', '/a.srt?token=x#y', '/latin.srt', '/wide.srt', '/moved.srt', '/full.srt'])('parses %s', async (path) => {
  expect(await read({ url: origin + path })).toEqual(LINES)
})

test.each([
  ['a missing file', '/none.srt', 'cannot be fetched: 127.0.0.1 responded with status 404'],
  ['a redirect to a private address', '/inside.srt', 'is not allowed'],
  ['an HTML page', '/page.srt', 'contains no captions in the format .srt'],
  ['a path without extension', '/a', 'must end in .srt, .sbv, .sub, .vtt'],
  ['an unsupported extension', '/a.srt/x.ass', 'must end in'],
  ['an extension in the query only', '/a?x=.srt', 'must end in'],
])('rejects %s as the url', async (_, path, message) => {
  await expect(read({ url: origin + path })).rejects.toMatchObject({
    kind: 'invalid',
    fields: [{ field: 'url', message: expect.stringContaining(message) }],
  })
})

test('rejects a private address without a request', async () => {
  const strict = createSourceReader(sourcePolicy(), files)
  for (const url of [`${origin}/a.srt`, 'http://[::1]/a.srt', 'ftp://example.org/a.srt', 'http://user:x@example.org/a.srt']) {
    await expect(read({ url }, strict)).rejects.toMatchObject({ kind: 'invalid', fields: [{ field: 'url' }] })
  }
  const named = createSourceReader(sourcePolicy({ resolve: async () => ['10.0.0.1'] }), files)
  await expect(read({ url: 'http://captions.example/a.srt' }, named)).rejects.toMatchObject({ kind: 'invalid', fields: [{ field: 'url' }] })
})

test.each(['/large.srt', '/endless.srt'])('rejects %s because it exceeds 5 MiB', async (path) => {
  await expect(read({ url: origin + path })).rejects.toMatchObject({ reason: 'CAPTION_TOO_LARGE' })
})

test('parses content in its format', async () => {
  expect(await read({ content: SRT, format: 'srt' })).toEqual(LINES)
  await expect(read({ content: SRT })).rejects.toMatchObject({ fields: [{ field: 'format' }] })
  await expect(read({ content: '', format: 'vtt' })).rejects.toMatchObject({ fields: [{ field: 'content' }] })
})

test('the download of a file times out early enough to store the captions', async () => {
  const signal = new AbortController().signal
  const source = { url: `${origin}/waits.srt`, content: '', format: undefined, organisationId: '1' }
  const deadline = Date.now() + 5_000
  await expect(reader(source, { signal, deadline: new Date(deadline) })).rejects.toMatchObject({ fields: [{ field: 'url' }] })
  expect(Date.now()).toBeLessThan(deadline - 1_000)
  await expect(reader(source, { signal, deadline: new Date(Date.now() + 1_000) })).rejects.toMatchObject({ reason: 'DEADLINE_EXCEEDED' })
})
