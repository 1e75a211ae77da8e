// Faults: B1, B2, B6, B7, B8, R17
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { extendTimeout, recordFigure, waitFor } from '@vitascope/testing'
import { sendRaw, statuses } from './raw-request.ts'
import { sampleRoutes } from './sample-routes.ts'
import { nextApiKey, type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway, withKey } from './started-gateway.ts'

const key = nextApiKey()
const otherKey = nextApiKey()
let standIns: StandIns
let gateway: Awaited<ReturnType<typeof startTestGateway>>

beforeAll(async () => {
  standIns = await startStandIns()
  for (const [keyId, value] of [key, otherKey].entries()) {
    standIns.keys.set(value, {
      keyId: String(keyId),
      userType: 'system',
      organisationId: '1',
      resources: ['sample::post', 'sample::delete'],
    })
  }
  gateway = await startTestGateway(sampleRoutes, { authAddress: standIns.address, catalogueAddress: standIns.address })
})
afterAll(async () => {
  await gateway.stop()
  await standIns.stop()
})

type Body = NonNullable<RequestInit['body']>

interface ResponseBody {
  received: unknown
  key: string
  fingerprint: string
  code: string
  errors?: { field: string; message: string }[]
}

async function post(body: Body | undefined, headers: Record<string, string> = {}, query = '', path = '/v2/sample') {
  const init = { method: 'POST', headers: { ...withKey(key), ...headers }, ...(body !== undefined && { body }) }
  const response = await fetch(`${gateway.url}${path}${query}`, init)
  return { status: response.status, answer: (await response.json()) as ResponseBody }
}
const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const statusAndFields = async (sent: ReturnType<typeof post>) => {
  const { status, answer } = await sent
  return [status, answer.code, ...(answer.errors ?? []).map(({ field }) => field)]
}

const payload = { title: 'Ärger & Co', count: 3, tags: ['a', 'b'], place: { city: 'Bonn' }, flag: true }
const text = JSON.stringify(payload)
function multipart(fields: Record<string, string | string[]>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) data.append(name, one)
  return data
}
const flat = { title: 'Ärger & Co', count: '3', tags: ['a', 'b'], place: '{"city":"Bonn"}', flag: '1' }

test.each<[string, () => [Body | undefined, Record<string, string>, string?]]>([
  ['a JSON body', () => [text, json]],
  ['a JSON body with a charset', () => [text, { 'content-type': 'application/json; charset="UTF-8"' }]],
  ['a JSON body with a byte order mark', () => [`\ufeff${text}`, json]],
  ['data of a form', () => [new URLSearchParams({ data: text }), {}]],
  ['data of a multipart form', () => [multipart({ data: text }), {}]],
  ['data of the query', () => [undefined, {}, `?data=${encodeURIComponent(text)}`]],
  [
    'form fields with a repeated list field',
    () => [new URLSearchParams([...Object.entries(flat)].flatMap(([n, v]) => [v].flat().map((one): [string, string] => [n, one]))), {}],
  ],
  ['form fields with a list in JSON', () => [new URLSearchParams({ ...flat, tags: '["a","b"]' }), {}]],
  ['fields of a multipart form', () => [multipart(flat), {}]],
])('parses the same payload from %s', async (_, sent) => {
  const { status, answer } = await post(...sent())
  expect([status, answer.received]).toEqual([201, payload])
})

test('form fields: one text is a list of one, an empty text an empty list, null is null', async () => {
  const sendForm = async (fields: Record<string, string>) => (await post(new URLSearchParams({ title: 't', ...fields }))).answer.received
  expect(await sendForm({ tags: 'a' })).toEqual({ title: 't', tags: ['a'] })
  expect(await sendForm({ tags: '' })).toEqual({ title: 't', tags: [] })
  expect(await sendForm({ place: 'null' })).toEqual({ title: 't', place: null })
})

