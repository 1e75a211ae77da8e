// Faults: B1, A1, A2, A3, A4, A5, A21
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { nouns } from './endpoint-cases/index.ts'
import { fingerprint } from './support/database.ts'
import { fetchOperations, fillPath, type Operation, type Values } from './support/operations.ts'
import { type Platform, startPlatform } from './support/platform.ts'
import type { Samples } from './support/table-row.ts'
import { SYSTEM_KEY, type TestPlatform } from './support/test-platform.ts'
import { createUser, type Tenant } from './support/video-steps.ts'

interface Problem {
  code: string
  title: string
  status: number
  errors?: { field: string; message: string }[]
  /** Only in responses to events. */
  accepted?: number
  rejected?: { index: number; message: string }[]
}

let fixture: Platform
let platform: TestPlatform
let operations: Operation[]
let otherTenant: Tenant
let otherUploader: Tenant
let powerless: Tenant
let owner: Tenant
let values: Values

beforeAll(async () => {
  fixture = await startPlatform()
  ;({ platform, owner, otherTenant } = fixture)
  operations = await fetchOperations(platform)
  otherUploader = await createUser(platform.system, otherTenant.organisationId, 'uploader')
  powerless = await createUser(platform.system, owner.organisationId, 'uploader', [])
  values = {}
  for (const { samples } of nouns) values = { ...values, ...(await samples.make?.(fixture)) }
}, 120_000)
afterAll(() => fixture?.close())

/** Payloads by operation that the routes accept, so that a rejection is due to the caller. */
const PAYLOADS: Samples['payloads'] = Object.assign({}, ...nouns.map(({ samples }) => samples.payloads))

/** Expected list of the operations that support `If-Match`. */
const CONDITIONAL = ['PUT /video/{}', 'PATCH /video/{}', 'PUT /playlist/{}', 'PUT /setting/{}', 'PUT /theme/{}', 'PUT /overlay/{}']

