import { type FieldError, invalid } from '@vitascope/errors'
import { z } from 'zod'
import { parseJsonText } from './json-text.ts'
import type { Pair } from './percent-form.ts'
import { fieldPath } from './refusals.ts'

/** How a form carries a field. */
interface Kind {
  /** It may come several times: each time one item of a list. */
  repeats: boolean
  /** Its text is the JSON of a list or object, since no text is a value of it. */
  holds: 'text' | 'list' | 'object'
}

/** For each field of a payload how a form carries it. */
export type FieldKinds = ReadonlyMap<string, Kind>

const TEXT: Kind = { repeats: false, holds: 'text' }

export function fieldKinds(payload: z.ZodObject): FieldKinds {
  const { properties = {} } = z.toJSONSchema(payload, { io: 'input', unrepresentable: 'any' })
  return new Map(Object.entries(properties).map(([name, schema]) => [name, kindOf(typesIn(schema))]))
}

/** Fields that no schema knows are passed on as they are, to be refused by name. */
export function unflatten(pairs: readonly Pair[], kinds: FieldKinds): Record<string, unknown> {
  const values = new Map<string, string[]>()
  for (const [name, value] of pairs) values.set(name, [...(values.get(name) ?? []), value])
  const twice: FieldError[] = [...values]
    .filter(([name, all]) => all.length > 1 && !kinds.get(name)?.repeats)
    .map(([name]) => ({ field: fieldPath([name]), message: 'must be there once' }))
  if (twice.length > 0) throw invalid(twice)
  // Unlike an assignment, this keeps a field named __proto__ a field.
  return Object.fromEntries([...values].map(([name, all]) => [name, fieldValue(name, all, kinds.get(name) ?? TEXT)]))
}

function fieldValue(name: string, all: readonly string[], kind: Kind): unknown {
  const [text = ''] = all
  if (all.length > 1) return all
  if (kind.holds === 'text') return text
  if (/^\s*[[{]/.test(text) || text === 'null') return parseJsonText(text, name)
  if (kind.holds === 'object') return text
  return text === '' ? [] : [text]
}

type JsonSchema = z.core.JSONSchema._JSONSchema

function kindOf(types: ReadonlySet<string>): Kind {
  const repeats = types.has('array')
  if (types.has('string') || !(repeats || types.has('object'))) return { ...TEXT, repeats }
  return { repeats, holds: repeats ? 'list' : 'object' }
}

function typesIn(schema: JsonSchema): Set<string> {
  if (typeof schema === 'boolean') return new Set()
  const own = schema.type === undefined ? [] : [schema.type].flat()
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return new Set([...own, ...inner.flatMap((part) => [...typesIn(part)])])
}
