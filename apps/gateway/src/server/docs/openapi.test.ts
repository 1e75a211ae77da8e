import { expect, test } from '@jest/globals'
import { EVENT_TYPES } from '@vitascope/proto/event-types'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { routes } from '../../table.ts'
import { inputSchemas } from '../routing/input.ts'
import { API_VERSION, openApiDocument } from './openapi.ts'

interface Schema {
  type?: string | string[]
  description?: string
  enum?: unknown[]
  items?: Schema
  prefixItems?: unknown
  properties?: Record<string, Schema>
  example?: unknown
}
interface Parameter {
  name: string
  in: string
  required?: boolean
  schema?: Schema
  content?: Record<string, { schema: Schema }>
}
interface ErrorResponse {
  $ref?: string
  content?: Record<string, { schema: { allOf: Schema[] } }>
}
interface Operation {
  operationId: string
  summary: string
  description: string
  deprecated?: boolean
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: object; example?: unknown }> }
  responses: Record<string, { headers?: object }>
}

const document = openApiDocument(routes, API_VERSION)
const operations = Object.entries(document.paths ?? {}).flatMap(([path, verbs]) =>
  Object.entries(verbs as Record<string, Operation>).map(([verb, operation]) => ({ name: `${verb} ${path}`, operation })),
)
const parameters = operations.flatMap(({ name, operation }) => (operation.parameters ?? []).map((parameter) => ({ name, parameter })))

test('every operation has an id of its own, which is a verb and a noun in camel case', () => {
  const ids = operations.map(({ operation }) => operation.operationId)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z0-9]*)+$/.test(id))).toEqual([])
  expect(ids).toEqual(expect.arrayContaining(['uploadVideo', 'listVideos', 'addVideoToPlaylist']))
})

