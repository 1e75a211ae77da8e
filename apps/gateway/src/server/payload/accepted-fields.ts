import { z } from 'zod'
import { fieldPath, type Problems } from './field-errors.ts'

/** Fields that a payload may have in addition to those of its schema. */
export interface AcceptedFields {
  /** Other names of fields: `{ title: 'name' }`. */
  synonyms: Readonly<Record<string, string>>
  /** Fields of the record that cannot be changed. They are ignored, so that a record can be sent back as it was read. */
  readOnly: FieldTree | undefined
}

interface FieldTree {
  ignored: ReadonlySet<string>
  /** Trees of fields that are objects or lists of objects. */
  inner: ReadonlyMap<string, FieldTree>
}

type JsonSchema = z.core.JSONSchema._JSONSchema

export function acceptedFields({
  payload,
  synonyms = {},
  record,
}: {
  payload: z.ZodType | undefined
  synonyms?: Readonly<Record<string, string>>
  record?: z.ZodObject
}): AcceptedFields {
  const readOnly = payload && record && compareFields(toJson(payload, 'input'), toJson(record, 'output'))
  return { synonyms, readOnly }
}

/**
 * Returns a received payload with the names of its schema and without the fields that cannot be changed, and the function
 * that returns the name under which a field was sent.
 */
export function toSchemaFields(
  received: unknown,
  { synonyms, readOnly }: AcceptedFields,
  problems: Problems,
): { payload: unknown; sentName: (name: string) => string } {
  const hasOthers = readOnly !== undefined || Object.keys(synonyms).length > 0
  if (!hasOthers || !isObject(received)) return { payload: received, sentName: (name) => name }
  const sentNames = new Map<string, string>()
  const fields = Object.entries(received).flatMap(([name, value]) => {
    const target = Object.hasOwn(synonyms, name) ? synonyms[name] : undefined
    if (target === undefined) return [[name, value] as const]
    if (Object.hasOwn(received, target)) {
      problems.add(name, `must not be sent together with ${target}, which is the same field`)
      return []
    }
    sentNames.set(target, name)
    return [[target, value] as const]
  })
  const renamed = Object.fromEntries(fields)
  const payload = readOnly ? omitFields(renamed, readOnly) : renamed
  // A payload of ignored fields alone is a mistake.
  if (fields.length > 0 && isObject(payload) && Object.keys(payload).length === 0)
    for (const [name] of fields) problems.add(fieldPath([name]), 'cannot be changed')
  return { payload, sentName: (name) => sentNames.get(name) ?? name }
}

/** Returns the schema with its synonyms, for the API document. */
export function withSynonyms(payload: z.ZodObject, synonyms: Readonly<Record<string, string>>): z.ZodObject {
  const added = Object.entries(synonyms).map(([name, target]) => {
    const field = payload.shape[target]
    if (!(field instanceof z.ZodType)) throw new Error(`the payload has no field ${target}`)
    return [
      name,
      z
        .any()
        .meta({ ...omitDefault(toJson(field, 'input')), description: `The same as \`${target}\`.` })
        .optional(),
    ] as const
  })
  return added.length === 0 ? payload : payload.extend(Object.fromEntries(added))
}

function omitDefault(schema: JsonSchema): object {
  if (typeof schema === 'boolean') return {}
  const { $schema: _, default: __, ...rest } = schema
  return rest
}

/** Returns the JSON schema without references. No schema of a payload or a record contains itself. */
function toJson(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $defs = {}, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline)
    if (!isObject(value)) return value
    const { $ref, ...rest } = value
    const target = typeof $ref === 'string' ? $defs[$ref.replace('#/$defs/', '')] : undefined
    const own = Object.fromEntries(Object.entries(rest).map(([name, inner]) => [name, inline(inner)]))
    return isObject(target) ? { ...(inline(target) as object), ...own } : own
  }
  return inline(json) as JsonSchema
}

/** Returns the fields that only the record has; undefined if there are none. */
function compareFields(payload: JsonSchema, record: JsonSchema): FieldTree | undefined {
  const [accepted, shown] = [propertiesOf(payload), propertiesOf(record)]
  if (!accepted || !shown) return undefined
  const ignored = new Set(Object.keys(shown).filter((name) => !Object.hasOwn(accepted, name)))
  const inner = Object.entries(shown).flatMap(([name, schema]) => {
    const tree = accepted[name] === undefined ? undefined : compareFields(accepted[name], schema)
    return tree ? [[name, tree] as const] : []
  })
  return ignored.size === 0 && inner.length === 0 ? undefined : { ignored, inner: new Map(inner) }
}

/** Returns the fields of an object, or of the objects in a list. */
function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> | undefined {
  if (typeof schema === 'boolean') return undefined
  if (schema.properties) return schema.properties
  const { items } = schema
  if (items !== undefined && !Array.isArray(items)) return propertiesOf(items)
  for (const choice of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
    const properties = propertiesOf(choice)
    if (properties) return properties
  }
  return undefined
}

function omitFields(value: unknown, tree: FieldTree): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => omitFields(item, tree))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      if (tree.ignored.has(name)) return []
      const innerTree = tree.inner.get(name)
      return [[name, innerTree ? omitFields(inner, innerTree) : inner] as const]
    }),
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
