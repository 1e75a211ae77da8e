/** An OpenAPI document, or a part of it. */
export type Json = { [name: string]: unknown }

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'])
/** A webhook event is compared as an operation below this path. */
const EVENT_PATH = '/webhook-events/'

/**
 * Returns the part of an OpenAPI document on which clients depend: without descriptions, examples and extensions.
 *
 * - Of several media types with the same payload, JSON remains. The parts of an upload of a file remain too.
 * - A webhook event becomes the response of an operation, because clients read it like a response. Otherwise a new field
 *   of an event would count as a new field that clients must send.
 */
export function toContract(document: Json): Json {
  const { openapi, info, paths, components, webhooks } = withoutTexts(document) as Record<string, Json>
  const operations = Object.entries({ ...paths, ...toEventPaths(webhooks ?? {}) })
  return {
    openapi,
    info: { title: info?.['title'], version: info?.['version'] },
    paths: Object.fromEntries(operations.map(([path, item]) => [path, mapOperations(item as Json, withOnePayload)])),
    components,
  }
}

/** Returns the name of an operation for readers: `GET /video/{video_id}`, or `event video.ready`. */
export function nameOperation(method: string, path: string): string {
  return path.startsWith(EVENT_PATH) ? `event ${path.slice(EVENT_PATH.length)}` : `${method.toUpperCase()} ${path}`
}

/** Returns the summaries of all operations of a contract, by the names of the operations. */
export function readSummaries(contract: Json): Map<string, string> {
  const operations = Object.entries(contract['paths'] as Record<string, Json>).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]): [string, string][] =>
      METHODS.has(method) ? [[nameOperation(method, path), String((operation as Json)['summary'] ?? '')]] : [],
    ),
  )
  return new Map(operations)
}

function withoutTexts(value: unknown, areNames = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item))
  if (!isObject(value)) return value
  const isKept = (name: string) => areNames || !(['description', 'example', 'examples'].includes(name) || name.startsWith('x-'))
  const entries = Object.entries(value).filter(([name]) => isKept(name))
  // Names of properties are not keywords.
  return Object.fromEntries(entries.map(([name, item]) => [name, withoutTexts(item, name === 'properties' && !areNames)]))
}

function toEventPaths(webhooks: Json): Json {
  return Object.fromEntries(
    Object.entries(webhooks).map(([name, item]) => {
      const { operationId, summary, requestBody } = (item as Record<string, Json>)['post'] ?? {}
      const content = isObject(requestBody) ? requestBody['content'] : {}
      return [`${EVENT_PATH}${name}`, { get: { operationId, summary, responses: { 200: { description: '', content } } } }]
    }),
  )
}

function mapOperations(item: Json, change: (operation: Json) => Json): Json {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, METHODS.has(name) && isObject(value) ? change(value) : value]),
  )
}

function withOnePayload(operation: Json): Json {
  const body = operation['requestBody']
  if (!isObject(body) || !isObject(body['content']) || body['content']['application/json'] === undefined) return operation
  const { 'multipart/form-data': parts, 'application/x-www-form-urlencoded': _, ...content } = body['content']
  const file = findFileSchema(parts)
  return {
    ...operation,
    requestBody: { ...body, content: { ...content, ...(file && { 'multipart/form-data': { schema: file } }) } },
  }
}

/** Returns the alternative that contains a file. JSON payloads cannot contain one. */
function findFileSchema(parts: unknown): Json | undefined {
  const schema = isObject(parts) ? parts['schema'] : undefined
  const alternatives = isObject(schema) && Array.isArray(schema['anyOf']) ? schema['anyOf'] : [schema]
  return alternatives.filter(isObject).find(({ properties }) => JSON.stringify(properties ?? {}).includes('"format":"binary"'))
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
