import type { TestPlatform } from './test-platform.ts'

/**
 * Fields that tests read from the served OpenAPI document. It is generated from the route table,
 * including aliases.
 */
export interface Operation {
  method: string
  path: string
  access: 'public' | 'user' | 'super' | 'system'
  resource: string
  /** Fields of the payload, or of the list items; undefined without a payload. */
  fields: Record<string, Schema> | undefined
  /** True if the payload is a list. */
  isList: boolean
  apiKeyParam: boolean
  /** Names of its header parameters. */
  headers: readonly string[]
}

export interface Schema {
  type?: string | string[]
  $ref?: string
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
}

interface Document {
  paths: Record<string, Record<string, RawOperation>>
  components: { schemas: Record<string, Schema> }
}

interface RawOperation {
  'x-access': Operation['access']
  'x-acl-resource': string
  security: Record<string, string[]>[]
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

export async function fetchOperations(platform: TestPlatform): Promise<Operation[]> {
  const document = (await (await fetch(`${platform.url}/openapi.json`)).json()) as Document
  const resolve = (schema: Schema | undefined): Schema | undefined =>
    schema?.$ref ? document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] : schema
  return Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      access: operation['x-access'],
      resource: operation['x-acl-resource'],
      ...listFields(operation.requestBody?.content['application/json']?.schema, resolve),
      apiKeyParam: operation.security.some((scheme) => 'query' in scheme),
      headers: (operation.parameters ?? []).filter(({ in: place }) => place === 'header').map(({ name }) => name),
    })),
  )
}

type Resolve = (schema: Schema | undefined) => Schema | undefined

/** Returns the fields of a payload, or of its items if it is a list. If a payload has several forms, the last form is used. */
function listFields(payload: Schema | undefined, resolve: Resolve): Pick<Operation, 'fields' | 'isList'> {
  const schema = resolve(payload)
  const item = schema?.type === 'array' ? resolve(schema.items) : undefined
  const fields = item ?? resolve(schema?.anyOf?.at(-1)) ?? schema
  return { fields: fields?.properties, isList: item !== undefined }
}

/** Values of path parameters by public name. */
export type Values = Readonly<Record<string, string>>

/**
 * Returns the path with its parameters filled in. `{id}` is the id of the path's own noun. If verbs
 * of one path name their parameter differently (`email_or_id`), reads use the first name and writes
 * the last one.
 */
export function fillPath({ method, path }: Pick<Operation, 'method' | 'path'>, values: Values): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, names: string) => {
    const parts = names.split('_or_')
    const name = (method === 'GET' ? parts[0] : parts.at(-1)) ?? ''
    const value = values[name === 'id' ? `${path.split('/')[1]}_id` : name]
    if (value === undefined) throw new Error(`no value for {${names}} of ${path}: add one to the test`)
    return encodeURIComponent(value)
  })
}
