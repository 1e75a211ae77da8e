import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

const DOCUMENT = new URL('../../../docs/openapi.json', import.meta.url)

interface Document {
  webhooks: Record<string, { post: { requestBody: { content: { 'application/json': { schema: object } } } } }>
  components: { schemas: object }
}

const document = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as Document
// Formats do not affect the structure, apart from times, which events have in one form.
const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ } })
const validators = new Map<string, ValidateFunction>()

/**
 * Returns the differences between an event, as a webhook receives it, and its description in the API
 * document. Fields that the document does not have are differences too.
 */
export function webhookEventProblems(event: { type: string; timestamp: string; data: unknown }): string[] {
  const { type } = event
  const validate = validators.get(type) ?? compile(type)
  if (!validate) return [`${type} is not in the API document`]
  return validate(event) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${type} ${instancePath}: ${message}`)
}

function compile(type: string): ValidateFunction | undefined {
  const schema = document.webhooks[type]?.post.requestBody.content['application/json'].schema
  if (!schema) return undefined
  const validate = ajv.compile({ ...schema, components: { schemas: close(document.components.schemas) } })
  validators.set(type, validate)
  return validate
}

/** Returns the schema without permission for additional fields. */
function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, close(value)]))
  return inner['type'] === 'object' && typeof inner['properties'] === 'object' ? { ...inner, additionalProperties: false } : inner
}
