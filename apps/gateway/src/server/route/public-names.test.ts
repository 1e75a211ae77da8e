import { expect, test } from '@jest/globals'
import { invalid } from '@vitascope/errors'
import { z } from 'zod'
import { withPublicNames } from './public-names.ts'
import { type Context, type RouteDeclaration, route } from './route.ts'

test('field errors of a service use the public parameter names', async () => {
  const invalidFields = invalid([
    { field: 'source_url', message: 'must be reachable' },
    { field: 'allowed_ips[1]', message: 'must be an address' },
    { field: 'title', message: 'must not be blank' },
  ])
  const response = withPublicNames({ source_url: 'url', allowed_ips: 'security.allowed_ips' }, Promise.reject(invalidFields))
  await expect(response).rejects.toMatchObject({
    kind: 'invalid',
    message: 'bad fields: url, security.allowed_ips[1], title',
    fields: [{ field: 'url' }, { field: 'security.allowed_ips[1]' }, { field: 'title' }],
  })
})

const LIST_FIELDS = ['page_token', 'skip', 'page_size', 'query']

test('a route with a cursor uses the public names of the paging fields', async () => {
  const query = z.object({ cursor: z.string().optional() })
  expect(await rejectedFields({ query, publicNames: { query: 'q' } })).toEqual(['cursor', 'start', 'limit', 'q'])
})

test('a route without other names passes field errors on unchanged', async () => {
  expect(await rejectedFields({})).toEqual(LIST_FIELDS)
})

async function rejectedFields(declared: Partial<RouteDeclaration<z.ZodObject, z.ZodObject, z.ZodObject, z.ZodType>>): Promise<string[]> {
  const invalidFields = invalid(LIST_FIELDS.map((field) => ({ field, message: 'is invalid' })))
  const { handle } = route({
    get: ['/video'],
    operationId: 'listVideos',
    section: 'Videos',
    access: 'user',
    summary: 'List videos',
    response: z.unknown(),
    handle: () => Promise.reject(invalidFields),
    ...declared,
  })
  // The handler does not use its context.
  const error = await handle({ params: {}, query: {}, payload: {} }, {} as Context).catch((thrown: typeof invalidFields) => thrown)
  return (error as typeof invalidFields).fields.map(({ field }) => field)
}
