import { z } from 'zod'
import { type FieldKinds, fieldKinds } from './form-fields.ts'
import { lenientReader } from './lenient-list.ts'

/** Schema of a payload: named fields, a record with free names, or a list. */
export type PayloadShape = z.ZodObject | z.ZodRecord | z.ZodArray

/** A list as a text with one item a line. `field` is the only field of an item. */
export interface LineForm {
  /** Content type of the text. */
  type: string
  field: string
}

/**
 * A payload as its route declares it. `payloadField` names a field that may hold the list:
 * `{"order": [3, 1, 2]}`.
 */
export interface DeclaredPayload {
  payload: PayloadShape | undefined
  payloadField?: string | undefined
  plainJson?: boolean
  lines?: LineForm
  fastParse?(value: unknown): unknown
  fileAdvice?: string
}

/** How the payload of a route is parsed and validated, prepared once per route. */
export interface PayloadSchema {
  /**
   * Rejects unknown fields, and every field if the route has no payload. The handler receives its
   * output.
   */
  schema: z.ZodType
  kinds: FieldKinds
  /** True if the flat fields of a form are the only item of a list. */
  flatItem: boolean
  /**
   * True for a lenient list: an item that is malformed JSON becomes a `MalformedItem` in its place.
   */
  lenient: boolean
  /** True if `text/plain` is parsed as JSON. */
  plainJson: boolean
  /** How a text with one item a line is parsed, if the route accepts it. */
  lines: LineForm | undefined
  /** Parses a canonical JSON value without the schema. Returns undefined to use the schema. */
  fastParse: ((value: unknown) => unknown) | undefined
  /** End of the error message for a file in a form: what to do instead. */
  fileAdvice: string | undefined
  /** The payload when none was sent. */
  emptyPayload: unknown
}

export function payloadSchema({ plainJson = false, lines, fastParse, fileAdvice, ...declared }: DeclaredPayload): PayloadSchema {
  return { ...describePayload(declared), plainJson, lines, fastParse, fileAdvice }
}

function describePayload({
  payload,
  payloadField,
}: DeclaredPayload): Omit<PayloadSchema, 'plainJson' | 'lines' | 'fastParse' | 'fileAdvice'> {
  if (payload === undefined) return { schema: z.strictObject({}), kinds: new Map(), flatItem: false, lenient: false, emptyPayload: {} }
  const flat = flatFields({ payload, payloadField })
  const kinds = flat ? fieldKinds(flat) : new Map()
  const form = { kinds, flatItem: false, lenient: false, emptyPayload: {} }
  if (payload instanceof z.ZodObject) return { ...form, schema: payload.strict() }
  if (payload instanceof z.ZodRecord) return { ...form, schema: safeRecord(payload) }
  if (payloadField !== undefined) return { ...form, schema: listInField(payload, payloadField) }
  const list = { ...form, flatItem: flat !== undefined, emptyPayload: undefined }
  const lenient = lenientReader(payload)
  return { ...list, lenient: lenient !== undefined, schema: lenient ?? payload }
}

/**
 * Returns the fields that a flat form of the payload may have: those of the payload, the field of a
 * list, or those of a list's only item. Returns undefined for records, whose field names are free,
 * and for lists without a field and without object items.
 */
export function flatFields({ payload, payloadField }: DeclaredPayload): z.ZodObject | undefined {
  if (payload instanceof z.ZodObject) return payload
  if (!(payload instanceof z.ZodArray)) return undefined
  if (payloadField !== undefined) return z.strictObject({ [payloadField]: payload })
  return payload.element instanceof z.ZodObject ? payload.element : undefined
}

/** Accepts the list itself or in its field. */
function listInField(list: z.ZodArray, field: string): z.ZodType {
  return z
    .preprocess((received) => (Array.isArray(received) ? { [field]: received } : received), z.strictObject({ [field]: list }))
    .transform((fields) => fields[field])
}

/** Rejects `__proto__`, which zod drops silently. */
function safeRecord(record: z.ZodRecord): z.ZodType {
  return z.preprocess((received, context) => {
    if (typeof received !== 'object' || received === null || !Object.hasOwn(received, '__proto__')) return received
    context.addIssue({ code: 'custom', path: ['__proto__'], message: 'is not a field here', input: received })
    return z.NEVER
  }, record)
}
