// Generates src/gen from docs/openapi.json, for tools/lib/generate.ts. Argument: the output folder.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { type Contract, FUTURE_VALUE, JSON_TYPE, type Operation, simplifyContract } from './simplify-contract.ts'

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
simplifyContract(contract)
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

/** Returns whether the query of a GET or the payload of a POST has `organisation_id`. */
function acceptsOrganisation(method: string, { parameters = [], requestBody }: Operation): boolean {
  if (method === 'get') return parameters.some(({ name, in: place }) => place === 'query' && name === 'organisation_id')
  const { schema } = (requestBody?.content[JSON_TYPE] ?? {}) as { schema?: { $ref?: string } }
  const payload = contract.components.schemas[schema?.$ref?.replace(/^.*\//, '') ?? ''] as { properties?: object } | undefined
  return method === 'post' && 'organisation_id' in (payload?.properties ?? {})
}

/** Removes the types by path, which are a third of the text. Operations are found by their ids. */
function withoutPaths(text: string): string {
  return text.replace(/^export interface (paths|webhooks) \{$[\s\S]*?^\}\n/gm, '')
}

/** Returns the values of every enum `code` in problem documents below a value. */
function findErrorCodes(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { 'application/problem+json': problem, ...others } = value as Record<string, unknown>
  const own = problem === undefined ? [] : [...JSON.stringify(problem).matchAll(/"code":\{"type":"string","enum":(\[[^\]]*\])/g)]
  return [...own.flatMap(([, list = '[]']) => JSON.parse(list) as string[]), ...Object.values(others).flatMap(findErrorCodes)]
}
