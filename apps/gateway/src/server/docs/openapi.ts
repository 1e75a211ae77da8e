import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'
import { withSynonyms } from '../payload/accepted-fields.ts'
import { FILE_PART } from '../payload/file-form.ts'
import type { PayloadShape } from '../payload/payload-schema.ts'
import { flatFields } from '../payload/payload-schema.ts'
import { findSuccessor } from '../route/deprecation.ts'
import type { Route } from '../route/route.ts'
import { indexRoutes, type PathEntry, publicName, type Target } from '../route/route-index.ts'
import { codeSamples } from './code-samples.ts'
import { operationTexts } from './operation-texts.ts'
import { problemResponses } from './problem-responses.ts'
import { tagObjects, tagPosition } from './tags.ts'
import { registerWebhookEvents } from './webhook-events.ts'

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>

/** Version of the API, not of the product. It changes when clients must change. */
export const API_VERSION = '2.0.0'

/** Returns the OpenAPI 3.1 document of a route table, including all aliases and spellings. */
export function openApiDocument(routes: readonly Route[], version: string): OpenApiDocument {
  const registry = new OpenAPIRegistry()
  registry.registerComponent('securitySchemes', 'basic', {
    type: 'http',
    scheme: 'basic',
    description: 'Send the API key as user name and `x` as password.',
  })
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'Send the API key as bearer token.',
  })
  registry.registerComponent('securitySchemes', 'query', {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description: 'API key as query parameter, for JSONP.',
  })
  const payloads = new Map(routes.flatMap((route) => (route.payload ? [[route, payloadWithId(route, route.payload)]] : [])))
  const errorResponses = problemResponses(registry)
  for (const entry of sortForReaders(indexRoutes(routes), routes)) {
    const names = sharedNames(entry)
    for (const target of entry.targets.values()) {
      const { responses, ...rest } = operation(target, names, payloads.get(target.route))
      const { route, verb } = target
      registry.registerPath({ ...rest, tags: [route.section], responses: { ...responses, ...errorResponses(route, verb) } })
    }
  }
  registerWebhookEvents(registry)
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Vitascope API',
      version,
      description: INTRODUCTION,
      contact: { name: 'The operator of this platform' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/v2' }],
    tags: tagObjects(new Set(routes.map(({ section }) => section))),
  })
  for (const parameter of listParameters(document)) declareJson(parameter)
  return document
}

/** Sorts paths by tag, and the paths of a tag in the order of the route table. */
function sortForReaders(entries: PathEntry[], routes: readonly Route[]): PathEntry[] {
  const positions = new Map(routes.map((route, index) => [route, tagPosition(route.section) * routes.length + index]))
  const position = ({ targets }: PathEntry) => Math.min(...[...targets.values()].map(({ route }) => positions.get(route) ?? 0))
  const isAlias = ({ targets }: PathEntry) => Number([...targets.values()].every(({ documented }) => !documented))
  return entries.sort((a, b) => position(a) - position(b) || isAlias(a) - isAlias(b))
}

interface Parameter {
  in: string
  schema?: { type?: unknown }
  content?: object
}

function listParameters({ paths = {} }: OpenApiDocument): Parameter[] {
  const operations = Object.values(paths).flatMap((verbs) => Object.values(verbs as Record<string, { parameters?: Parameter[] }>))
  return operations.flatMap(({ parameters = [] }) => parameters)
}

/**
 * Declares a query parameter that contains an object as JSON text. The default style would send each
 * field as a separate parameter.
 */
function declareJson(parameter: Parameter): void {
  const { schema } = parameter
  if (parameter.in !== 'query' || schema?.type !== 'object') return
  delete parameter.schema
  parameter.content = { 'application/json': { schema } }
}

const INTRODUCTION = `API for hosting and delivery of videos. A write accepts its payload in three forms. The first is a JSON body. The second is JSON
text in \`data\`, which is a form field or a query parameter. The third is the flat fields of a form. In a form, lists and objects
are JSON texts, and lists may also be repeated fields. Unknown fields are rejected. Errors are problem documents (RFC 9457) with a
stable \`code\`.`

/**
 * Returns the payload with a schema id, so that all three forms and all spellings share one schema.
 */
