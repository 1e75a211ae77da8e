import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { routes } from '../src/table.ts'
import { nextApiKey } from './stand-ins.ts'
import { withKey } from './started-gateway.ts'
import { openTestTarget, type TestTarget } from './test-target.ts'

// Tests of the error messages for common mistakes. Each message names the problem and its remedy.

interface Problem {
  status: number
  code: string
  detail: string
  instance: string
  errors?: { field: string; message: string }[]
}

let testTarget: TestTarget
beforeAll(async () => {
  testTarget = await openTestTarget(routes)
})
afterAll(() => testTarget?.stop())

async function call(method: string, path: string, { key = testTarget.keys.system, ...init }: RequestInit & { key?: string } = {}) {
  const response = await fetch(`${testTarget.url}${path}`, { method, ...init, headers: { ...withKey(key), ...init.headers } })
  return { status: response.status, problem: (await response.json()) as Problem }
}
const json = (value: unknown) => ({ body: JSON.stringify(value), headers: { 'content-type': 'application/json' } })

describe('a path that does not exist', () => {
  test.each([
    ['/v2/videos', 'there is no path /v2/videos; did you mean /v2/video?'],
    ['/v2/vidoe/42', 'there is no path /v2/vidoe/42; did you mean /v2/video?'],
    ['/v2/nothing-like-it', 'there is no path /v2/nothing-like-it'],
    ['/v2/video/42/tokn', 'there is no path /v2/video/42/tokn'],
    ['/v2/metadata/42/:key/all', 'there is no path /v2/metadata/42/:key/all'],
    ['/v3/video', 'there is no path /v3/video'],
    ['/elsewhere', 'there is no path /elsewhere'],
  ])('%s is named in the error', async (path, detail) => {
    const { status, problem } = await call('GET', path)
    expect([status, problem.instance, problem.detail]).toEqual([404, path, detail])
  })
  test.each([
    [`/v2/apikeys/${nextApiKey()}/regenerate`, '/v2/apikeys/…/regenerate'],
    ['/v2/apikey/configured_by_me_2030/again', '/v2/apikey/…/again'],
    ['/v2/video/42/passwords/hunter2', '/v2/video/42/passwords/…'],
    ['/v2/video/42/pasword/correct-horse', '/v2/video/42/pasword/…'],
    ['/v2/videos/42/password/letmein', '/v2/videos/42/password/…'],
    ['/v2/delivery/42/3~eyJhbGciOi.J9/index.m3u8', '/v2/delivery/42/…/…'],
    ['/v2/token/secretword', '/v2/token/…'],
    ['/v2/videos/a%20b', '/v2/videos/…'],
    [`/v2/${'a'.repeat(500)}`, '/v2/…'],
    [`/v2${'/a'.repeat(20)}`, `/v2${'/a'.repeat(11)}/…`],
  ])('is named without possible secrets: %s', async (path, instance) => {
    const { status, problem } = await call('GET', path)
    expect([status, problem.instance, problem.detail]).toEqual([404, instance, expect.stringContaining(instance)])
  })
})

describe('a form is rejected', () => {
  test.each([
    ['a small file', 10],
    ['a file above 1 MiB', 2 * 1024 * 1024],
  ])('with %s in a text part of POST /video/upload, and the error names the part', async (_, bytes) => {
    const body = new FormData()
    body.append('organisation_id', '2')
    body.append('video', new Blob([Buffer.alloc(bytes)]), 'clip.mp4')
    const { status, problem } = await call('POST', '/v2/video/upload', { body })
    expect([status, problem.errors]).toEqual([400, [{ field: 'video', message: 'must be text; send the file as the part file' }]])
  })
  test('with a file for an endpoint without uploads', async () => {
    const body = new FormData()
    body.append('file', new Blob(['x']), 'a.txt')
    const { status, problem } = await call('POST', '/v2/folder', { body })
    expect([status, problem.errors]).toEqual([400, [{ field: 'file', message: 'must be text, not a file' }]])
  })
})

test('the error for a private source address names the setting that allows it', async () => {
  const { status, problem } = await call('POST', '/v2/video/upload', json({ url: 'http://10.0.0.1/a.mp4', organisation_id: '2' }))
  expect([status, problem.errors]).toEqual([
    400,
    [
      {
        field: 'url',
        message: 'must have a public address, or one in a network that the operator lists in VITASCOPE_SOURCE_ALLOW',
      },
    ],
  ])
})

test('the error for an unknown field lists the known fields', async () => {
  const { problem } = await call('POST', '/v2/webhook', json({ url: 'https://example.org', events: ['video.ready'], title: 'x' }))
  expect(problem.errors).toEqual([{ field: 'title', message: 'is not a field here; the fields are organisation_id, url, events, enabled' }])
})

test('the error for a system-only endpoint names the alternative for users', async () => {
  const removed = await call('DELETE', '/v2/video/42', { key: testTarget.keys.standard })
  expect([removed.status, removed.problem.code]).toEqual([403, 'system_only'])
  expect(removed.problem.detail).toMatch(/DELETE \/v2\/media\b.*PATCH \/v2\/video\/\{video_id\}/)
  const changed = await call('PUT', '/v2/video/42', { key: testTarget.keys.standard, ...json({ description: 'x' }) })
  expect(changed.problem.detail).toMatch(/PATCH \/v2\/video\/\{video_id\}/)
})

test.each([
  ['a key with an invalid character', `${nextApiKey().slice(0, -1)}!`, /^the key is malformed: /],
  ['a key with a wrong checksum', nextApiKey().replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')), /checksum/],
  ['a short text as a key', 'short', /vs_/],
])('the error for %s describes the key format', async (_, key, detail) => {
  const { status, problem } = await call('GET', '/v2/video', { key })
  expect([status, problem.code]).toEqual([401, 'key_malformed'])
  expect(problem.detail).toMatch(detail)
  expect(problem.detail).toMatch(/vs_/)
})

describe('tags in a path', () => {
  test.each(['{"a":1}', '{"tags":["a"]}', '[1]', '["a",null]', '[["a"]]', '[', '"launch"', '{', '"'])('rejects %s', async (text) => {
    for (const [method, path] of [
      ['POST', '/v2/tag/video/add/42/'],
      ['DELETE', '/v2/tag/video/delete/42/'],
    ] as const) {
      const { status, problem } = await call(method, path + encodeURIComponent(text))
      expect([text, status, problem.errors?.[0]?.field.slice(0, 4)]).toEqual([text, 400, 'tags'])
    }
  })
  test.each(['{"a":["b"]}', '{"tags":"a"}', '{"tags":[1]}', '[1]', '"launch"', '{'])('GET /video/tag rejects %s', async (text) => {
    const { status } = await call('GET', `/v2/video/tag/${encodeURIComponent(text)}`)
    expect([text, status]).toEqual([text, 400])
  })
  test.each(['launch', '2030', 'null', 'true', '["a","b"]'])('passes %s to the service', async (text) => {
    expect((await call('DELETE', `/v2/tag/video/delete/42/${encodeURIComponent(text)}`)).status).not.toBe(400)
  })
})

test.each(['english', 'xx', 'e'])('rejects the caption language %s', async (language) => {
  const { problem } = await call('POST', '/v2/caption', json({ title: 'A', language, media_id: '1', url: 'https://example.org/a.vtt' }))
  expect(problem.errors).toEqual([{ field: 'language', message: 'must be a language code such as en or pt-BR' }])
})