test('every summary is used once and has at most eight words before its parentheses', () => {
  const summaries = operations.map(({ operation }) => operation.summary)
  expect(summaries.filter((summary, index) => summaries.indexOf(summary) !== index)).toEqual([])
  expect(summaries.filter((summary) => summary.replace(/ \(.*/, '').split(' ').length > 8)).toEqual([])
})

test('aliases are deprecated and name the operation to use, and short forms of a path are not', () => {
  const aliases = operations.filter(({ operation }) => operation.deprecated)
  expect(aliases.map(({ name }) => name).sort()).toEqual([
    'delete /collaborate/item/{collaborate_id}/delete',
    'get /apikey/user_id/{user_id}',
    'get /security/{ip_address}',
    'post /folder/{folder_id}/video/{video_id}/delete',
    'put /folder/{folder_id}/delete/{organisation_id}',
    'put /playlist/create/{organisation_id}',
    'put /playlist/{playlist_id}/remove/video/{video_id}',
  ])
  const ids = new Set(operations.map(({ operation }) => operation.operationId))
  for (const { name, operation } of aliases) {
    const [, id = ''] = /^Deprecated\. See `(\w+)` \(`[A-Z]+ \/[^`]+`\)\./.exec(operation.description) ?? []
    expect([name, ids.has(id)]).toEqual([name, true])
  }
  expect(operations.find(({ name }) => name === 'get /embed/{id}')?.operation).toMatchObject({
    operationId: 'getEmbedCodeWithoutType',
    summary: 'Read an embed code (path without type)',
    description: expect.stringMatching(/^Short form of `getEmbedCode` \(`GET \/embed\/\{id\}\/\{type\}`\)\./),
  })
})

test('every path parameter is required', () => {
  const inPaths = parameters.filter(({ parameter }) => parameter.in === 'path')
  expect(inPaths.length).toBeGreaterThan(100)
  expect(inPaths.filter(({ parameter }) => parameter.required !== true).map(({ name, parameter }) => [name, parameter.name])).toEqual([])
})

test('a query parameter that holds an object is described as JSON with an example', () => {
  const objects = parameters.filter(
    ({ parameter }) => parameter.in === 'query' && (parameter.schema?.type === 'object' || parameter.content),
  )
  expect(objects.map(({ name, parameter }) => [name, parameter.name])).toEqual([
    ['get /analytics/views/{organisation_id}', 'filter'],
    ['get /analytics/views/{organisation_id}/per-day', 'filter'],
    ['get /analytics/views/{organisation_id}/per-video', 'filter'],
  ])
  for (const { parameter } of objects) {
    expect(parameter.schema).toBeUndefined()
    const { schema } = parameter.content?.['application/json'] ?? {}
    expect(schema).toMatchObject({ type: 'object', properties: { video_id: { type: 'array' } }, example: { video_id: ['42'] } })
  }
})

test('every array has items and none is a tuple', () => {
  const arrays: Schema[] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if ((value as Schema).type === 'array') arrays.push(value as Schema)
    for (const inner of Object.values(value)) walk(inner)
  }
  walk(document)
  expect(arrays.length).toBeGreaterThan(50)
  expect(arrays.filter(({ items, prefixItems }) => typeof items !== 'object' || prefixItems !== undefined)).toEqual([])
})

test('every tag has a description', () => {
  expect(document.tags?.filter(({ description = '' }) => description.length < 20)).toEqual([])
})

test('every event that webhooks can subscribe to is described below `webhooks`, with a schema', () => {
  const webhooks = (document.webhooks ?? {}) as unknown as Record<string, { post: Operation }>
  expect(Object.keys(webhooks)).toEqual([...EVENT_TYPES, 'webhook.test'])
  for (const { post } of Object.values(webhooks)) {
    expect(post.requestBody?.content['application/json']?.schema).toEqual({ $ref: expect.stringMatching(/Event$/) })
  }
})

test('videos are first, in the list of tags and in the list of paths', () => {
  expect(document.tags?.slice(0, 3).map(({ name }) => name)).toEqual(['Videos', 'Upload signing', 'Media'])
  expect(Object.keys(document.paths ?? {}).slice(0, 2)).toEqual(['/video', '/video/{video_id}'])
})

const bodies = operations.flatMap(({ name, operation }) => {
  const json = operation.requestBody?.content['application/json']
  return json ? [{ name, operation, ...json }] : []
})

test('every JSON payload has an example that its schema accepts', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(JSON.parse(JSON.stringify(document)), 'api')
  expect(bodies.length).toBeGreaterThan(50)
  for (const { name, schema, example } of bodies) {
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components'))
    const validate = ajv.compile(absolute)
    expect([name, validate(example), validate.errors]).toEqual([name, true, null])
  }
})

test('the router accepts every example', () => {
  for (const { name, operation, example } of bodies) {
    const route = findRoute(operation)
    if (!route) throw new Error(`no route of ${name}`)
    const { success, error } = inputSchemas(route).payload.safeParse(example)
    expect([name, success, error?.issues]).toEqual([name, true, undefined])
  }
})

test('generated examples have the required fields only', () => {
  expect(bodies.find(({ name }) => name === 'post /video/upload')?.example).toEqual({
    url: 'https://media.example.org/launch.mp4',
    organisation_id: '1',
  })
})

test('a path that has all fields of the payload has no body', () => {
  const find = (path: string) => operations.find(({ name }) => name === `post ${path}`)?.operation
  expect(find('/tag/video/add/{video_id}/{tags}')?.requestBody).toBeUndefined()
  expect(find('/tag/video/add/{video_id}')?.requestBody).toBeDefined()
})

test('the headers and the body of tus requests are described', () => {
  const append = operations.find(({ operation }) => operation.operationId === 'appendTusUpload')?.operation
  const names = append?.parameters?.filter((parameter) => parameter.in === 'header').map(({ name, required }) => [name, required])
  expect(names).toEqual([
    ['Tus-Resumable', true],
    ['Upload-Offset', true],
    ['Upload-Length', false],
    ['Upload-Checksum', false],
  ])
  expect(Object.keys(append?.requestBody?.content ?? {})).toEqual(['application/offset+octet-stream'])
  expect(Object.keys(append?.responses['204']?.headers ?? {})).toEqual(
    expect.arrayContaining(['Tus-Resumable', 'Upload-Offset', 'Upload-Expires', 'X-Video-Id', 'X-Job-Id']),
  )
})

test('every error response lists its codes, and general ones are shared', () => {
  const components = document.components?.responses as unknown as Record<string, ErrorResponse>
  const isError = ([status]: [string, unknown]) => Number(status) >= 400
  for (const { name, operation } of operations.filter(({ name: one }) => !one.startsWith('head '))) {
    for (const [status, response] of Object.entries(operation.responses).filter(isError) as [string, ErrorResponse][]) {
      const shared = components[response.$ref?.split('/').at(-1) ?? '']
      const codes = (shared ?? response).content?.['application/problem+json']?.schema.allOf[1]?.properties?.['code']?.enum
      expect([name, status, codes?.length]).toEqual([name, status, expect.any(Number)])
    }
    expect([name, operation.responses['431']]).toEqual([name, { $ref: '#/components/responses/HeadersTooLarge' }])
  }
})

test('every text of a response has a description, and an example or a list of its values', () => {
  const schemas = Object.entries((document.components?.schemas ?? {}) as unknown as Record<string, Schema>)
  const missing: string[] = []
  const walk = (path: string, { type, properties = {}, items, description, example, enum: values }: Schema, isField = false): void => {
    const isText = [type].flat().includes('string')
    if (isField && isText && values === undefined && (description === undefined || example === undefined)) missing.push(path)
    for (const [name, field] of Object.entries(properties)) walk(`${path}.${name}`, field, true)
    if (items) walk(`${path}[]`, items)
  }
  for (const [name, schema] of schemas.filter(([name]) => !/Payload$|Event$|^Problem$/.test(name))) walk(name, schema)
  expect(schemas.length).toBeGreaterThan(50)
  expect(missing).toEqual([])
})

/** Returns the route of an operation or of its alias. */
function findRoute({ operationId, description }: Operation) {
  const [, first] = /^(?:Deprecated\. See|Short form of) `(\w+)`/.exec(description) ?? []
  return routes.find((route) => route.operationId === (first ?? operationId))
}