describe('rejects, with an error for every field,', () => {
  test('unknown, invalid and missing fields', async () => {
    const body = JSON.stringify({ titel: 'x', count: 'many', tags: [1, 'a'], place: { city: 1, town: 2 }, organisation_id: '3' })
    expect((await statusAndFields(post(body, json))).sort()).toEqual(
      [400, 'invalid_input', 'title', 'titel', 'count', 'tags[0]', 'place.city', 'place.town', 'organisation_id'].sort(),
    )
  })
  test('names of the object prototype', async () => {
    const body = '{"title":"t","__proto__":{"a":1},"constructor":1,"hasOwnProperty":2}'
    expect(await statusAndFields(post(body, json))).toEqual([400, 'invalid_input', '__proto__', 'constructor', 'hasOwnProperty'])
    expect(await statusAndFields(post('title=t&__proto__=1&a[__proto__][x]=1', form))).toEqual([
      400,
      'invalid_input',
      '__proto__',
      'a[__proto__][x]',
    ])
    expect(({} as { a?: unknown }).a).toBeUndefined()
  })
  test('repeated fields', async () => {
    const message = 'must not be repeated'
    const { status, answer } = await post('title=a&title=b&count=1&count=2&tags=1&tags=2', form)
    expect([status, answer.code, answer.errors]).toEqual([
      400,
      'invalid_input',
      [
        { field: 'title', message },
        { field: 'count', message },
      ],
    ])
    expect(await statusAndFields(post('{"title":"a","title":"b"}', json))).toEqual([400, 'invalid_input', 'title'])
    expect(await statusAndFields(post(`data=${text}&data=${text}`, form))).toEqual([400, 'invalid_input', 'data'])
    expect(await statusAndFields(post(undefined, {}, `?data=${text}&data=${text}`))).toEqual([400, 'invalid_input', 'data'])
    expect(await statusAndFields(post(text, json, `?data=${text}`))).toEqual([400, 'invalid_input', 'data'])
    expect(await statusAndFields(post(`title=x&data={}&count=1`, form))).toEqual([400, 'invalid_input', 'title', 'count'])
  })
  test('NUL, unpaired surrogates and numbers that lose precision', async () => {
    expect(await statusAndFields(post('{"title":"a\\u0000b","tags":["\\ud800"]}', json))).toEqual([
      400,
      'invalid_input',
      'title',
      'tags[0]',
    ])
    expect(await statusAndFields(post('title=a%00b', form))).toEqual([400, 'invalid_input', 'title'])
    expect(await statusAndFields(post(multipart({ title: 'a\0b' })))).toEqual([400, 'invalid_input', 'title'])
    expect(await statusAndFields(post('{"title":"t","count":9007199254740993}', json))).toEqual([400, 'invalid_input', 'count'])
  })
  test('a missing payload', async () => {
    expect(await statusAndFields(post(undefined))).toEqual([400, 'invalid_input', 'title'])
    expect(await statusAndFields(post('', form))).toEqual([400, 'invalid_input', 'title'])
  })
  test('fields in the payload of an endpoint without one', async () => {
    const remove = (body: string) => fetch(`${gateway.url}/v2/sample/1`, { method: 'DELETE', headers: { ...withKey(key), ...json }, body })
    expect((await remove('{}')).status).toBe(200)
    const response = await remove('{"user_id":"1"}')
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({ errors: [expect.objectContaining({ field: 'user_id' })] }),
    ])
  })
})