const formatOperation = ({ method, path }: Operation) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`

function buildPayload(operation: Operation, v: Values): Record<string, unknown> | undefined {
  const make = PAYLOADS[formatOperation(operation)]
  if (!make && operation.fields === undefined) return undefined
  if (!make) throw new Error(`no payload for ${formatOperation(operation)}: add one to the test`)
  return make(v)
}

function call(operation: Operation, key: string | undefined, v: Values, payload = buildPayload(operation, v)) {
  const api = key === undefined ? platform.guest : platform.withKey(key)
  const query = new URLSearchParams({ organisation_id: v['organisation_id'] ?? '', media_id: v['media_id'] ?? '' })
  if (operation.apiKeyParam)
    query.set('data', JSON.stringify(payload ?? { url: 'https://example.org/a.mp4', organisation_id: v['organisation_id'] }))
  if (operation.apiKeyParam && key !== undefined) query.set('api_key', key)
  const path = `${fillPath(operation, v)}?${query}`
  const sent = operation.isList && payload !== undefined ? [payload] : payload
  const body = sent === undefined ? {} : { body: JSON.stringify(sent), headers: { 'content-type': 'application/json' } }
  return (operation.apiKeyParam ? platform.guest : api).send<Problem>(operation.method, path, body)
}

/** Runs `check` for all operations that `which` selects. Expects that it returns a message for none of them. */
async function forAll(
  which: (operation: Operation) => boolean,
  check: (operation: Operation) => Promise<string | undefined>,
): Promise<void> {
  const picked = operations.filter(which)
  expect(picked.length).toBeGreaterThan(0)
  const failures: string[] = []
  for (const operation of picked) {
    const failure = await check(operation)
    if (failure !== undefined) failures.push(`${operation.method} ${operation.path}: ${failure}`)
  }
  expect(failures).toEqual([])
}

/** Returns whether the payload was rejected. Player events and lines of CMCD reports are rejected one by one with status 202. */
function isRejected(operation: Operation, { status, body }: { status: number; body: Problem }): boolean {
  if (!/^POST \/analytics\/(events|cmcd)$/.test(formatOperation(operation))) return status === 400
  return status === 202 && body.accepted === 0 && body.rejected?.length === 1
}

/** Returns the names of the invalid fields of a payload, or of the first item of a list. */
function invalidFields({ errors = [], rejected = [] }: Problem): string[] {
  const ofEvent = rejected.flatMap(({ message }) => message.split('; ').map((sentence) => sentence.split(': ')[0] ?? ''))
  return [...errors.map(({ field }) => field.replace('[0].', '')), ...ofEvent]
}

const show = (result: { status: number; body: Problem }) => `${result.status} ${JSON.stringify(result.body).slice(0, 300)}`
/**
 * Returns hashes of the tables, except those that background work or rejected calls change. `analytics.video` is a cache
 * of catalogue, which also stores videos that a rejected call names.
 */
const rows = () => fingerprint(platform, /outbox|idempotency|encoding|audit|api_key_use|analytics[.]video$/)

describe('every route', () => {
  test('rejects a guest, unless it is public', () =>
    forAll(
      (o) => o.access !== 'public',
      async (o) => {
        const result = await call(o, undefined, values)
        const right = result.status === 401 && (result.headers.get('www-authenticate') ?? '').startsWith('Basic')
        return right ? undefined : show(result)
      },
    ))

  test('rejects an invalid key, public or not', () =>
    forAll(
      () => true,
      async (o) => {
        const result = await call(o, 'vs_not-a-key-at-all', values)
        return result.status === 401 ? undefined : show(result)
      },
    ))

  test('rejects a key without its resource', () =>
    forAll(
      (o) => o.access === 'user' && !o.apiKeyParam,
      async (o) => {
        const result = await call(o, powerless.key, values)
        return result.status === 403 ? undefined : show(result)
      },
    ))

  test('rejects a user type that may not call it', async () => {
    const before = await rows()
    await forAll(
      (o) => o.access === 'system' || o.access === 'super',
      async (o) => {
        const result = await call(o, o.access === 'system' ? otherTenant.key : otherUploader.key, values)
        return result.status === 403 ? undefined : show(result)
      },
    )
    expect(await rows()).toEqual(before)
  })

  test('accepts the record that GET of the same path returns, and keeps it', async () => {
    const reads = new Set(operations.filter(({ method }) => method === 'GET').map(({ path }) => path))
    const withoutTimes = (body: unknown) =>
      JSON.parse(JSON.stringify(body, (name, value) => (/^(time_)?(last_modified|updated|date_last_modified)/.test(name) ? '' : value)))
    const read = (o: Operation) => platform.system.get<Record<string, unknown>>(fillPath({ ...o, method: 'GET' }, values))
    await forAll(
      (o) => /^(PUT|PATCH)$/.test(o.method) && reads.has(o.path) && !o.isList && o.fields !== undefined,
      async (o) => {
        const before = await read(o)
        // The captions of a file are a list of lines.
        if (Array.isArray(before.body)) return undefined
        const sent = await platform.system.send<Problem>(o.method, fillPath(o, values), {
          body: JSON.stringify(before.body),
          headers: { 'content-type': 'application/json' },
        })
        if (sent.status !== 200) return show(sent)
        const [was, is] = [before, await read(o)].map(({ body }) => withoutTimes(body))
        return JSON.stringify(was) === JSON.stringify(is) ? undefined : `was ${JSON.stringify(was)}, is ${JSON.stringify(is)}`
      },
    )
  })

  test('changes a record only once for an ETag in If-Match', async () => {
    const path = (o: Operation) => fillPath(o, values)
    const change = (o: Operation, etag: string) => {
      const headers = { 'content-type': 'application/json', 'if-match': etag }
      return platform.system.send<Problem>(o.method, path(o), { body: JSON.stringify(buildPayload(o, values)), headers })
    }
    const readTag = async (o: Operation) => (await platform.system.get(fillPath({ ...o, method: 'GET' }, values))).headers.get('etag') ?? ''
    const conditional = operations.filter((o) => o.headers.includes('If-Match'))
    expect(conditional.map(formatOperation)).toEqual(CONDITIONAL)
    for (const o of conditional) {
      const etag = await readTag(o)
      const results = await Promise.all(Array.from({ length: 8 }, () => change(o, etag)))
      const statuses = results.map(({ status }) => status).toSorted()
      expect([formatOperation(o), ...statuses]).toEqual([formatOperation(o), 200, ...Array(7).fill(412)])
      expect(results.find(({ status }) => status === 412)?.body.code).toBe('record_changed')
      expect((await change(o, `W/${await readTag(o)}`)).status).toBe(200)
      expect((await change(o, '*')).status).toBe(200)
      expect((await change(o, '"unknown"')).body).toMatchObject({ status: 400, errors: [{ field: 'If-Match' }] })
    }
    // The ETag of a response with `player_settings` is valid for changes, too.
    const [video] = conditional
    const complete = video && (await platform.system.get(`${path({ ...video, method: 'GET' })}?player_settings=true`))
    expect(video && (await change(video, complete?.headers.get('etag') ?? '')).status).toBe(200)
    // Routes without support for `If-Match` reject it instead of ignoring it.
    const unsupported = operations.find((o) => formatOperation(o) === 'PUT /webhook/{}')
    expect(unsupported && (await change(unsupported, '*')).body).toMatchObject({ status: 400, errors: [{ field: 'If-Match' }] })
  })

  test('rejects If-Match after a change of what a video shares with other records', async () => {
    const { video_id, media_id } = await fixture.video()
    const { body: other } = await platform.system.post<{ id: string }>(`/media/${media_id}/publish`, {})
    const { body: presentation } = await platform.system.post<{ id: string }>('/presentation', {
      ...{ organisation_id: owner.organisationId, title: 'Launch', user_id: owner.userId },
    })
    const readTag = async () => (await platform.system.get(`/video/${video_id}`)).headers.get('etag') ?? ''
    const send = (method: string, path: string, payload: object, headers = {}) =>
      platform.system.send(method, path, { body: JSON.stringify(payload), headers: { 'content-type': 'application/json', ...headers } })
    for (const [method, path, payload] of [
      ['PUT', `/media/${media_id}`, { title: 'Another title' }],
      ['PATCH', `/video/${other.id}`, { security: { token_required_platform: 1 } }],
      ['PUT', `/media/${media_id}`, { token_required_platform: 0 }],
      ['PUT', `/presentation/${presentation.id}`, { video_id }],
      ['DELETE', `/presentation/${presentation.id}`, {}],
      ['POST', `/tag/video/add/${video_id}`, { tags: ['late'] }],
    ] as const) {
      const etag = await readTag()
      expect([path, (await send(method, path, payload)).status]).toEqual([path, 200])
      const late = await send('PATCH', `/video/${video_id}`, { title: 'late' }, { 'if-match': etag })
      expect([method, path, late.status]).toEqual([method, path, 412])
    }
    expect((await send('PATCH', `/video/${video_id}`, { title: 'in time' }, { 'if-match': await readTag() })).status).toBe(200)
  })

  test('changes no record of another organisation', async () => {
    const before = await rows()
    const referencesRecord = (o: Operation) =>
      Object.keys(buildPayload(o, values) ?? {}).some((name) => /^(organisation|video|media)_id$/.test(name))
    const isOwnRecord = (operation: Operation) =>
      /id\}|\{api_key|\{email/.test(operation.path) || /^(\/media|\/user)$/.test(operation.path) || referencesRecord(operation)
    await forAll(
      (o) => (o.access === 'user' || o.access === 'super') && isOwnRecord(o) && !o.apiKeyParam,
      async (o) => {
        const result = await call(o, otherTenant.key, values)
        return result.status === 403 || result.status === 404 ? undefined : show(result)
      },
    )
    expect(await rows()).toEqual(before)
  }, 60_000)

  test('returns the same response for a foreign id as for a missing one', async () => {
    const isId = (name: string) => /_id$/.test(name) && name !== 'organisation_id'
    const missing: Values = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, isId(name) ? '4611686018427387905' : value]),
    )
    await forAll(
      (o) => o.access === 'user' && /_?id\}/.test(o.path) && !o.path.includes('{organisation_id}'),
      async (o) => {
        const [foreign, none] = [await call(o, otherTenant.key, values), await call(o, otherTenant.key, missing)]
        const same = foreign.status === none.status && foreign.body.code === none.body.code && foreign.body.title === none.body.title
        return same ? undefined : `${show(foreign)} but ${show(none)}`
      },
    )
  })

  test('rejects an unknown field and names it', () =>
    forAll(
      (o) => o.fields !== undefined,
      async (o) => {
        const response = await call(o, SYSTEM_KEY, values, { ...buildPayload(o, values), colour_of_moon: 'red' })
        return isRejected(o, response) && invalidFields(response.body).includes('colour_of_moon') ? undefined : show(response)
      },
    ))

  test('rejects fields of a wrong type and names each', () =>
    forAll(
      (o) => o.fields !== undefined && formatOperation(o) !== 'PUT /media/{}',
      async (o) => {
        const names = Object.keys(o.fields ?? {})
        // No field accepts a list of lists of lists.
        const payload = Object.fromEntries(names.map((name) => [name, [[['wrong']]]]))
        const response = await call(o, SYSTEM_KEY, values, payload)
        const invalid = new Set(invalidFields(response.body).map((field) => field.split(/[.[]/)[0]))
        const missing = names.filter((name) => !invalid.has(name))
        // The message of an event names its first five problems and counts the others.
        const counted = Number(/(\d+) more problems?$/.exec(response.body.rejected?.[0]?.message ?? '')?.[1] ?? 0)
        if (isRejected(o, response) && missing.length <= counted) return undefined
        return `${response.status}, not named: ${missing.join(', ')}: ${show(response)}`
      },
    ))

  test('returns 405 with Allow for other methods', async () => {
    const paths = new Map<string, string[]>()
    for (const { path, method } of operations) paths.set(path, [...(paths.get(path) ?? []), method])
    const failures: string[] = []
    for (const [path, methods] of paths) {
      for (const verb of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((v) => !methods.includes(v))) {
        const result = await platform.system.send<Problem>(verb, fillPath({ method: verb, path }, values))
        const allow = result.headers.get('allow') ?? ''
        if (result.status !== 405 || !methods.every((m) => allow.includes(m)))
          failures.push(`${verb} ${path}: ${result.status} Allow ${allow}`)
      }
    }
    expect(failures).toEqual([])
  })

  test('has the request id in every response', () =>
    forAll(
      () => true,
      async (o) => {
        const result = await platform.guest.send(o.method, fillPath(o, values), { headers: { 'x-request-id': 'mine-1' } })
        return result.headers.get('x-request-id') === 'mine-1' ? undefined : `${result.status} ${result.headers.get('x-request-id')}`
      },
    ))

  test('returns 400 for NUL and invalid percent-encoding in each parameter of a path', async () => {
    await forAll(
      (o) => o.path.includes('{'),
      async (o) => {
        for (const bad of ['%00', '%E0%A4%A', '%', 'a%00b']) {
          const path = o.path.replace(/\{\w+\}/, bad).replaceAll(/\{\w+\}/g, '1')
          const { status } = await platform.system.send(o.method, path)
          if (status !== 400) return `${path}: ${status}`
        }
        return undefined
      },
    )
  })
})
