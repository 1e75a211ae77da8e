import { type FieldError, invalid, isDomainError } from '@vitascope/errors'
import { z } from 'zod'
import { MOST_ERRORS } from '../http/problem.ts'
import { type PayloadForm, payloadForm } from '../payload/payload-form.ts'
import type { Pair } from '../payload/percent-form.ts'
import { Checked } from '../payload/plain-json.ts'
import { fieldPath, Problems } from '../payload/refusals.ts'
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

/** What a service is to judge beside bad fields: those that are good in themselves, and the names of the others. */
export interface JudgedInput {
  params: Record<string, unknown>
  payload: Record<string, unknown>
  bad: ReadonlySet<string>
}

export function inputSchemas(route: Route): InputSchemas {
  const form = payloadForm(route)
  return { params: route.params, query: route.query, payload: form.schema, form }
}

/**
 * Checks everything that came in against the route's schemas and names every bad field at once; what only a service knows to be bad too,
 * `judge` asks it.
 */
export async function checkInput(
  route: Route,
  schemas: InputSchemas,
  came: { params: Record<string, string>; query: readonly Pair[]; payload: unknown },
  judge: (sent: JudgedInput) => Promise<unknown> = async () => undefined,
): Promise<Input> {
  const problems = new Problems()
  const check = (schema: z.ZodType, value: unknown, show?: (name: string) => string): Record<string, unknown> => {
    const result = schema.safeParse(value)
    // Each schema here is one of an object, but for the payload's, which the handler knows.
    if (result.success) return result.data as Record<string, unknown>
    for (const issue of result.error.issues) noteIssue(issue, problems, show)
    return {}
  }
  const params = check(schemas.params, came.params, publicName)
  const query = check(schemas.query, knownQuery(schemas.query, came.query, problems))
  const missing = came.payload === undefined && route.payload !== undefined && !route.payloadOptional
  const payload =
    came.payload instanceof Checked
      ? (came.payload.value as Input['payload'])
      : check(schemas.payload, fewUnknown(route.payload, came.payload ?? schemas.form.nothing))
  if (problems.found.length > 0) {
    const good = missing ? undefined : goodFields(route.payload, came.payload)
    const bad = new Set(problems.found.map(({ field }) => topField(field)))
    const more = good ? await judged(judge({ params, payload: good, bad })) : []
    throw invalid([...problems.found, ...more.filter(({ field }) => !bad.has(topField(field)))])
  }
  if (missing) throw invalid([{ field: 'payload', message: 'is required' }])
  return { params, query, payload }
}

/** Without the unknown fields that no answer would name, one of which is enough to be refused. */
function fewUnknown(payload: Route['payload'], came: unknown): unknown {
  if (payload !== undefined && !(payload instanceof z.ZodObject)) return came
  if (typeof came !== 'object' || came === null || Array.isArray(came)) return came
  const shape = payload?.shape ?? {}
  const unknown = Object.keys(came).filter((name) => !Object.hasOwn(shape, name))
  if (unknown.length <= MOST_ERRORS) return came
  const dropped = new Set(unknown.slice(MOST_ERRORS))
  return Object.fromEntries(Object.entries(came).filter(([name]) => !dropped.has(name)))
}

/** The fields of a payload that are good in themselves. */
function goodFields(payload: Route['payload'], came: unknown): Record<string, unknown> | undefined {
  if (!(payload instanceof z.ZodObject) || typeof came !== 'object' || came === null || Array.isArray(came)) return undefined
  const sent = Object.entries(came).filter(([name]) => Object.hasOwn(payload.shape, name))
  return Object.fromEntries(
    sent.flatMap(([name, value]) => {
      const { success, data } = z.safeParse(payload.shape[name] ?? z.never(), value)
      return success ? [[name, data]] : []
    }),
  )
}

/** What a service finds wrong; any other refusal of it can wait until the input is good. */
async function judged(answer: Promise<unknown>): Promise<readonly FieldError[]> {
  try {
    await answer
    return []
  } catch (error) {
    if (isDomainError(error)) return error.fields
    throw error
  }
}

function topField(field: string): string {
  return field.split(/[.[]/, 1)[0] ?? field
}

/** Unknown parameters of a query are passed over, known ones must not be there twice. */
function knownQuery(schema: z.ZodObject, pairs: readonly Pair[], problems: Problems): Record<string, string> {
  const known = pairs.filter(([name]) => Object.hasOwn(schema.shape, name))
  const names = known.map(([name]) => name)
  const twice = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  for (const name of twice) problems.note(name, 'must be there once')
  return Object.fromEntries(known)
}

/** The document's spelling of a path parameter: `videoId` is `video_id`. */
export function publicName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function noteIssue(issue: z.core.$ZodIssue, problems: Problems, show: (name: string) => string = (name) => name): void {
  if (problems.full) return
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys.slice(0, MOST_ERRORS)) problems.note(fieldPath([...issue.path, key]), 'is not a field here')
    return
  }
  const [first, ...rest] = issue.path
  const field = first === undefined ? 'payload' : fieldPath([typeof first === 'string' ? show(first) : first, ...rest])
  problems.note(field, messageOf(issue))
}

/** zod's own sentences begin with what it calls the input; those of our schemas are the end of a sentence already. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (/received undefined$/.test(issue.message)) return 'is required'
  if (issue.code === 'invalid_type') return `must be ${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`
  return issue.message
}
