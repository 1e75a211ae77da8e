import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'
import { flatFields } from '../payload/payload-form.ts'
import type { PayloadShape } from '../payload/payload-shape.ts'
import type { Access, Route } from '../route.ts'
import { publicName } from '../routing/input.ts'
import { indexRoutes, type PathEntry, type Target } from '../routing/route-index.ts'
import { generalRefusals, problemSchema } from './refusal-docs.ts'

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>

/** Of the API, not of the product: it changes when callers have to. */
export const API_VERSION = '2.0.0'

/** The OpenAPI 3.1 document of a table of routes, every alias and spelling included. */
export function openApiDocument(routes: readonly Route[], version: string): OpenApiDocument {
  const registry = new OpenAPIRegistry()
  registry.registerComponent('securitySchemes', 'basic', {
    type: 'http',
    scheme: 'basic',
    description: 'The key is the user name, and the password is `x`.',
  })
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer', description: 'The key.' })
  registry.registerComponent('securitySchemes', 'query', {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description: 'The key, for JSONP.',
  })
  const payloads = new Map(routes.flatMap((route) => (route.payload ? [[route, namedPayload(route, route.payload)]] : [])))
  const tags = new Map(routes.map((route) => [route, tagOf(route, routes)]))
  for (const entry of indexRoutes(routes)) {
    const names = sharedNames(entry)
    for (const target of entry.targets.values()) {
      const tag = tags.get(target.route) ?? target.route.section
      registry.registerPath({ ...operation(target, names, payloads.get(target.route)), tags: [tag] })
    }
  }
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: { title: 'Vitascope API', version, description: INTRODUCTION, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/v2' }],
    tags: [...new Set(tags.values())].map((name) => ({ name })),
  })
}

const INTRODUCTION = `Hosting and delivery of videos. Every write takes its payload as a JSON body, as a form field or query parameter \`data\` holding a
JSON string, or as the flat fields of a form (lists and objects as JSON strings, lists also as repeated fields). An unknown field is refused.
Refusals are problem documents (RFC 9457) with a stable \`code\`.`

/** The same fields in all three forms and under every spelling: one schema. */
function namedPayload(route: Route, payload: PayloadShape): PayloadShape {
  const words = (route.paths[0] ?? '').replaceAll(/[:{}]/g, '').split(/[^A-Za-z0-9]+/)
  const id = `${[route.verb, ...words].map(capital).join('')}Payload`
  return payload instanceof z.ZodObject ? payload.strict().meta({ id }) : payload.meta({ id })
}

/** The noun that readers look under; what is added to the interface document stands with the rest of its noun. */
function tagOf(route: Route, routes: readonly Route[]): string {
  if (route.section !== 'Added') return route.section
  const noun = (path = '') => path.split('/')[1] ?? ''
  const own = noun(route.paths[0])
  return routes.find(({ section, paths }) => section !== 'Added' && noun(paths[0]) === own)?.section ?? `${capital(own)}s`
}

/** Two routes may call the parameter in one place of a path differently; the document has one name for it. */
function sharedNames({ targets }: PathEntry): string[] {
  const all = [...targets.values()].map(({ params }) => params.map(publicName))
  return (all[0] ?? []).map((_, index) => [...new Set(all.map((names) => names[index] ?? ''))].join('_or_'))
}

function operation(target: Target, names: readonly string[], payload: PayloadShape | undefined): RouteConfig {
  const { route, verb, path } = target
  const statuses = generalRefusals(route, verb)
  let place = 0
  return {
    method: verb,
    path: path.replaceAll(/:\w+/g, () => `{${names[place++]}}`),
    operationId: operationId(target),
    summary: route.summary,
    description: description(target),
    security: security(route),
    'x-acl-resource': route.resource,
    'x-access': route.access,
    'x-cost': route.cost,
    ...(Object.keys(route.refusals).length > 0 && { 'x-refusals': route.refusals }),
    request: { params: paramsOf(target, names), query: queryOf(target), ...headersOf(target), ...body(target, payload) },
    responses: {
      [String(route.status)]: {
        description: 'Success',
        headers: answerHeaders(target),
        ...(route.types.length > 0 && { content: answerContent(route) }),
      },
      ...(verb === 'get' && route.safe && { '304': { description: 'Nothing has changed since the `ETag` that `If-None-Match` names.' } }),
      ...Object.fromEntries(
        Object.entries(statuses).map(([status, text]) => [
          status,
          // The answer to HEAD has no body.
          { description: text, ...(verb !== 'head' && { content: { 'application/problem+json': { schema: problemSchema } } }) },
        ]),
      ),
    },
  }
}

