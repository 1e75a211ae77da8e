import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { freePort } from '@vitascope/testing'
import { VitascopeError } from '../src/error.ts'
import { operations } from '../src/gen/operations.ts'
import { Vitascope } from '../src/node.ts'
import { problem, type StandInServer, startStandInServer } from './stand-in-server.ts'

let server: StandInServer
let vitascope: Vitascope
beforeAll(async () => {
  server = await startStandInServer()
  vitascope = new Vitascope({ url: server.url, key: 'a-key', organisationId: '7' })
})
afterAll(() => server.close())

/** Returns the error of a call. */
async function errorOf(call: Promise<unknown>): Promise<VitascopeError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof VitascopeError)) throw new Error('the call did not fail with a VitascopeError', { cause: error })
  return error
}

describe('requests', () => {
  test('a call has the key, the path, the query and the payload', async () => {
    server.answer({ body: { video_id: '42', status: {} } })
    await vitascope.videos.update('a/b', { video_title: 'Launch' })
    await vitascope.call('removeVideoFromPlaylist', { path: { playlist_id: '1', video_id: '2' }, query: { position: 3 } })
    expect(server.requests).toMatchObject([
      {
        method: 'PATCH',
        path: '/v2/video/a%2Fb',
        body: '{"video_title":"Launch"}',
        headers: { authorization: 'Bearer a-key', 'content-type': 'application/json' },
      },
      { method: 'DELETE', path: '/v2/playlist/1/remove/video/2?position=3', body: '' },
    ])
    expect(server.requests[0]?.headers['idempotency-key']).toBeUndefined()
  })

  test('the organisation of the client is in paths, in queries and in new records', async () => {
    server.answer({ body: {} })
    await vitascope.analytics.views()
    await vitascope.webhooks.list().first()
    await vitascope.call('createFolder', { payload: { name: 'Trailers' } })
    await vitascope.call('createFolder', { payload: { name: 'Trailers', organisation_id: '8' } })
    await vitascope.call('updateUser', { path: { email_or_user_id: '5' }, payload: { first_name: 'Ada' } })
    // A list is not a record.
    await vitascope.call('addVideoMetadata', { path: { video_id: '5' }, payload: [{ name: 'genre', value: 'news' }] })
    expect(server.requests.map(({ path, body }) => path + body)).toEqual([
      '/v2/analytics/views/7',
      '/v2/webhook?organisation_id=7',
      '/v2/folder{"organisation_id":"7","name":"Trailers"}',
      '/v2/folder{"organisation_id":"8","name":"Trailers"}',
      '/v2/user/5{"first_name":"Ada"}',
      '/v2/metadata/5[{"name":"genre","value":"news"}]',
    ])
  })

  test('each POST has its own Idempotency-Key, or that of the caller', async () => {
    server.answer({ body: {} })
    await vitascope.jobs.retry('1')
    await vitascope.jobs.retry('1')
    await vitascope.call('retryJob', { path: { job_id: '1' }, idempotencyKey: 'mine' })
    const keys = server.requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{32}$/), 'mine'])
    expect(keys[0]).not.toBe(keys[1])
  })

  test.each([
    ['https://video.example.org', 'https://video.example.org/v2/id'],
    ['https://video.example.org/v2/', 'https://video.example.org/v2/id'],
    ['https://example.org/media/', 'https://example.org/media/v2/id'],
  ])('the address %s is accepted', async (url, expected) => {
    const addresses: unknown[] = []
    const send = async (address: unknown) => {
      addresses.push(address)
      return new Response('{"id":"1"}', { headers: { 'content-type': 'application/json', 'x-request-id': 'r' } })
    }
    await new Vitascope({ url, fetch: send }).call('generateId')
    expect(addresses).toEqual([expected])
  })

  test.each([
    [{ url: 'video.example.org' }, 'The option url'],
    [{ url: 'ftp://video.example.org' }, 'The option url'],
    [{ url: 'https://video.example.org', key: 'a key' }, 'The option key'],
    [{ url: 'https://video.example.org', maxRetries: 4 }, 'The option maxRetries'],
    [{ url: 'https://video.example.org', timeoutMs: 0 }, 'The option timeoutMs'],
  ])('the options %j are rejected', (options, message) => {
    expect(() => new Vitascope(options)).toThrow(message)
  })

  test('a missing or ambiguous value of a path is rejected before a request', async () => {
    server.answer({ body: {} })
    const guest = new Vitascope({ url: server.url })
    expect((await errorOf(guest.playlists.create())).message).toBe(
      'createPlaylist requires organisation_id. Set the option organisationId.',
    )
    expect((await errorOf(vitascope.videos.get(''))).code).toBe('invalid_argument')
    expect((await errorOf(vitascope.videos.get('..'))).code).toBe('invalid_argument')
    expect(server.requests).toEqual([])
  })

  test('results are JSON, a text, bytes or undefined', async () => {
    server.answer({ body: 'day;views', headers: { 'content-type': 'text/csv' } })
    expect(await vitascope.analytics.export({ format: 'csv' })).toBe('day;views')
    server.answer({ body: 'bytes', headers: { 'content-type': 'application/octet-stream' } })
    const file = await vitascope.call('getUploadedFile', { path: { upload_id: '1' }, query: { expires: '1', signature: 's' } })
    expect(await file.text()).toBe('bytes')
    server.answer({ status: 204 })
    expect(await vitascope.call('deleteTusUpload', { path: { upload_id: '1' } })).toBeUndefined()
  })

  test('values of enums that a newer platform has added are returned as they are', async () => {
    const video = { video_id: '42', visibility: 'members', uri: { hls: '' }, status: { status: 'transmuting', progress: 7, code: 3 } }
    server.answer({ body: video }, { body: { ...video, status: { status: 'ok', progress: 100, code: 2000 } } })
    const seen: string[] = []
    const ready = await vitascope.videos.waitUntilReady('42', { intervalMs: 100, onProgress: ({ status }) => seen.push(status.status) })
    expect(seen).toEqual(['transmuting', 'ok'])
    expect(ready.visibility).toBe('members')
  })
})