test.each<[string, Body, Record<string, string>, number, string]>([
  ['invalid JSON', '{"title":', json, 400, 'malformed_payload'],
  ['JSON that is not an object', '[1]', json, 400, 'invalid_input'],
  ['JSON nested too deeply', `{"title":${'['.repeat(33)}`, json, 400, 'malformed_payload'],
  ['JSON in Latin-1', Buffer.from('{"title":"\xe9"}', 'latin1'), json, 400, 'malformed_payload'],
  ['a form with an invalid percent-encoding', 'title=%E0%A4%A', form, 400, 'invalid_input'],
  ['a form with a percent-encoded surrogate', 'title=%ED%A0%80', form, 400, 'invalid_input'],
  ['a multipart form without a boundary', 'x', { 'content-type': 'multipart/form-data' }, 400, 'malformed_payload'],
  [
    'a multipart form that is cut off',
    '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nx',
    { 'content-type': 'multipart/form-data; boundary=b' },
    400,
    'malformed_payload',
  ],
  ['data that is not JSON', 'data={title', form, 400, 'invalid_input'],
  ['no content type', Buffer.from('title=t'), {}, 415, 'unsupported_media_type'],
  ['XML', '<title/>', { 'content-type': 'application/xml' }, 415, 'unsupported_media_type'],
  ['another charset', text, { 'content-type': 'application/json; charset=utf-16' }, 415, 'unsupported_media_type'],
  ['a compressed body', text, { ...json, 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
  ['more than a MiB', `{"title":"${'x'.repeat(1024 * 1024)}"}`, json, 413, 'payload_too_large'],
])('rejects %s', async (_, body, headers, status, code) => {
  expect((await statusAndFields(post(body, headers))).slice(0, 2)).toEqual([status, code])
})

test('rejects a chunked body as soon as it exceeds 1 MiB', async () => {
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
  const head = `POST /v2/sample HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
  expect(statuses(await sendRaw(gateway.address, head + chunk.repeat(17)))).toEqual([413])
})

test('a client that disconnects during a body does not affect other requests', async () => {
  const head = `POST /v2/sample HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"ti`
  await sendRaw(gateway.address, head, { wait: 100 })
  expect((await post(text, json)).status).toBe(201)
})

describe('a payload that is a list', () => {
  const put = async (path: string, body: Body, headers: Record<string, string> = {}, query = '') => {
    const response = await fetch(`${gateway.url}/v2/sample/${path}${query}`, {
      method: path === 'rows' ? 'POST' : 'PUT',
      headers: { ...withKey(key), ...headers },
      body,
    })
    return { status: response.status, answer: (await response.json()) as ResponseBody }
  }
  const request = async (...sent: Parameters<typeof put>) => (await put(...sent)).answer.received
  const rows = [{ name: 'a', count: 1 }, { name: '__proto__' }]

  test('is accepted as JSON and as data', async () => {
    expect(await request('rows', JSON.stringify(rows), json)).toEqual(rows)
    expect(await request('rows', new URLSearchParams({ data: JSON.stringify(rows) }))).toEqual(rows)
    expect(await request('rows', multipart({ data: JSON.stringify(rows) }))).toEqual(rows)
    expect(await request('order', '["3","1"]', json)).toEqual(['3', '1'])
    expect(await request('order', new URLSearchParams({ data: '["3","1"]' }))).toEqual(['3', '1'])
  })
  test('is accepted as form fields of its only item', async () => {
    expect(await request('rows', new URLSearchParams({ name: 'a', count: '1' }))).toEqual([{ name: 'a', count: 1 }])
    expect(await request('rows', multipart({ name: 'a' }))).toEqual([{ name: 'a' }])
  })
  test('is accepted in a field, as JSON, data and form', async () => {
    expect(await request('order', '{"order":["3","1"]}', json)).toEqual(['3', '1'])
    expect(await request('order', new URLSearchParams({ data: '{"order":["3"]}' }))).toEqual(['3'])
    expect(await request('order', new URLSearchParams({ order: '["3","1"]' }))).toEqual(['3', '1'])
    expect(
      await request(
        'order',
        new URLSearchParams([
          ['order', '3'],
          ['order', '1'],
        ]),
      ),
    ).toEqual(['3', '1'])
  })
  test('is rejected with the index of each invalid item', async () => {
    const sendAndRead = (...sent: Parameters<typeof put>) => statusAndFields(put(...sent))
    expect(await sendAndRead('rows', '[{"name":1},{"nam":"a"}]', json)).toEqual([400, 'invalid_input', '[0].name', '[1].name', '[1].nam'])
    expect(await sendAndRead('rows', '{"name":"a"}', json)).toEqual([400, 'invalid_input', 'payload'])
    expect(await sendAndRead('rows', '[]', json)).toEqual([400, 'invalid_input', 'payload'])
    expect(await sendAndRead('rows', '', json)).toEqual([400, 'invalid_input', 'payload'])
    expect(await sendAndRead('rows', new URLSearchParams({ nam: 'a' }))).toEqual([400, 'invalid_input', '[0].name', '[0].nam'])
    expect(await sendAndRead('order', '["1","x"]', json)).toEqual([400, 'invalid_input', 'order[1]'])
    expect(await sendAndRead('order', '{"order":[],"more":1}', json)).toEqual([400, 'invalid_input', 'more'])
    expect(await sendAndRead('order', '{}', json)).toEqual([400, 'invalid_input', 'order'])
  })
  test.each([10_000, 75_000])('of %i items is rejected within 500 ms, before the items are checked', async (count) => {
    const body = JSON.stringify(Array.from({ length: count }, () => ({ name: 'a' })))
    const started = performance.now()
    const { status, answer } = await put('rows', body, json)
    const took = performance.now() - started
    recordFigure('R17', `list of ${count} items rejected in ${Math.round(took)} ms`)
    expect([status, answer.errors]).toEqual([400, [{ field: 'payload', message: 'must not have more than 5000 items' }]])
    expect(took).toBeLessThan(extendTimeout(500))
  })
  test('with too many items is rejected', async () => {
    expect(await request('rows', JSON.stringify(Array(3).fill({ name: 'a' })), json)).toHaveLength(3)
    expect(await statusAndFields(put('rows', JSON.stringify(Array(4).fill({ name: 'a' })), json))).toEqual([
      400,
      'invalid_input',
      'payload',
    ])
  })
  test('or a record accepts any name except __proto__', async () => {
    expect(await request('record', '{"constructor":"1","toString":"2","a b":"3"}', json)).toEqual({
      constructor: '1',
      toString: '2',
      'a b': '3',
    })
    expect(await request('record', new URLSearchParams({ any: '1', hasOwnProperty: '2' }))).toEqual({ any: '1', hasOwnProperty: '2' })
    expect(await statusAndFields(put('record', '{"__proto__":"1"}', json))).toEqual([400, 'invalid_input', '__proto__'])
    expect(await statusAndFields(put('record', '[1]', json))).toEqual([400, 'invalid_input', 'payload'])
  })
})

describe('a query', () => {
  const read = (query: string) => fetch(`${gateway.url}/v2/sample/1${query}`)
  test('may have unknown parameters', async () => {
    expect((await read('?unknown=1&unknown=2&limit=3')).status).toBe(200)
  })
  test('must not repeat a known parameter', async () => {
    const response = await read('?limit=1&limit=2')
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({ errors: [{ field: 'limit', message: 'must not be repeated' }] }),
    ])
  })
})