function answerContent({ types, answer }: Route): Record<string, { schema: z.ZodType }> {
  return Object.fromEntries(types.map((type) => [type, { schema: type === 'application/json' ? answer : z.string() }]))
}

const requestId = z.string().meta({ description: 'Names the request in logs: yours if it was sane, else made.', example: 'b7e1…' })

function answerHeaders({ route, verb }: Target): z.ZodObject {
  if (verb !== 'get' || !route.safe) return z.object({ 'X-Request-Id': requestId })
  return z.object({
    'X-Request-Id': requestId,
    ETag: z
      .string()
      .optional()
      .meta({ description: 'Of what was read: sent back as `If-None-Match` it is answered 304 while nothing has changed.' }),
    ...(Object.hasOwn(route.query.shape, 'limit') && {
      Link: z.string().optional().meta({ description: '`rel="next"`: where the list goes on.' }),
    }),
  })
}

/** `getVideoByVideoId`: unique, since verb and path are. */
function operationId({ verb, path }: Target): string {
  const words = path.split(/[/.]/).flatMap((segment) => {
    if (segment === '') return []
    const name = segment.startsWith(':') ? `by-${publicName(segment.slice(1))}` : segment
    return name.split(/[-_]/)
  })
  return verb + words.map(capital).join('')
}

function description({ route, documented }: Target): string {
  const first = `${route.verb.toUpperCase()} ${route.paths[0]?.replaceAll(/:(\w+)/g, (_, name: string) => `{${publicName(name)}}`)}`
  const refusals = Object.entries(route.refusals).map(([code, text]) => `- \`${code}\`: ${text}`)
  return [
    ...(documented ? [] : [`Another spelling of \`${first}\`.`]),
    ...(route.description === '' ? [] : [route.description]),
    ...(route.section === 'Added' ? ['Added to the interface document.'] : []),
    WHO_MAY[route.access],
    ...(route.access === 'public' ? [] : [`ACL resource: \`${route.resource}\`.`]),
    ...(refusals.length > 0 ? [`Refusals of its own:\n${refusals.join('\n')}`] : []),
  ].join('\n\n')
}

const WHO_MAY: Record<Access, string> = {
  public: 'Anybody may call it; a key that is sent must be a good one.',
  user: 'For keys of all users.',
  super: 'For keys of super users and system users.',
  system: 'For keys of system users.',
}

function security({ access, keyFromQuery }: Route): Record<string, string[]>[] {
  return [...(access === 'public' ? [{}] : []), ...(keyFromQuery ? [{ query: [] }] : []), { basic: [] }, { bearer: [] }]
}

/** Those of this path alone: a spelling may leave out an optional part. */
function paramsOf({ route, params }: Target, names: readonly string[]): z.ZodObject {
  return z.object(Object.fromEntries(params.map((name, index) => [names[index] ?? name, route.params.shape[name] ?? z.string()])))
}

/** Writes take their payload in the query, too. */
function queryOf({ route, verb }: Target): z.ZodObject {
  if (verb === 'get' || !route.payload || hasData(route)) return route.query
  return route.query.extend({ data: z.string().optional().meta({ description: 'The payload as a JSON string, when there is no body.' }) })
}

function headersOf({ verb }: Target): Pick<NonNullable<RouteConfig['request']>, 'headers'> {
  return verb === 'post' ? { headers: IDEMPOTENCY } : {}
}

const IDEMPOTENCY = z.object({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({ description: 'A retry with the same key and payload gets the first answer, for 24 h.' }),
})

/** A field of that name is no wrapping. */
function hasData(route: Route): boolean {
  return Object.hasOwn(flatFields(route)?.shape ?? {}, 'data')
}

function body({ route, verb }: Target, payload: PayloadShape | undefined): Pick<NonNullable<RouteConfig['request']>, 'body'> {
  if (verb === 'get' || !payload) return {}
  const wrapped = z.object({ data: z.string().meta({ description: 'The payload as a JSON string.' }) })
  const { payloadField } = route
  const flat = flatFields({ payload, payloadField }) ?? (payload instanceof z.ZodRecord ? payload : undefined)
  const plain = flat ? z.union([flat, wrapped]) : wrapped
  const form = hasData(route) && flat ? flat : plain
  const json = payloadField === undefined ? payload : z.union([payload, z.strictObject({ [payloadField]: payload })])
  return {
    body: {
      required: !route.payloadOptional,
      content: {
        'application/json': { schema: json },
        ...(route.plainJson && { 'text/plain': { schema: json } }),
        'application/x-www-form-urlencoded': { schema: form },
        'multipart/form-data': { schema: form },
      },
    },
  }
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