describe('errors', () => {
  test('a problem document becomes one error', async () => {
    server.answer(
      problem(400, 'invalid_input', {
        errors: [
          { field: 'url', message: 'is required' },
          { field: 'events', message: 'is empty' },
        ],
      }),
    )
    expect(await errorOf(vitascope.webhooks.create({ url: '', events: [] }))).toMatchObject({
      name: 'VitascopeError',
      message: 'POST /v2/webhook: url is required; events is empty',
      ...{ code: 'invalid_input', status: 400, detail: 'detail of invalid_input', requestId: 'r-1' },
      fields: [
        { field: 'url', message: 'is required' },
        { field: 'events', message: 'is empty' },
      ],
    })
    expect(server.requests).toHaveLength(1)
  })

  test('a code of a newer platform is passed through', async () => {
    server.answer(problem(418, 'teapot_full'))
    expect(await errorOf(vitascope.videos.get('1'))).toMatchObject({
      code: 'teapot_full',
      status: 418,
      message: 'GET /v2/video/1: detail of teapot_full',
    })
  })

  test('a wrong key is one sentence', async () => {
    server.answer(problem(401, 'key_unknown', { detail: 'the API key does not exist' }))
    const error = await errorOf(vitascope.videos.get('1'))
    expect(error.message).toBe(`The platform at ${server.url} rejected the API key: the API key does not exist.`)
    expect(error.code).toBe('key_unknown')
  })

  test('a wrong address is one sentence', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const error = await errorOf(new Vitascope({ url, maxRetries: 0 }).videos.get('1'))
    expect(error.message).toBe(`The platform at ${url} cannot be reached (connect ECONNREFUSED ${url.slice(7)}). Check the option url.`)
    expect(error).toMatchObject({ code: 'network_error', status: 0, requestId: undefined })
  })

  test.each([
    ['an HTML page', { body: '<html>', headers: { 'content-type': 'text/html' } }],
    ['a page that does not exist', { status: 404, body: '<html>', headers: { 'content-type': 'text/html' } }],
    ['another JSON API', { status: 403, body: { error: 'forbidden' }, headers: {} }],
    ['a text', { body: 'hello', headers: { 'content-type': 'application/json' } }],
  ])('%s of another server is one sentence', async (_, response) => {
    server.answer({ ...response, headers: { 'x-request-id': '', ...response.headers } })
    const error = await errorOf(vitascope.videos.get('1'))
    expect(error.message).toMatch(
      /^The server at http:\/\/127[.]0[.]0[.]1:\d+ is not a Vitascope platform: GET \/v2\/video\/1 returned \d+ with [a-z/]+[.] Check the option url[.]$/,
    )
    expect(error.code).toBe('not_vitascope')
  })

  test.each([problem(404, 'not_found'), problem(405, 'method_not_allowed')])('an old platform is one sentence: %j', async (response) => {
    server.answer(response)
    const error = await errorOf(vitascope.playback.registerKey({ public_key: '' }))
    expect(error.message).toBe(
      `The platform at ${server.url} is older than this client: it does not have createPlaybackKey (POST /v2/organisation/7/playback-keys).`,
    )
    expect(error.code).toBe('outdated_server')
  })

  test('a redirect is not followed, because it could change the method or lead the key elsewhere', async () => {
    server.answer({ status: 301, headers: { location: 'https://video.example.org/v2/video/1?a=b' } })
    expect(await errorOf(vitascope.videos.get('1'))).toMatchObject({
      code: 'redirected',
      message:
        'GET /v2/video/1 is redirected to https://video.example.org/v2/video/1. Use the address of the platform itself in the option url.',
    })
  })

  test('an abort fails with the reason of the signal, during a request and during a wait', async () => {
    server.answer(problem(503, 'overloaded', {}, { 'retry-after': '30' }))
    const reason = new Error('the user left')
    await expect(vitascope.videos.get('1', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const controller = new AbortController()
    const call = vitascope.videos.get('1', { signal: controller.signal })
    setTimeout(() => controller.abort(reason), 50)
    await expect(call).rejects.toBe(reason)
  })

  test('a video that cannot be encoded ends the wait', async () => {
    server.answer({ body: { uri: { hls: '' }, status: { status: 'failed', progress: 0, code: 4002 } } })
    expect(await errorOf(vitascope.videos.waitUntilReady('1'))).toMatchObject({
      code: 'encoding_failed',
      detail: expect.stringContaining('4002'),
    })
    server.answer({ body: { uri: { hls: '' }, status: { status: 'encoding', progress: 0, code: 2 } } })
    expect(await errorOf(vitascope.videos.waitUntilReady('1', { timeoutMs: 0 }))).toMatchObject({ code: 'wait_timeout' })
  })

  test('the wait for a job ends with the job, also if it failed', async () => {
    const job = { job_id: '7', state: 'publishing', progress: 99 }
    server.answer({ body: job }, { body: { ...job, state: 'failed' } })
    const seen: string[] = []
    const ended = await vitascope.jobs.waitUntilEnded('7', { intervalMs: 100, onProgress: ({ state }) => seen.push(state) })
    expect([seen, ended.state]).toEqual([['publishing', 'failed'], 'failed'])
    server.answer({ body: job })
    expect(await errorOf(vitascope.jobs.waitUntilEnded('7', { timeoutMs: 0 }))).toMatchObject({
      code: 'wait_timeout',
      message: 'The job 7 has not ended after 0 ms (publishing, 99 %).',
    })
    expect(await errorOf(vitascope.jobs.waitUntilEnded('7', { intervalMs: 99 }))).toMatchObject({ code: 'invalid_argument' })
  })
})

describe('retries', () => {
  test.each([429, 503])('%d is repeated after Retry-After, also for a POST, with the same Idempotency-Key', async (status) => {
    server.answer(problem(status, 'overloaded', {}, { 'retry-after': '0' }), { body: { job_id: '2' } })
    await vitascope.jobs.retry('1')
    expect(server.requests).toHaveLength(2)
    expect(server.requests[0]?.headers['idempotency-key']).toBe(server.requests[1]?.headers['idempotency-key'])
  })

  test('the wait has the length of Retry-After', async () => {
    server.answer(problem(429, 'rate_limited', {}, { 'retry-after': '1' }), { body: { job_id: '2' } })
    const start = performance.now()
    await vitascope.videos.update('1', {})
    expect(performance.now() - start).toBeGreaterThan(990)
  })

  test('there are at most three waits', async () => {
    server.answer(problem(429, 'rate_limited', {}, { 'retry-after': '0' }))
    expect(await errorOf(vitascope.videos.get('1'))).toMatchObject({ code: 'rate_limited', status: 429, retryAfterSeconds: 0 })
    expect(server.requests).toHaveLength(4)
  })

  test('a longer wait than a minute is left to the caller', async () => {
    server.answer(problem(429, 'rate_limited', {}, { 'retry-after': '61' }))
    expect(await errorOf(vitascope.videos.get('1'))).toMatchObject({ retryAfterSeconds: 61 })
    expect(server.requests).toHaveLength(1)
  })

  test.each([
    ['a GET', () => vitascope.videos.get('1')],
    ['a PUT', () => vitascope.webhooks.update('1', {})],
    ['a DELETE', () => vitascope.webhooks.delete('1')],
    ['a POST', () => vitascope.jobs.retry('1')],
  ])('%s is repeated after a lost response', async (_, call) => {
    server.answer({ destroy: true }, { status: 502, body: '' }, { body: {} })
    await call()
    expect(server.requests).toHaveLength(3)
  })

  test.each([
    ['a PATCH', () => vitascope.videos.update('1', {})],
    ['an addition to a playlist', () => vitascope.playlists.addVideo('1', '2')],
    ['a removal from a queue', () => vitascope.call('takeQueueJob')],
    ['the use of a link', () => vitascope.call('useSignInLink', { payload: { link: 'a', password: 'a new password' } })],
  ])('%s is not repeated after a lost response', async (_, call) => {
    server.answer({ destroy: true })
    expect((await errorOf(call())).code).toBe('network_error')
    expect(server.requests).toHaveLength(1)
  })

  test('an attempt that takes too long is repeated, and then reported', async () => {
    let attempts = 0
    const hang: typeof fetch = (_, init) => {
      attempts++
      return new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
    }
    const slow = new Vitascope({ url: server.url, fetch: hang, timeoutMs: 20, maxRetries: 1 })
    expect(await errorOf(slow.videos.get('1'))).toMatchObject({
      code: 'timeout',
      message: `The platform at ${server.url} did not respond in time.`,
    })
    expect(attempts).toBe(2)
  })
})

describe('pages', () => {
  const link = (query: string) => ({ link: `<https://elsewhere.example/v2/video?${query}>; rel="next"` })
  const videos = (...ids: string[]) => ({ start: 1, total_num_of_records: 3, videos: ids.map((video_id) => ({ video_id })) })

  test('a loop reads all pages of the platform itself, and only those that it requires', async () => {
    server.answer({ body: videos('1', '2'), headers: link('tag=a&start=3&cursor=c%2B1') }, { body: videos('3') })
    const list = vitascope.videos.list({ tag: 'a' })
    const ids: string[] = []
    for await (const { video_id } of list) ids.push(video_id)
    expect(ids).toEqual(['1', '2', '3'])
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/v2/video?organisation_id=7&limit=20&tag=a',
      '/v2/video?organisation_id=7&limit=20&tag=a&start=3&cursor=c%2B1',
    ])
    server.answer({ body: videos('1', '2'), headers: link('start=3') })
    expect(await list.toArray(2)).toHaveLength(2)
    expect((await list.first()).total_num_of_records).toBe(3)
    expect(server.requests).toHaveLength(2)
  })

  test('items are those of an array, of the list in an object, or of a map', async () => {
    server.answer({ body: [{ webhook_id: '1' }] })
    expect(await vitascope.webhooks.list().toArray()).toEqual([{ webhook_id: '1' }])
    server.answer({ body: { entries: [{ audit_id: '1' }], next: null } })
    expect(await vitascope.list('listAuditEntries').toArray()).toEqual([{ audit_id: '1' }])
    server.answer({ body: { 1: 'System' } })
    const names: [string, string][] = await vitascope.list('listOrganisationNames').toArray()
    expect(names).toEqual([['1', 'System']])
  })

  test('an error in a later page ends the loop', async () => {
    server.answer({ body: videos('1'), headers: link('start=2') }, problem(404, 'organisation_not_found'))
    expect(await errorOf(vitascope.videos.list().toArray())).toMatchObject({ code: 'organisation_not_found' })
  })
})

test('every operation has a method and a path', () => {
  expect(Object.keys(operations).length).toBeGreaterThan(190)
  for (const line of Object.values(operations)) expect(line).toMatch(/^(GET|HEAD|POST|PUT|PATCH|DELETE) \/[^ ]+( \+)?$/)
})
