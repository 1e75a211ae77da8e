import { type FieldError, invalid } from '@vitascope/errors'
import type { z } from 'zod'
import { type PayloadForm, payloadForm } from '../payload/payload-form.ts'
import type { Pair } from '../payload/percent-form.ts'
import { fieldPath } from '../payload/refusals.ts'
import type { Route } from '../route.ts'

/** A route's schemas, made ready once. */
export interface InputSchemas {
  params: z.ZodObject
  query: z.ZodObject
  payload: z.ZodType
  form: PayloadForm
}

/** What a handler is given, checked. */
export interface Input {
  params: Record<string, unknown>
  query: Record<string, unknown>
  payload: Record<string, unknown> | unknown[]
}

export function inputSchemas(route: Route): InputSchemas {
  const form = payloadForm(route)
  return { params: route.params, query: route.query, payload: form.schema, form }
}

/** Checks everything that came in against the route's schemas and names every bad field at once. */
export function checkInput(
  route: Route,
  schemas: InputSchemas,
  came: { params: Record<string, string>; query: readonly Pair[]; payload: unknown },
): Input {
  const problems: FieldError[] = []
  const check = (schema: z.ZodType, value: unknown, show?: (name: string) => string): Record<string, unknown> => {
    const result = schema.safeParse(value)
    // Each schema here is one of an object, but for the payload's, which the handler knows.
    if (result.success) return result.data as Record<string, unknown>
    problems.push(...result.error.issues.flatMap((issue) => fieldErrors(issue, show)))
    return {}
  }
  const params = check(schemas.params, came.params, publicName)
  const query = check(schemas.query, knownQuery(schemas.query, came.query, problems))
  const missing = came.payload === undefined && route.payload !== undefined && !route.payloadOptional
  const payload = check(schemas.payload, came.payload ?? schemas.form.nothing)
  if (problems.length > 0) throw invalid(problems)
  if (missing) throw invalid([{ field: 'payload', message: 'is required' }])
  return { params, query, payload }
}

/** Unknown parameters of a query are passed over, known ones must not be there twice. */
function knownQuery(schema: z.ZodObject, pairs: readonly Pair[], problems: FieldError[]): Record<string, string> {
  const known = pairs.filter(([name]) => Object.hasOwn(schema.shape, name))
  const names = known.map(([name]) => name)
  const twice = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  for (const name of twice) problems.push({ field: name, message: 'must be there once' })
  return Object.fromEntries(known)
}

/** The document's spelling of a path parameter: `videoId` is `video_id`. */
export function publicName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function fieldErrors(issue: z.core.$ZodIssue, show: (name: string) => string = (name) => name): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: fieldPath([...issue.path, key]), message: 'is not a field here' }))
  }
  const [first, ...rest] = issue.path
  const field = first === undefined ? 'payload' : fieldPath([typeof first === 'string' ? show(first) : first, ...rest])
  return [{ field, message: messageOf(issue) }]
}

/** zod's own sentences begin with what it calls the input; those of our schemas are the end of a sentence already. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (/received undefined$/.test(issue.message)) return 'is required'
  if (issue.code === 'invalid_type') return `must be ${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`
  return issue.message
}
