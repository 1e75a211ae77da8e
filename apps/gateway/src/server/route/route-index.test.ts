import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { route } from './route.ts'
import { incompletePaths, indexRoutes } from './route-index.ts'

const common = { operationId: 'callSample', section: 'S', access: 'public', response: z.unknown(), handle: async () => ({}) } as const
const patterns = (...paths: string[]) =>
  indexRoutes(paths.map((path) => route({ get: [path], summary: path, ...common }))).map(({ pattern }) => pattern)

test('literal segments take precedence over parameters, segment by segment', () => {
  expect(
    patterns('/video/:videoId', '/video/:videoId/token', '/video/upload', '/video/tag/:tag', '/caption/:id', '/caption/:id.:format'),
  ).toEqual(['/video/tag/:p0', '/video/upload', '/caption/:p0.:p1', '/caption/:p0', '/video/:p0', '/video/:p0/token'])
})

test('a path with an optional segment matches with and without it', () => {
  expect(patterns('/video/organisation/:org{/:by{/:type}}')).toEqual([
    '/video/organisation/:p0',
    '/video/organisation/:p0/:p1',
    '/video/organisation/:p0/:p1/:p2',
  ])
})

test('routes of the same path pattern keep their own methods and parameter names', () => {
  const [entry] = indexRoutes([
    route({ get: ['/user/:email'], summary: 'read', ...common }),
    route({ delete: ['/user/:userId'], summary: 'delete', ...common }),
  ])
  expect([...(entry?.targets ?? [])].map(([verb, { params }]) => [verb, params])).toEqual([
    ['get', ['email']],
    ['delete', ['userId']],
  ])
})

test('rejects a method and path that are declared twice', () => {
  expect(() => patterns('/user/:email', '/user/:id')).toThrow('two routes for get /user/:id')
})

test('knows the prefixes of longer paths, unless they are paths themselves', () => {
  const findIncompletePaths = (...paths: string[]) => [
    ...incompletePaths(paths.map((path) => route({ post: [path], summary: path, ...common }))),
  ]
  expect(findIncompletePaths('/playlist/create/:org', '/playlist/:id')).toEqual([['/playlist/create', '/playlist/create/:org']])
  expect(findIncompletePaths('/video/upload', '/video/upload/:id', '/video/:id')).toEqual([])
})
