// Faults: B1, B10, A1
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { payloadSchema } from '../src/server/payload/payload-schema.ts'
import type { Route } from '../src/server/route/route.ts'
import type { Target } from '../src/server/route/route-index.ts'
import { routes } from '../src/table.ts'
import {
  exampleFields,
  filledPath,
  pathCases,
  payloadFields,
  type RouteCase,
  routeCases,
  topFields,
  withFields,
  wrongTexts,
  wrongValues,
} from './route-cases.ts'
import { nextApiKey } from './stand-ins.ts'
import { withKey } from './started-gateway.ts'
import { openTestTarget, type TestTarget } from './test-target.ts'

// Tests of every route, generated from the route table. A new route has these tests once it is
// declared.

let testTarget: TestTarget
beforeAll(async () => {
  testTarget = await openTestTarget(routes)
})
afterAll(() => testTarget?.stop())

interface Problem {
  status: number
  code: string
  detail: string
  errors?: { field: string; message: string }[]
}

async function call(method: string, path: string, key?: string, init: RequestInit = {}) {
  const headers = { ...(key !== undefined && withKey(key)), ...(init.headers as Record<string, string>) }
  const response = await fetch(`${testTarget.url}/v2${path}`, { method, ...init, headers })
  const text = await response.text()
  const isProblem = text !== '' && response.headers.get('content-type') === 'application/problem+json'
  return { status: response.status, headers: response.headers, text, problem: isProblem ? (JSON.parse(text) as Problem) : undefined }
}

const cases = routeCases(routes)
const selectCases = (some: (one: RouteCase) => boolean = () => true) => cases.filter(some).map((one) => [one.name, one] as const)
const requiresKey = ({ route }: RouteCase) => route.access !== 'public'
/** Requests proxied to encoding have no payload: encoding validates their body. */
const hasPayload = ({ method, route }: RouteCase) => method !== 'GET' && method !== 'HEAD' && !route.proxyTo
/**
 * Requests that are rejected as a whole for an invalid field. A lenient list rejects its items one
 * by one.
 */
const isStrict = (one: RouteCase) => hasPayload(one) && !payloadSchema(one.route).lenient
/** The response to HEAD has no body. */
const codeFor = (method: string, code: string) => (method === 'HEAD' ? undefined : code)
const json = { 'content-type': 'application/json' }

/** Lists may be empty. */
const isList = (route: Route) => route.payloadField !== undefined || payloadSchema(route).lenient

test('the route table has more than 20 cases', () => expect(cases.length).toBeGreaterThan(20))

describe('access', () => {
  test.each(selectCases(requiresKey))('%s rejects a guest', async (_, { method, path }) => {
    const { status, problem, headers } = await call(method, path)
    expect([status, problem?.code]).toEqual([401, codeFor(method, 'key_required')])
    expect(headers.get('www-authenticate')).toMatch(/^Basic /)
  })
  test.each(selectCases())('%s rejects an unknown key', async (_, { method, path }) => {
    const { status, problem } = await call(method, path, nextApiKey())
    expect([status, problem?.code]).toEqual([401, codeFor(method, 'key_unknown')])
  })
  test.each(selectCases(requiresKey))('%s rejects a key without the resource', async (_, { method, path, route }) => {
    const { status, problem } = await call(method, path, testTarget.keys.withoutResources)
    expect([status, problem?.code]).toEqual([403, codeFor(method, 'missing_resource')])
    if (method !== 'HEAD') expect(problem?.detail).toContain(route.resource)
  })
  test.each(selectCases(({ route }) => route.access === 'super' || route.access === 'system'))('%s rejects an uploader', async (_, one) => {
    const { status } = await call(one.method, one.path, testTarget.keys.uploader)
    expect(status).toBe(403)
  })
  test.each(selectCases(({ route }) => route.access === 'system'))('%s rejects a super user', async (_, { method, path }) => {
    expect(await call(method, path, testTarget.keys.standard)).toMatchObject({ status: 403, problem: { code: 'system_only' } })
  })
})

