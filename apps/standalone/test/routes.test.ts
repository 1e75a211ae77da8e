import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { nouns } from './rows/index.ts'
import { fingerprint } from './support/database.ts'
import { type OpenHouse, openHouse } from './support/house.ts'
import { fillPath, type Operation, operationsOf, type Values } from './support/operations.ts'
import type { Samples } from './support/table-row.ts'
import { SYSTEM_KEY, type TestPlatform } from './support/test-platform.ts'
import { aUser, type Tenant } from './support/video-steps.ts'

interface Problem {
  code: string
  title: string
  status: number
  errors?: { field: string; message: string }[]
}

let house: OpenHouse
let platform: TestPlatform
let operations: Operation[]
let stranger: Tenant
let strangerUploader: Tenant
let powerless: Tenant
let owner: Tenant
let values: Values

beforeAll(async () => {
  house = await openHouse()
  ;({ platform, owner, stranger } = house)
  operations = await operationsOf(platform)
  strangerUploader = await aUser(platform.system, stranger.organisationId, 'uploader')
  powerless = await aUser(platform.system, owner.organisationId, 'uploader', [])
  values = {}
  for (const { samples } of nouns) values = { ...values, ...(await samples.make?.(house)) }
}, 120_000)
afterAll(() => house?.close())

/** A payload that each writing route takes, so that what is refused is refused for the caller and not for the payload. */
const PAYLOADS: Samples['payloads'] = Object.assign({}, ...nouns.map(({ samples }) => samples.payloads))

