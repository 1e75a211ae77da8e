import { type FieldError, requireValid } from '@vitascope/errors'
import { z } from 'zod'
import { fieldPath } from './field-errors.ts'
import { parseJsonText } from './json-text.ts'
import type { Pair } from './urlencoded.ts'

/** How a form encodes a field. */
interface Kind {
  /** The field may be repeated: each occurrence is one item of a list. */
  repeats: boolean
  /** `list` and `object` are encoded as JSON, because a plain text is not a valid value of them. */
  content: 'text' | 'list' | 'object'
}

/** Form encoding of each field of a payload. */
export type FieldKinds = ReadonlyMap<string, Kind>

const TEXT: Kind = { repeats: false, content: 'text' }

export function fieldKinds(payload: z.ZodObject): FieldKinds {
  const { properties = {} } = z.toJSONSchema(payload, { io: 'input', unrepresentable: 'any' })
  return new Map(Object.entries(properties).map(([name, schema]) => [name, toFieldKind(typesIn(schema))]))
}

/**
 * Builds an object from form fields. Unknown fields are kept, so that the schema rejects them by
 * name. Throws if a field is repeated that is not a list.
 */
export function unflatten(pairs: readonly Pair[], kinds: FieldKinds): Record<string, unknown> {
  const values = new Map<string, string[]>()
  for (const [name, value] of pairs) values.set(name, [...(values.get(name) ?? []), value])
  const repeated: FieldError[] = [...values]
    .filter(([name, occurrences]) => occurrences.length > 1 && !kinds.get(name)?.repeats)
    .map(([name]) => ({ field: fieldPath([name]), message: 'must not be repeated' }))
  requireValid(repeated)
  // Unlike an assignment, this keeps `__proto__` as an own property.
  return Object.fromEntries([...values].map(([name, occurrences]) => [name, fieldValue(name, occurrences, kinds.get(name) ?? TEXT)]))
}

function fieldValue(name: string, occurrences: readonly string[], kind: Kind): unknown {
  const [text = ''] = occurrences
  if (occurrences.length > 1) return occurrences
  if (kind.content === 'text') return text
  if (/^\s*[[{]/.test(text) || text === 'null') return parseJsonText(text, name)
  if (kind.content === 'object') return text
  return text === '' ? [] : [text]
}

type JsonSchema = z.core.JSONSchema._JSONSchema

function toFieldKind(types: ReadonlySet<string>): Kind {
  const repeats = types.has('array')
  if (types.has('string') || !(repeats || types.has('object'))) return { ...TEXT, repeats }
  return { repeats, content: repeats ? 'list' : 'object' }
}

function typesIn(schema: JsonSchema): Set<string> {
  if (typeof schema === 'boolean') return new Set()
  const ownTypes = schema.type === undefined ? [] : [schema.type].flat()
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return new Set([...ownTypes, ...inner.flatMap((part) => [...typesIn(part)])])
}
