// Generates src/gen from docs/openapi.json, for tools/lib/generate.ts. Argument: the output folder.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'

interface Schema {
  [name: string]: unknown
  enum?: unknown[]
}
interface Operation {
  operationId: string
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, unknown> }
  responses: Record<string, { headers?: unknown; content?: Record<string, unknown> }>
}
interface Contract {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; responses?: unknown }
  webhooks: Record<string, unknown>
}

/** Name of the component that stands for all values that later versions of the API may add to an enum. */
const FUTURE_VALUE = 'FutureValue'
const JSON_TYPE = 'application/json'

const [out] = process.argv.slice(2)
if (out === undefined) throw new Error('usage: generate-types.ts FOLDER')
const contract = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8')) as Contract
const codes = [...findErrorCodes(contract.components.responses), ...findErrorCodes(contract.paths)]
const table = Object.entries(contract.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => {
    const mark = acceptsOrganisation(method, operation) ? ' +' : ''
    return [operation.operationId, `${method.toUpperCase()} ${path}${mark}`] as const
  }),
)
simplify(contract)
const types = astToString(await openapiTS(contract as unknown as OpenAPI3, { defaultNonNullable: false, alphabetize: false }))
writeFileSync(
  join(out, 'contract.ts'),
  `${withoutPaths(types).replace(`${FUTURE_VALUE}: string;`, `${FUTURE_VALUE}: string & {};`)}
/** Codes of problem documents. Later versions of the platform may add codes. */
export type ErrorCode = ${[...new Set(codes)]
    .toSorted()
    .map((code) => JSON.stringify(code))
    .join(' | ')}
`,
)
writeFileSync(
  join(out, 'operations.ts'),
  `/** Method and path of each operation. \`+\`: the query of a GET or the payload of a POST has \`organisation_id\`. */
export const operations = ${JSON.stringify(Object.fromEntries(table), null, 2)} as const
`,
)

/** Whether the query of a GET or the payload of a POST has `organisation_id`. */
function acceptsOrganisation(method: string, { parameters = [], requestBody }: Operation): boolean {
  if (method === 'get') return parameters.some(({ name, in: place }) => place === 'query' && name === 'organisation_id')
  const { schema } = (requestBody?.content[JSON_TYPE] ?? {}) as { schema?: { $ref?: string } }
  const payload = contract.components.schemas[schema?.$ref?.replace(/^.*\//, '') ?? ''] as { properties?: object } | undefined
  return method === 'post' && 'organisation_id' in (payload?.properties ?? {})
}

/** Operations are found by their ids, so the types by path are removed. They are a third of the text. */
function withoutPaths(text: string): string {
  return text.replace(/^export interface (paths|webhooks) \{$[\s\S]*?^\}\n/gm, '')
}

/** Removes the parts of the contract that the client does not use, and opens the enums of responses. */
function simplify({ paths, components }: Contract): void {
  for (const operation of Object.values(paths).flatMap((operations) => Object.values(operations))) {
    const { parameters = [], requestBody, responses } = operation
    // `data` is another form of the payload. The client sends `Idempotency-Key` and the headers of tus itself.
    operation.parameters = parameters.filter(({ name, in: place }) => place !== 'header' && !(name === 'data' && requestBody))
    if (requestBody && JSON_TYPE in requestBody.content) {
      const raw = Object.keys(requestBody.content).filter((type) => /^(image|video|text)\//.test(type))
      requestBody.content = Object.fromEntries([JSON_TYPE, ...raw].map((type) => [type, requestBody.content[type]]))
    }
    operation.responses = Object.fromEntries(
      Object.entries(responses).flatMap(([status, { headers: _, ...response }]) => {
        return status.startsWith('2') ? [[status, openEnums(response) as Operation['responses'][string]]] : []
      }),
    )
  }
  // Events are the schemas `…Event`.
  contract.webhooks = {}
  delete components.responses
  for (const [name, schema] of Object.entries(components.schemas)) {
    if (!/(Payload|Event)$/.test(name)) components.schemas[name] = openEnums(schema) as Schema
  }
  components.schemas[FUTURE_VALUE] = { type: 'string', description: 'A value that a later version of the platform may add.' }
}

/** Returns a copy of a schema whose texts with several values also accept unknown values. Flags (`"0"` and `"1"`) stay as they are. */
function openEnums(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(openEnums)
  if (typeof value !== 'object' || value === null) return value
  const { enum: values, type, description, ...rest } = value as Schema
  const isOpen = Array.isArray(values) && values.length > 1 && values.every((each) => typeof each === 'string') && values[0] !== '0'
  if (!isOpen) return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, openEnums(part)]))
  return { ...rest, description, anyOf: [{ type, enum: values }, { $ref: `#/components/schemas/${FUTURE_VALUE}` }] }
}

/** Returns the values of every enum `code` in problem documents below a value. */
function findErrorCodes(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { 'application/problem+json': problem, ...others } = value as Record<string, unknown>
  const own = problem === undefined ? [] : [...JSON.stringify(problem).matchAll(/"code":\{"type":"string","enum":(\[[^\]]*\])/g)]
  return [...own.flatMap(([, list = '[]']) => JSON.parse(list) as string[]), ...Object.values(others).flatMap(findErrorCodes)]
}