describe('access to other organisations', () => {
  const foreign = ['1', '999999', 'no-id']
  const open = ({ route }: RouteCase) => route.access === 'user' || route.access === 'super'
  const rejection = { status: 403, problem: { code: 'foreign_organisation' } }
  test.each(selectCases((one) => open(one) && one.target.params.includes('organisationId')))(
    '%s returns 403 for another organisation in the path, whether or not it exists',
    async (_, { method, target, route }) => {
      // A payload that cannot be missing would be rejected first.
      const payload = route.payload && !route.payloadOptional ? withFields(route, exampleFields(route)) : undefined
      const init = payload === undefined ? {} : { body: JSON.stringify(payload), headers: json }
      for (const id of foreign) {
        expect(await call(method, filledPath(target, 'organisationId', id), testTarget.keys.standard, init)).toMatchObject(rejection)
      }
    },
  )
  test.each(selectCases((one) => open(one) && 'organisation_id' in one.route.query.shape))(
    '%s returns 403 for another organisation in the query, whether or not it exists',
    async (_, { method, path }) => {
      for (const id of foreign.slice(0, 2)) {
        expect(await call(method, `${path}?organisation_id=${id}`, testTarget.keys.standard)).toMatchObject(rejection)
      }
    },
  )
  test.each(selectCases((one) => open(one) && 'organisation_id' in payloadFields(one.route)))(
    '%s returns 403 for another organisation in the payload, whether or not it exists',
    async (_, one) => {
      for (const id of foreign) {
        const payload = { ...exampleFields(one.route), organisation_id: id }
        const init = { body: JSON.stringify(withFields(one.route, payload)), headers: json }
        expect(await call(one.method, one.path, testTarget.keys.standard, init)).toMatchObject(rejection)
      }
    },
  )
})

describe('methods', () => {
  const paths = pathCases(routes).map((one) => [one.name, one] as const)
  test.each(paths)('%s accepts its own methods and lists them in Allow', async (_, { path, allowed, rejectedMethods }) => {
    for (const method of rejectedMethods) {
      const { status, headers } = await call(method, path, testTarget.keys.system)
      expect([method, status, headers.get('allow')]).toEqual([method, 405, allowed.join(', ')])
    }
    const options = await call('OPTIONS', path)
    expect([options.status, options.headers.get('allow')]).toEqual([204, allowed.join(', ')])
    for (const method of allowed) expect([method, (await call(method, `${path}/?x=%00`)).status]).not.toEqual([method, 405])
  })
})

/** A response to HEAD has no body, so it contains no problem document. */
const hasProblem = ({ verb }: Target) => verb !== 'head'

describe('paths and queries', () => {
  test.each(selectCases(({ target }) => target.params.length > 0))(
    '%s rejects NUL and invalid percent-encoding in a path parameter',
    async (_, one) => {
      for (const name of one.target.params) {
        for (const bad of ['a%00b', '%E0%A4%A', '%ff']) {
          const { status } = await call(one.method, filledPath(one.target, name, bad), testTarget.keys.system)
          expect([name, bad, status]).toEqual([name, bad, 400])
        }
      }
    },
  )
  test.each(selectCases())('%s rejects NUL and invalid percent-encoding in the query', async (_, { method, path }) => {
    for (const bad of ['x=%00', 'x=%zz', '%ff=1'])
      expect([bad, (await call(method, `${path}?${bad}`, testTarget.keys.system)).status]).toEqual([bad, 400])
  })
  test.each(selectCases(({ route, target }) => hasProblem(target) && Object.keys(wrongTexts(route.query)).length > 0))(
    '%s reports every invalid query parameter',
    async (_, one) => {
      const wrong = wrongTexts(one.route.query)
      const { api_key: _key, ...sent } = wrong
      const { status, problem } = await call(one.method, `${one.path}?${new URLSearchParams(sent)}`, testTarget.keys.system)
      expect([status, problem?.code]).toEqual([400, 'invalid_input'])
      expect(topFields(problem ?? {})).toEqual(expect.arrayContaining(Object.keys(sent)))
    },
  )
  test.each(selectCases(({ route, target }) => hasProblem(target) && Object.keys(route.query.shape).length > 0))(
    '%s rejects a repeated query parameter',
    async (_, one) => {
      for (const name of Object.keys(one.route.query.shape)) {
        const { status, problem } = await call(one.method, `${one.path}?${name}=1&${name}=1`, testTarget.keys.system)
        if (name === one.route.apiKeyParam) expect(status).toBe(400)
        else expect([status, topFields(problem ?? {})]).toEqual([400, expect.arrayContaining([name])])
      }
    },
  )
})

