import { z } from 'zod'
import { type FieldKinds, fieldKinds } from './flat-fields.ts'
import type { PayloadShape } from './payload-shape.ts'

/** A payload as a route declares it; `field` is where a list may also stand: `{"order": [3, 1, 2]}`. */
export interface DeclaredPayload {
  payload: PayloadShape | undefined
  payloadField?: string | undefined
  plainJson?: boolean
  readPlain?(value: unknown): unknown
}

/** How the payload of a route is read and checked, made ready once. */
export interface PayloadForm {
  /** Refuses unknown fields; takes none at all where the route has no payload. Its output is what the handler is given. */
  schema: z.ZodType
  kinds: FieldKinds
  /** True where the flat fields of a form are the one item of a list. */
  flatItem: boolean
  /** True where `text/plain` is read as JSON. */
  plainJson: boolean
  /** Takes a JSON text in its plainest form without the schema; undefined leaves it to the schema. */
  readPlain: ((value: unknown) => unknown) | undefined
  /** What counts when nothing came. */
  nothing: unknown
}

export function payloadForm({ plainJson = false, readPlain, ...declared }: DeclaredPayload): PayloadForm {
  return { ...readForm(declared), plainJson, readPlain }
}

function readForm({ payload, payloadField }: DeclaredPayload): Omit<PayloadForm, 'plainJson' | 'readPlain'> {
  if (payload === undefined) return { schema: z.strictObject({}), kinds: new Map(), flatItem: false, nothing: {} }
  const flat = flatFields({ payload, payloadField })
  const kinds = flat ? fieldKinds(flat) : new Map()
  if (payload instanceof z.ZodObject) return { schema: payload.strict(), kinds, flatItem: false, nothing: {} }
  if (payload instanceof z.ZodRecord) return { schema: safeRecord(payload), kinds, flatItem: false, nothing: {} }
  if (payloadField === undefined) return { schema: payload, kinds, flatItem: flat !== undefined, nothing: undefined }
  return { schema: listInField(payload, payloadField), kinds, flatItem: false, nothing: {} }
}

/**
 * What a flat form of the payload may hold: its fields, the field of a list, or the fields of a list's one item. Undefined for records,
 * whose fields have any name, and for lists that have no field and whose items have none.
 */
export function flatFields({ payload, payloadField }: DeclaredPayload): z.ZodObject | undefined {
  if (payload instanceof z.ZodObject) return payload
  if (!(payload instanceof z.ZodArray)) return undefined
  if (payloadField !== undefined) return z.strictObject({ [payloadField]: payload })
  return payload.element instanceof z.ZodObject ? payload.element : undefined
}

/** The list alone, or in its field. */
function listInField(list: z.ZodArray, field: string): z.ZodType {
  return z
    .preprocess((came) => (Array.isArray(came) ? { [field]: came } : came), z.strictObject({ [field]: list }))
    .transform((fields) => fields[field])
}

/** zod passes over this one name in silence, so it is refused. */
function safeRecord(record: z.ZodRecord): z.ZodType {
  return z.preprocess((came, context) => {
    if (typeof came !== 'object' || came === null || !Object.hasOwn(came, '__proto__')) return came
    context.addIssue({ code: 'custom', path: ['__proto__'], message: 'is not a field here', input: came })
    return z.NEVER
  }, record)
}
