import { type FieldError, invalid, isDomainError } from '@vitascope/errors'
import { z } from 'zod'
import { MAX_ERRORS } from '../http/problem.ts'
import { type AcceptedFields, acceptedFields, toSchemaFields } from '../payload/accepted-fields.ts'
import { Validated } from '../payload/canonical-json.ts'
import { addIssue, fieldPath, Problems } from '../payload/field-errors.ts'
import { type PayloadSchema, payloadSchema } from '../payload/payload-schema.ts'
import type { Pair } from '../payload/urlencoded.ts'
import type { Route } from '../route/route.ts'
import { publicName } from '../route/route-index.ts'

/** The schemas of a route, prepared once. */
export interface InputSchemas {
  params: z.ZodObject
  query: z.ZodObject
  /**
   * Query parameters that are fields of a JSON parameter, each with the error message that explains
   * how to send it.
   */
  misplaced: ReadonlyMap<string, string>
  payload: z.ZodType
  /** Fields that the payload may have in addition. */
  accepted: AcceptedFields
  form: PayloadSchema
}

/** The validated input of a handler. */
export interface Input {
  params: Record<string, unknown>
  query: Record<string, unknown>
  payload: Record<string, unknown> | unknown[]
}

/** Input for validation by a service: the valid fields, and the names of the invalid ones. */
export interface ValidatedInput {
  params: Record<string, unknown>
  payload: Record<string, unknown>
  invalidFields: ReadonlySet<string>
}

export function inputSchemas(route: Route): InputSchemas {
  const form = payloadSchema(route)
  const { params, query } = route
  return { params, query, misplaced: misplacedFields(query), payload: form.schema, accepted: acceptedFields(route), form }
}

/**
 * Validates all input against the schemas of the route and reports every invalid field at once.
 * `validateRemotely` calls a service that validates further.
 */
export async function checkInput(
  route: Route,
  schemas: InputSchemas,
  received: { params: Record<string, string>; query: readonly Pair[]; payload: unknown },
  validateRemotely: (knownFields: ValidatedInput) => Promise<unknown> = async () => undefined,
): Promise<Input> {
  const problems = new Problems()
  const check = (schema: z.ZodType, value: unknown, names: Parameters<typeof addIssue>[2] = {}): Record<string, unknown> => {
    const result = schema.safeParse(value)
    // Each schema parses to an object, except that of the payload, whose type the handler knows.
    if (result.success) return result.data as Record<string, unknown>
    for (const issue of result.error.issues) addIssue(issue, problems, names)
    return {}
  }
  const params = check(schemas.params, received.params, { publicName })
  const query = check(schemas.query, validQuery(schemas, received.query, problems))
  const { payload: sentPayload, sentName } = toSchemaFields(received.payload, schemas.accepted, problems)
  const missing = received.payload === undefined && route.payload !== undefined && !route.payloadOptional
  const payload =
    received.payload instanceof Validated
      ? (received.payload.value as Input['payload'])
      : check(
          schemas.payload,
          limitUnknownFields(route.payload, received.payload === undefined ? schemas.form.emptyPayload : sentPayload),
          {
            knownFields: fieldNames(route.payload),
            publicName: sentName,
          },
        )
  if (problems.list.length > 0) {
    const valid = missing ? undefined : validFields(route.payload, sentPayload)
    const invalidFields = new Set(problems.list.map(({ field }) => topLevelField(field)))
    const remoteErrors = valid ? await collectFieldErrors(validateRemotely({ params, payload: valid, invalidFields })) : []
    throw invalid([...problems.list, ...remoteErrors.filter(({ field }) => !invalidFields.has(topLevelField(field)))])
  }
  if (missing) throw invalid([{ field: 'payload', message: 'is required' }])
  return { params, query, payload }
}

function fieldNames(payload: Route['payload']): string[] {
  return payload instanceof z.ZodObject ? Object.keys(payload.shape) : []
}

/**
 * Drops unknown fields beyond the maximum that a problem document lists. One unknown field is
 * enough to reject the request.
 */
function limitUnknownFields(payload: Route['payload'], received: unknown): unknown {
  if (payload !== undefined && !(payload instanceof z.ZodObject)) return received
  if (typeof received !== 'object' || received === null || Array.isArray(received)) return received
  const shape = payload?.shape ?? {}
  const unknown = Object.keys(received).filter((name) => !Object.hasOwn(shape, name))
  if (unknown.length <= MAX_ERRORS) return received
  const dropped = new Set(unknown.slice(MAX_ERRORS))
  return Object.fromEntries(Object.entries(received).filter(([name]) => !dropped.has(name)))
}

/** Returns the fields of a payload that are valid on their own. */
function validFields(payload: Route['payload'], received: unknown): Record<string, unknown> | undefined {
  if (!(payload instanceof z.ZodObject) || typeof received !== 'object' || received === null || Array.isArray(received)) return undefined
  const knownFields = Object.entries(received).filter(([name]) => Object.hasOwn(payload.shape, name))
  return Object.fromEntries(
    knownFields.flatMap(([name, value]) => {
      const { success, data } = z.safeParse(payload.shape[name] ?? z.never(), value)
      return success ? [[name, data]] : []
    }),
  )
}

/**
 * Returns the field errors of a service. Its other domain errors are ignored until the input is
 * valid.
 */
async function collectFieldErrors(validation: Promise<unknown>): Promise<readonly FieldError[]> {
  try {
    await validation
    return []
  } catch (error) {
    if (isDomainError(error)) return error.fields
    throw error
  }
}

function topLevelField(field: string): string {
  return field.split(/[.[]/, 1)[0] ?? field
}

/**
 * Returns the known query parameters. A known one must not be repeated. A field of a JSON parameter
 * must not be a parameter of its own, because a report with an ignored filter would look like the
 * requested one. Other unknown parameters are ignored.
 */
function validQuery({ query, misplaced }: InputSchemas, pairs: readonly Pair[], problems: Problems): Record<string, string> {
  const knownPairs = pairs.filter(([name]) => Object.hasOwn(query.shape, name))
  const names = knownPairs.map(([name]) => name)
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  for (const name of repeated) problems.add(name, 'must not be repeated')
  for (const name of new Set(pairs.map(([name]) => name))) {
    const message = misplaced.get(name)
    if (message !== undefined) problems.add(fieldPath([name]), message)
  }
  return Object.fromEntries(knownPairs)
}

/**
 * Returns an error message for each parameter name that clients use by mistake for a field of a
 * JSON parameter: `video_id`, `filter[video_id]`, `filter.video_id`.
 */
function misplacedFields(query: z.ZodObject): ReadonlyMap<string, string> {
  const { properties = {} } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' })
  const nestedParameters = Object.entries(properties).flatMap(([parameter, schema]) => {
    if (typeof schema !== 'object' || schema.type !== 'object') return []
    const example = JSON.stringify(schema['example'] ?? {})
    const message = `is a field of ${parameter}, which is JSON; send ${parameter}=${example}, percent-encoded`
    const spellings = (field: string) => [
      field,
      `${field}[]`,
      `${parameter}.${field}`,
      `${parameter}[${field}]`,
      `${parameter}[${field}][]`,
    ]
    return Object.keys(schema.properties ?? {})
      .flatMap(spellings)
      .map((name) => [name, message] as const)
  })
  return new Map(nestedParameters.filter(([name]) => !Object.hasOwn(query.shape, name)))
}