function payloadWithId({ operationId, synonyms = {} }: Route, payload: PayloadShape): PayloadShape {
  const id = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Payload`
  return payload instanceof z.ZodObject ? withSynonyms(payload, synonyms).strict().meta({ id }) : payload.meta({ id })
}

/**
 * Returns the parameter names of a path. Two routes may use different names for one position, and
 * the document needs one name.
 */
function sharedNames({ targets }: PathEntry): string[] {
  const paramNames = [...targets.values()].map(({ params }) => params.map(publicName))
  return (paramNames[0] ?? []).map((_, index) => [...new Set(paramNames.map((names) => names[index] ?? ''))].join('_or_'))
}

function operation(target: Target, names: readonly string[], payload: PayloadShape | undefined): RouteConfig {
  const { route, verb, path } = target
  let index = 0
  return {
    method: verb,
    path: path.replaceAll(/:\w+/g, () => `{${names[index++]}}`),
    ...operationTexts(target),
    security: security(route),
    'x-acl-resource': route.resource,
    'x-access': route.access,
    'x-cost': route.cost,
    ...(Object.keys(route.errorCodes).length > 0 && { 'x-rejections': route.errorCodes }),
    ...codeSamples(target),
    request: {
      params: buildPathSchema(target, names),
      query: buildQuerySchema(target),
      ...buildHeaderSchema(target),
      ...body(target, payload),
    },
    responses: {
      [String(route.status)]: {
        description: 'The request succeeded.',
        headers: responseHeaders(target),
        ...(route.contentTypes.length > 0 && { content: responseContent(route) }),
      },
      ...(verb === 'get' &&
        route.readOnly && { '304': { description: 'The resource has not changed since the `ETag` in `If-None-Match`.' } }),
    },
  }
}

function responseContent({ contentTypes, response }: Route): Record<string, { schema: z.ZodType }> {
  return Object.fromEntries(contentTypes.map((type) => [type, { schema: type === 'application/json' ? response : z.string() }]))
}

const requestId = z.string().meta({ description: 'Request id. Echoes the client’s `X-Request-Id` if it is valid.', example: 'b7e1…' })

const DEPRECATION = {
  Deprecation: z
    .string()
    .meta({ description: 'Time since which the path is deprecated, as `@` and seconds since 1970 (RFC 9745).', example: '@1793491200' }),
  Sunset: z.string().meta({ description: 'The path works at least until this time (RFC 8594).', example: 'Tue, 01 Jan 2030 00:00:00 GMT' }),
}

function responseHeaders(target: Target): z.ZodObject {
  const { route, verb } = target
  const common = { 'X-Request-Id': requestId, ...(findSuccessor(target) && DEPRECATION) }
  if (verb !== 'get' || !route.readOnly) return z.object({ ...common, ...route.docs.responseHeaders?.shape })
  return z.object({
    ...common,
    ETag: z.string().optional().meta({
      description: 'Entity tag of the response. A request with this value in `If-None-Match` returns 304 if nothing has changed.',
    }),
    ...(Object.hasOwn(route.query.shape, 'limit') && {
      Link: z.string().optional().meta({ description: 'URL of the next page, with `rel="next"`.' }),
    }),
  })
}

function security({ access, apiKeyParam }: Route): Record<string, string[]>[] {
  return [...(access === 'public' ? [{}] : []), ...(apiKeyParam ? [{ query: [] }] : []), { basic: [] }, { bearer: [] }]
}

/** Returns the parameters of this path only, because a spelling may omit an optional part. */
function buildPathSchema({ route, params }: Target, names: readonly string[]): z.ZodObject {
  return z.object(
    Object.fromEntries(params.map((name, index) => [names[index] ?? name, unwrapOptional(route.params.shape[name] ?? z.string())])),
  )
}

/**
 * Removes optional and default wrappers, because a path parameter is always required in the
 * document.
 */
function unwrapOptional(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? unwrapOptional(schema.unwrap()) : schema
}

/** Returns the query parameters. Writes also accept their payload in the query. */
function buildQuerySchema({ route, verb }: Target): z.ZodObject {
  if (verb === 'get' || !route.payload || hasData(route)) return route.query
  return route.query.extend({ data: z.string().optional().meta({ description: 'Payload as JSON text, if there is no body.' }) })
}

function buildHeaderSchema({ route, verb }: Target): Pick<NonNullable<RouteConfig['request']>, 'headers'> {
  const { requestHeaders } = route.docs
  if (route.isConditional) return { headers: IF_MATCH }
  if (verb !== 'post') return requestHeaders ? { headers: requestHeaders } : {}
  return { headers: IDEMPOTENCY.extend(requestHeaders?.shape ?? {}) }
}

const IF_MATCH = z.object({
  'If-Match': z
    .string()
    .regex(/^(\*|"[\w-]{27}\.\d{1,15}")$/)
    .optional()
    // An example would be in the samples of the API page, which would fail because of it.
    .meta({
      description:
        'An `ETag` that GET of the same path returned to a key of the organisation. If the record has changed since then, the response is 412 and the ' +
        'record stays as it is. `*` and no header change it in any case.',
    }),
})

const IDEMPOTENCY = z.object({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({ description: 'A retry with the same key and payload returns the stored response for 24 h.' }),
})

/** Returns true if the payload has a field named `data`, which then is an ordinary field. */
function hasData(route: Route): boolean {
  return Object.hasOwn(flatFields(route)?.shape ?? {}, 'data')
}

function body(target: Target, payload: PayloadShape | undefined): Pick<NonNullable<RouteConfig['request']>, 'body'> {
  const { route, verb } = target
  const proxied = route.docs.body
  if (proxied) return { body: { content: Object.fromEntries(Object.entries(proxied).map(([type, schema]) => [type, { schema }])) } }
  if (verb === 'get' || !payload || isPayloadInPath(target, payload)) return {}
  const wrapped = z.object({ data: z.string().meta({ description: 'Payload as JSON text.' }) })
  const { payloadField } = route
  const flat = flatFields({ payload, payloadField }) ?? (payload instanceof z.ZodRecord ? payload : undefined)
  const payloadType = flat ? z.union([flat, wrapped]) : wrapped
  const form = hasData(route) && flat ? flat : payloadType
  const json = payloadField === undefined ? payload : z.union([payload, z.strictObject({ [payloadField]: payload })])
  const example = route.docs.example ?? (route.payload && buildExample(route.payload))
  return {
    body: {
      required: !route.payloadOptional,
      content: {
        'application/json': { schema: json, ...(example && { example }) },
        ...(route.plainJson && { 'text/plain': { schema: json } }),
        ...(route.lines && { [route.lines.type]: { schema: z.string() }, 'text/plain': { schema: z.string() } }),
        'application/x-www-form-urlencoded': { schema: form },
        'multipart/form-data': {
          schema: route.fileForm ? z.union([form, withFile(withSynonyms(route.fileForm.payload, route.synonyms ?? {}))]) : form,
        },
        ...Object.fromEntries((route.file?.contentTypes ?? []).map((type) => [type, { schema: { type: 'string', format: 'binary' } }])),
      },
    },
  }
}

/** Returns the fields of a form that contains a file. */
function withFile(fields: z.ZodObject): z.ZodObject {
  const file = z.string().meta({ format: 'binary', description: 'The file. It is the last part of the form.' })
  return fields.extend({ [FILE_PART]: file }).strict()
}

/** Returns true if the path has all fields of the payload, which must then not be in the body. */
function isPayloadInPath({ params }: Target, payload: PayloadShape): boolean {
  const names = payload instanceof z.ZodObject ? Object.keys(payload.shape) : []
  return names.length > 0 && names.every((name) => params.includes(name))
}

/**
 * Returns the required fields with their examples, so that the request works as shown. Returns
 * undefined if a field has no example.
 */
function buildExample(payload: PayloadShape): Record<string, unknown> | undefined {
  if (!(payload instanceof z.ZodObject)) return undefined
  const { properties = {}, required = [] } = z.toJSONSchema(payload, { io: 'input', unrepresentable: 'any' })
  const fields = required.map((name) => [name, fieldExample(properties[name])] as const)
  return fields.length > 0 && fields.every(([, example]) => example !== undefined) ? Object.fromEntries(fields) : undefined
}

function fieldExample(schema: z.core.JSONSchema._JSONSchema | undefined): unknown {
  if (typeof schema !== 'object') return undefined
  return schema['example'] ?? schema.enum?.[0]
}
