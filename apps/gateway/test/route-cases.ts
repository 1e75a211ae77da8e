import { z } from 'zod'
import { flatFields } from '../src/payload/payload-form.ts'
import type { PayloadShape } from '../src/payload/payload-shape.ts'
import type { Route } from '../src/route.ts'
import { indexRoutes, type PathEntry, type Target, targetsOf } from '../src/routing/route-index.ts'

/** One verb and path of the table with what its tests need. */
export interface RouteCase {
  /** `GET /v2/video/:videoId` */
  name: string
  target: Target
  route: Route
  method: string
  /** With a value for every parameter, below `/v2`. */
  path: string
}

export function routeCases(routes: readonly Route[]): RouteCase[] {
  return routes.flatMap(targetsOf).map((target) => ({
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
  /** Verbs that the path takes, HEAD and OPTIONS among them. */
  allowed: string[]
  /** Verbs that it does not take. */
  refused: string[]
}

export function pathCases(routes: readonly Route[]): PathCase[] {
  return indexRoutes(routes).map((entry) => {
    const allowed = allowedVerbs(entry)
    return {
      name: `/v2${entry.pattern}`,
      path: entry.pattern.replaceAll(/:\w+/g, '1'),
      allowed,
      refused: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].filter((verb) => !allowed.includes(verb)),
    }
  })
}

function allowedVerbs({ targets }: PathEntry): string[] {
  const verbs = [...targets.keys()].map((verb) => verb.toUpperCase())
  return [...verbs, ...(targets.get('get')?.route.safe ? ['HEAD'] : []), 'OPTIONS'].sort()
}

/** The path with `1` for every parameter, or a word where only words are taken; one of them may have a value of its own. */
export function filledPath({ path, route }: Target, name?: string, value = ''): string {
  const { properties = {} } = z.toJSONSchema(route.params, { io: 'input', unrepresentable: 'any' })
  const plain = (param: string) => {
    const schema = properties[param]
    return typeof schema === 'object' && schema.enum ? String(schema.enum[0]) : '1'
  }
  return path.replaceAll(/:(\w+)/g, (_, param: string) => (param === name ? value : plain(param)))
}

const UNLIKELY: unknown[] = [{ an: { un: 'likely' } }, [[[1]]], -1.5, true, 'x'.repeat(100_000), '\u200b?']

/** For each field of a schema something that it does not take; fields that take anything are left out. */
export function wrongValues(schema: z.ZodObject, candidates: readonly unknown[] = UNLIKELY): Record<string, unknown> {
  const found = Object.entries(schema.shape).map(([name, field]) => [name, candidates.find((value) => !isTaken(field, value))] as const)
  return Object.fromEntries(found.filter(([, value]) => value !== undefined))
}

/** The same among the texts that a query can hold. */
export function wrongTexts(schema: z.ZodObject): Record<string, string> {
  return wrongValues(schema, ['?', '-1.5', '{', 'x'.repeat(5_000)]) as Record<string, string>
}

/** The fields that a payload, or the one item of a list, has by name. */
export function payloadFields(route: Route): PayloadFields {
  return flatFields(route)?.shape ?? {}
}
type PayloadFields = z.ZodObject['shape']

/** What a payload must have, each field with the example that the API document shows for it. */
export function exampleFields(route: Route): Record<string, unknown> {
  const fields = z.object(payloadFields(route))
  const { properties = {}, required = [] } = z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' })
  return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name]) ?? 'example']))
}

/** Fields as the payload holds them: a list of fields has one item. */
export function withFields(route: Route, fields: Record<string, unknown>): unknown {
  return isListOfFields(route.payload, route.payloadField) ? [fields] : fields
}

function isListOfFields(payload: PayloadShape | undefined, field: string | undefined): boolean {
  return payload instanceof z.ZodArray && field === undefined
}

function exampleOf(schema: z.core.JSONSchema._JSONSchema | undefined): unknown {
  if (typeof schema !== 'object') return undefined
  return schema['example'] ?? schema.enum?.[0]
}

function isTaken(field: z.core.$ZodType, value: unknown): boolean {
  return (field as z.ZodType).safeParse(value).success
}

/** The first name in the path to each bad field: `tags` of `tags[2]`, and of `[0].tags` where the payload is a list. */
export function topFields(problem: { errors?: { field: string }[] }): string[] {
  return [...new Set((problem.errors ?? []).map(({ field }) => field.replace(/^\[\d+\]\./, '').split(/[.[]/, 1)[0] ?? ''))]
}
