import { z } from 'zod'
import type { PayloadShape } from '../src/server/payload/payload-schema.ts'
import { flatFields } from '../src/server/payload/payload-schema.ts'
import type { Route } from '../src/server/route/route.ts'
import { expandTargets, indexRoutes, type PathEntry, type Target } from '../src/server/route/route-index.ts'

/** One verb and path of the route table, with test data. */
export interface RouteCase {
  /** `GET /v2/video/:videoId` */
  name: string
  target: Target
  route: Route
  method: string
  /** Path below `/v2` with a value for every parameter. */
  path: string
}

export function routeCases(routes: readonly Route[]): RouteCase[] {
  return routes.flatMap(expandTargets).map((target) => ({
    name: `${target.verb.toUpperCase()} /v2${target.path}`,
    target,
    route: target.route,
    method: target.verb.toUpperCase(),
    path: filledPath(target),
  }))
}

export interface PathCase {
  name: string
  path: string
  /** Methods that the path accepts, including HEAD and OPTIONS. */
  allowed: string[]
  /** Methods that it rejects. */
  rejectedMethods: string[]
}

export function pathCases(routes: readonly Route[]): PathCase[] {
  return indexRoutes(routes).map((entry) => {
    const allowed = allowedVerbs(entry)
    return {
      name: `/v2${entry.pattern}`,
      path: entry.pattern.replaceAll(/:\w+/g, '1'),
      allowed,
      rejectedMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].filter((verb) => !allowed.includes(verb)),
    }
  })
}

function allowedVerbs({ targets }: PathEntry): string[] {
  const verbs = [...targets.keys()].map((verb) => verb.toUpperCase())
  return [...verbs, ...(targets.get('get')?.route.readOnly ? ['HEAD'] : []), 'OPTIONS'].sort()
}

/**
 * Returns the path with `1` for every parameter, or with a word if the parameter only accepts
 * words. One parameter can have its own value.
 */
export function filledPath({ path, route }: Target, name?: string, value = ''): string {
  const { properties = {} } = z.toJSONSchema(route.params, { io: 'input', unrepresentable: 'any' })
  const plain = (param: string) => {
    const schema = properties[param]
    return typeof schema === 'object' && schema.enum ? String(schema.enum[0]) : '1'
  }
  return path.replaceAll(/:(\w+)/g, (_, param: string) => (param === name ? value : plain(param)))
}

const UNUSUAL_VALUES: unknown[] = [{ an: { un: 'likely' } }, [[[1]]], -1.5, true, 'x'.repeat(100_000), '\u200b?']

/**
 * Returns an invalid value for each field of a schema, without the fields that accept any value.
 */
export function wrongValues(schema: z.ZodObject, candidates: readonly unknown[] = UNUSUAL_VALUES): Record<string, unknown> {
  const rejectedValues = Object.entries(schema.shape).map(
    ([name, field]) => [name, candidates.find((value) => !isAccepted(field, value))] as const,
  )
  return Object.fromEntries(rejectedValues.filter(([, value]) => value !== undefined))
}

/** Same as `wrongValues`, limited to texts that a query can contain. */
export function wrongTexts(schema: z.ZodObject): Record<string, string> {
  return wrongValues(schema, ['?', '-1.5', '{', 'x'.repeat(5_000)]) as Record<string, string>
}

/** Returns the fields of a payload, or of the items of a list, by name. */
export function payloadFields(route: Route): PayloadFields {
  return flatFields(route)?.shape ?? {}
}
type PayloadFields = z.ZodObject['shape']

/** Returns the required fields of a payload with the examples of the API document. */
export function exampleFields(route: Route): Record<string, unknown> {
  const fields = z.object(payloadFields(route))
  const { properties = {}, required = [] } = z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' })
  return Object.fromEntries(required.map((name) => [name, getExample(properties[name]) ?? 'example']))
}

/** Returns the payload with these fields; a list gets one item. */
export function withFields(route: Route, fields: Record<string, unknown>): unknown {
  return isListOfFields(route.payload, route.payloadField) ? [fields] : fields
}

function isListOfFields(payload: PayloadShape | undefined, field: string | undefined): boolean {
  return payload instanceof z.ZodArray && field === undefined
}

function getExample(schema: z.core.JSONSchema._JSONSchema | undefined): unknown {
  if (typeof schema !== 'object') return undefined
  return schema['example'] ?? schema.enum?.[0]
}

function isAccepted(field: z.core.$ZodType, value: unknown): boolean {
  return (field as z.ZodType).safeParse(value).success
}

/**
 * Returns the top-level name of each invalid field: `tags` for `tags[2]`, and for `[0].tags` in a
 * list payload.
 */
export function topFields(problem: { errors?: { field: string }[] }): string[] {
  return [...new Set((problem.errors ?? []).map(({ field }) => field.replace(/^\[\d+\]\./, '').split(/[.[]/, 1)[0] ?? ''))]
}