const nameOf = ({ method, path }: Operation) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`

function payloadOf(operation: Operation, v: Values): Record<string, unknown> | undefined {
  const make = PAYLOADS[nameOf(operation)]
  if (!make && operation.fields === undefined) return undefined
  if (!make) throw new Error(`no payload for ${nameOf(operation)}: add one to the test`)
  return make(v)
}

function call(operation: Operation, key: string | undefined, v: Values, payload = payloadOf(operation, v)) {
  const api = key === undefined ? platform.guest : platform.withKey(key)
  const query = new URLSearchParams({ organisation_id: v['organisation_id'] ?? '', media_id: v['media_id'] ?? '' })
  if (operation.keyFromQuery)
    query.set('data', JSON.stringify(payload ?? { url: 'https://example.org/a.mp4', organisation_id: v['organisation_id'] }))
  if (operation.keyFromQuery && key !== undefined) query.set('api_key', key)
  const path = `${fillPath(operation, v)}?${query}`
  const sent = operation.list && payload !== undefined ? [payload] : payload
  const body = sent === undefined ? {} : { body: JSON.stringify(sent), headers: { 'content-type': 'application/json' } }
  return (operation.keyFromQuery ? platform.guest : api).send<Problem>(operation.method, path, body)
}

/** Runs `check` over all operations that `which` picks and names every one that fails. */
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

const show = (answer: { status: number; body: Problem }) => `${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`
const rows = () => fingerprint(platform, /outbox|idempotency|encoding|audit|api_key_use/)

describe('every route', () => {
  test('asks a guest for a key, unless it is public', () =>
    forAll(
      (o) => o.access !== 'public',
      async (o) => {
        const answer = await call(o, undefined, values)
        const right = answer.status === 401 && (answer.headers.get('www-authenticate') ?? '').startsWith('Basic')
        return right ? undefined : show(answer)
      },
    ))

  test('refuses a bad key, public or not', () =>
    forAll(
      () => true,
      async (o) => {
        const answer = await call(o, 'vs_not-a-key-at-all', values)
        return answer.status === 401 ? undefined : show(answer)
      },
    ))

  test('refuses a key that lacks its resource', () =>
    forAll(
      (o) => o.access === 'user' && !o.keyFromQuery,
      async (o) => {
        const answer = await call(o, powerless.key, values)
        return answer.status === 403 ? undefined : show(answer)
      },
    ))

  test('refuses a user type that it is not for, and changes nothing', async () => {
    const before = await rows()
    await forAll(
      (o) => o.access === 'system' || o.access === 'super',
      async (o) => {
        const answer = await call(o, o.access === 'system' ? stranger.key : strangerUploader.key, values)
        return answer.status === 403 ? undefined : show(answer)
      },
    )
    expect(await rows()).toBe(before)
  })

  test('does not reach what another organisation owns, and changes nothing of it', async () => {
    const before = await rows()
    const named = (o: Operation) => Object.keys(payloadOf(o, values) ?? {}).some((name) => /^(organisation|video|media)_id$/.test(name))
    const own = (o: Operation) => /id\}|\{api_key|\{email/.test(o.path) || /^(\/media|\/user)$/.test(o.path) || named(o)
    await forAll(
      (o) => (o.access === 'user' || o.access === 'super') && own(o) && !o.keyFromQuery,
      async (o) => {
        const answer = await call(o, stranger.key, values)
        return answer.status === 403 || answer.status === 404 ? undefined : show(answer)
      },
    )
    expect(await rows()).toBe(before)
  }, 60_000)

  test('answers for a foreign id exactly as for one that is missing', async () => {
    const isId = (name: string) => /_id$/.test(name) && name !== 'organisation_id'
    const missing: Values = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, isId(name) ? '4611686018427387905' : value]),
    )
    await forAll(
      (o) => o.access === 'user' && /_?id\}/.test(o.path) && !o.path.includes('{organisation_id}'),
      async (o) => {
        const [foreign, none] = [await call(o, stranger.key, values), await call(o, stranger.key, missing)]
        const same = foreign.status === none.status && foreign.body.code === none.body.code && foreign.body.title === none.body.title
        return same ? undefined : `${show(foreign)} but ${show(none)}`
      },
    )
  })

  test('refuses an unknown field by its name', () =>
    forAll(
      (o) => o.fields !== undefined,
      async (o) => {
        const answer = await call(o, SYSTEM_KEY, values, { ...payloadOf(o, values), colour_of_moon: 'red' })
        const named = answer.body.errors?.some(({ field }) => /^(\[0\]\.)?colour_of_moon$/.test(field))
        return answer.status === 400 && named ? undefined : show(answer)
      },
    ))

  test('refuses fields of a wrong type, every one of them by its name', () =>
    forAll(
      (o) => o.fields !== undefined && nameOf(o) !== 'PUT /media/{}',
      async (o) => {
        const names = Object.keys(o.fields ?? {})
        // No field takes a list that holds a list of a list.
        const payload = Object.fromEntries(names.map((name) => [name, [[['wrong']]]]))
        const answer = await call(o, SYSTEM_KEY, values, payload)
        const named = new Set(answer.body.errors?.map(({ field }) => field.replace('[0].', '').split(/[.[]/)[0]))
        const missed = names.filter((name) => !named.has(name))
        return answer.status === 400 && missed.length === 0 ? undefined : `${answer.status}, not named: ${missed.join(', ')}`
      },
    ))

  test('answers a verb that its path does not have with 405 and the ones it has', async () => {
    const paths = new Map<string, string[]>()
    for (const { path, method } of operations) paths.set(path, [...(paths.get(path) ?? []), method])
    const failures: string[] = []
    for (const [path, methods] of paths) {
      for (const verb of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((v) => !methods.includes(v))) {
        const answer = await platform.system.send<Problem>(verb, fillPath({ method: verb, path }, values))
        const allow = answer.headers.get('allow') ?? ''
        if (answer.status !== 405 || !methods.every((m) => allow.includes(m)))
          failures.push(`${verb} ${path}: ${answer.status} Allow ${allow}`)
      }
    }
    expect(failures).toEqual([])
  })

  test('says the id of the request in every answer, also where it refuses', () =>
    forAll(
      () => true,
      async (o) => {
        const answer = await platform.guest.send(o.method, fillPath(o, values), { headers: { 'x-request-id': 'mine-1' } })
        return answer.headers.get('x-request-id') === 'mine-1' ? undefined : `${answer.status} ${answer.headers.get('x-request-id')}`
      },
    ))

  test('refuses a NUL, broken percent-encoding and text that is no path of it, never with a fault', async () => {
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