describe('payloads', () => {
  const unknown = { surely_unknown: 1, is_admin: true, organization: 'x' }
  const forms = (route: Route, payload: Record<string, unknown>): [string, RequestInit, string][] => {
    const text = JSON.stringify(withFields(route, payload))
    const flat = new FormData()
    for (const [name, value] of Object.entries(payload)) flat.append(name, typeof value === 'string' ? value : JSON.stringify(value))
    const flatText = [...flat].map(([name, value]): [string, string] => [name, String(value)])
    const wrapped = new FormData()
    wrapped.append('data', text)
    return [
      ['JSON', { body: text, headers: json }, ''],
      ['data in a form', { body: new URLSearchParams({ data: text }) }, ''],
      ['data in a multipart form', { body: wrapped }, ''],
      ['flat fields', { body: new URLSearchParams(flatText) }, ''],
      ['flat fields of a multipart form', { body: flat }, ''],
      ['data in the query', {}, `?data=${encodeURIComponent(text)}`],
    ]
  }
  test.each(selectCases(isStrict))('%s rejects unknown fields by name in every payload form', async (_, { method, path, route }) => {
    const ownData = 'data' in payloadFields(route)
    for (const [form, init, query] of forms(route, unknown)) {
      if (ownData && form.startsWith('data')) continue
      const { status, problem } = await call(method, path + query, testTarget.keys.system, init)
      expect([form, status, topFields(problem ?? {})]).toEqual([form, 400, expect.arrayContaining(Object.keys(unknown))])
    }
  })
  test.each(selectCases((one) => isStrict(one) && one.route.payload !== undefined))(
    '%s rejects wrong types and names the fields',
    async (_, one) => {
      const wrong = wrongValues(z.object(payloadFields(one.route)))
      const body = JSON.stringify(withFields(one.route, wrong))
      const { status, problem } = await call(one.method, one.path, testTarget.keys.system, { body, headers: json })
      expect([status, problem?.code]).toEqual([400, 'invalid_input'])
      expect(topFields(problem ?? {})).toEqual(expect.arrayContaining(Object.keys(wrong)))
    },
  )
  test.each(selectCases((one) => isStrict(one) && one.route.payload !== undefined))(
    '%s rejects NUL and unpaired surrogates in every text',
    async (_, one) => {
      for (const text of ['a\\u0000b', '\\ud800']) {
        const names = Object.keys(payloadFields(one.route))
        const fields = `{${names.map((name) => `"${name}":"${text}"`).join(',')}}`
        const body = Array.isArray(withFields(one.route, {})) ? `[${fields}]` : fields
        const { status, problem } = await call(one.method, one.path, testTarget.keys.system, { body, headers: json })
        expect([status, topFields(problem ?? {})]).toEqual([400, expect.arrayContaining(names)])
      }
    },
  )
  test.each(selectCases(hasPayload))('%s rejects a payload that cannot be parsed in every form', async (_, { method, path, route }) => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const sent: [string, number, RequestInit, string?][] = [
      ['JSON that is cut off', 400, { body: '{"a":', headers: json }],
      ['JSON of another kind', 400, { body: isList(route) ? '"a text"' : '[]', headers: json }],
      ['null', 400, { body: 'null', headers: json }],
      ['a form that is badly encoded', 400, { body: 'a=%', headers: form }],
      ['data that is cut off', 400, { body: 'data={"a":', headers: form }],
      ['a multipart form that is cut off', 400, { body: '--b\r\n', headers: { 'content-type': 'multipart/form-data; boundary=b' } }],
      ['another content type', 415, { body: '{}', headers: { 'content-type': 'application/xml' } }],
      ['more than a MiB', 413, { body: 'x'.repeat(1024 * 1024 + 1), headers: json }],
      ...('data' in payloadFields(route)
        ? []
        : [['data in the query that is cut off', 400, {}, '?data={'] as [string, number, RequestInit, string]]),
    ]
    for (const [title, expected, init, query = ''] of sent) {
      expect([title, (await call(method, path + query, testTarget.keys.system, init)).status]).toEqual([title, expected])
    }
  })
})

describe('the API document', () => {
  test('has every method and path with its resource', async () => {
    const document = (await (await fetch(`${testTarget.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, Record<string, unknown>>>
    }
    const shape = (path: string) => path.replaceAll(/\{[^}]*\}|:\w+/g, '{}')
    const documented = new Map(
      Object.entries(document.paths).flatMap(([path, verbs]) =>
        Object.entries(verbs).map(([verb, operation]) => [`${verb} ${shape(path)}`, operation['x-acl-resource']] as const),
      ),
    )
    expect([...documented].sort()).toEqual(
      cases.map(({ target, route }) => [`${target.verb} ${shape(target.path)}`, route.resource]).sort(),
    )
  })
})