describe('an idempotency key', () => {
  const send = async (header: string | undefined, body = text, as = key, headers = json) => {
    const { status, answer } = await post(body, { ...withKey(as), ...headers, ...(header !== undefined && { 'idempotency-key': header }) })
    return { status, ...answer }
  }
  test('is hashed with caller and path; the payload has its own fingerprint', async () => {
    const first = await send('k-1')
    expect(first).toMatchObject({ key: expect.stringMatching(/^[0-9a-f]{64}$/), fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) })
    const reordered = JSON.stringify(Object.fromEntries(Object.entries({ ...payload, count: '3' }).reverse()))
    for (const repeated of [
      await send('k-1', ` ${text}`),
      await send('k-1', reordered),
      await send('k-1', new URLSearchParams({ data: text }).toString(), key, form),
    ]) {
      expect([repeated.key, repeated.fingerprint]).toEqual([first.key, first.fingerprint])
    }
    expect((await send('k-1', '{"title":"other"}')).key).toBe(first.key)
    expect((await send('k-1', '{"title":"other"}')).fingerprint).not.toBe(first.fingerprint)
    expect((await send('k-2')).key).not.toBe(first.key)
    expect((await send('k-1', text, otherKey)).key).not.toBe(first.key)
    expect((await send(undefined)).key).toBe('')
  })
  test('is ignored unless the method is POST', async () => {
    const headers = { ...withKey(key), ...json, 'idempotency-key': 'k-1' }
    const response = await fetch(`${gateway.url}/v2/sample/create`, { method: 'PUT', headers, body: text })
    expect(await response.json()).toMatchObject({ key: '' })
  })
  test('has 1 to 255 printable ASCII characters and is not repeated', async () => {
    expect((await send('x'.repeat(255))).status).toBe(201)
    for (const bad of ['', 'x'.repeat(256), 'a\tb', 'é']) expect(await send(bad)).toMatchObject({ status: 400 })
    const head = `POST /v2/sample HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${key}\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\n\r\n`
    expect(statuses(await sendRaw(gateway.address, head))).toEqual([400])
  })
})

test('a client that disconnects cancels the call to the service', async () => {
  let ended = false
  const started = Promise.withResolvers<void>()
  standIns.nextId = (call) =>
    new Promise((_, reject) => {
      started.resolve()
      call.signal.addEventListener('abort', () => {
        ended = true
        reject(new Error('the call was cancelled'))
      })
    })
  const disconnect = new AbortController()
  const pending = fetch(`${gateway.url}/v2/sample/id`, { signal: disconnect.signal })
  await started.promise
  disconnect.abort()
  await expect(pending).rejects.toThrow()
  await waitFor(() => ended, { timeout: 1_900, describe: 'the call to end before its deadline' })
})

test('a service that does not respond before the deadline results in 503', async () => {
  standIns.nextId = () => new Promise(() => {})
  const started = performance.now()
  const response = await fetch(`${gateway.url}/v2/sample/id`)
  expect(await response.json()).toMatchObject({ status: 503, code: 'deadline_exceeded' })
  expect(performance.now() - started).toBeLessThan(extendTimeout(8_000))
})
