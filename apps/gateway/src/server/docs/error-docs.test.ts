import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from '@jest/globals'
import { DomainError, type ErrorKind } from '@vitascope/errors'
import { routes } from '../../table.ts'
import { toHttpStatus } from '../http/problem.ts'
import { statusesOfCode } from './code-statuses.ts'
import { GENERAL_CODES } from './error-docs.ts'
import { operationErrors } from './problem-responses.ts'

const errors = (verb: string, path: string) => {
  const route = routes.find((one) => one.verb === verb && one.paths[0] === path)
  if (!route) throw new Error(`no route ${verb} ${path}`)
  return operationErrors(route, route.verb)
}
const documented = (verb: string, path: string) => Object.keys(errors(verb, path))

test.each([
  ['get', '/video/:videoId'],
  ['get', '/video'],
  ['get', '/user'],
  ['post', '/user'],
  ['post', '/video/upload'],
  ['get', '/video/upload'],
  ['delete', '/media'],
])('%s %s refers to records by id and documents 404', (verb, path) => {
  expect(documented(verb, path)).toContain('404')
})

test.each([
  ['get', '/id'],
  ['get', '/organisation/all'],
  ['post', '/organisation'],
])('%s %s refers to no record and documents no 404', (verb, path) => {
  expect(documented(verb, path)).not.toContain('404')
})

test('public routes document 403 for keys of an inactive organisation', () => {
  expect(documented('get', '/video/:videoId')).toContain('403')
})

test('every noun in a path has a not-found code', () => {
  for (const noun of ['api_key', 'job', 'media', 'organisation', 'user', 'video']) expect(GENERAL_CODES).toHaveProperty(`${noun}_not_found`)
})

test('every documented code has a status and every code of a route a description', () => {
  const codes = new Set([...Object.keys(GENERAL_CODES), ...routes.flatMap(({ errorCodes }) => Object.keys(errorCodes))])
  expect([...codes].filter((code) => statusesOfCode(code).length === 0)).toEqual([])
  const used = new Set(routes.flatMap((route) => Object.values(operationErrors(route, route.verb)).flatMap(({ codes }) => codes)))
  expect([...used].filter((code) => !codes.has(code))).toEqual([])
})

test('the statuses of codes are those of the errors that services throw', () => {
  const thrown = thrownErrors()
  expect(thrown.size).toBeGreaterThan(100)
  const wrong = [...thrown].flatMap(([code, statuses]) => {
    const declared = statusesOfCode(code)
    return declared.length === 0 || isDeepStrictEqual([...statuses].sort(), declared) ? [] : [{ code, thrown: [...statuses], declared }]
  })
  expect(wrong).toEqual([])
})

test('the codes of a route belong to the response of their status, with the general codes', () => {
  expect(errors('post', '/playlist/create/:organisationId')).toMatchObject({
    404: { name: 'OrganisationNotFound', codes: ['organisation_not_found'] },
    409: { name: 'RequestRunning', codes: ['idempotency_running'] },
  })
  expect(errors('put', '/playlist/:playlistId/add/video/:videoId')).toMatchObject({
    404: { codes: ['playlist_not_found', 'video_not_found'] },
    409: { codes: ['playlist_full'] },
  })
  expect(errors('patch', '/upload/tus/:uploadId')[460]).toMatchObject({ codes: ['checksum_mismatch'] })
  expect(errors('post', '/video/upload')[409]).toMatchObject({ codes: ['idempotency_running', 'organisation_inactive'] })
})

/** Returns the statuses of the errors that the sources of all services throw, by code. */
function thrownErrors(): Map<string, Set<number>> {
  const root = fileURLToPath(new URL('../../../../../', import.meta.url))
  const files = globSync('{apps,libs}/*/src/**/*.ts', { cwd: root }).filter((file) => !/test|suite|generated/.test(file))
  const statuses = new Map<string, Set<number>>()
  const add = (kind: string, reason: string) => {
    const code = reason.toLowerCase()
    // The pattern below matches only kinds of errors.
    const status = toHttpStatus(new DomainError(kind as ErrorKind, reason, ''))
    statuses.set(code, (statuses.get(code) ?? new Set()).add(status))
  }
  for (const file of files) {
    const source = readFileSync(join(root, file), 'utf8')
    for (const [, kind = '', reason = ''] of source.matchAll(/omainError\(\s*'([a-z_]+)',\s*'([A-Z_]+)'/g)) add(kind, reason)
    for (const [, noun = ''] of source.matchAll(/notFound\('([a-z ]+)'/g))
      add('not_found', `${noun.toUpperCase().replaceAll(' ', '_')}_NOT_FOUND`)
  }
  return statuses
}
