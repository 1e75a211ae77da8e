import { expect, test } from '@jest/globals'
import { routes } from '../../table.ts'
import { GENERAL_CODES, generalErrors } from './error-docs.ts'

const documented = (verb: string, path: string) => {
  const route = routes.find((one) => one.verb === verb && one.paths[0] === path)
  if (!route) throw new Error(`no route ${verb} ${path}`)
  return Object.keys(generalErrors(route, route.verb))
}

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
