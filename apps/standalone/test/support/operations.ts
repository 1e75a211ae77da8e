import type { TestPlatform } from './test-platform.ts'

/** What the tests read of the OpenAPI document that the platform serves: it is made from the table of routes, aliases included. */
export interface Operation {
  method: string
  path: string
  access: 'public' | 'user' | 'super' | 'system'
  resource: string
  /** The fields of the payload, or of the one item of a list; undefined where the route takes none. */
  fields: Record<string, Schema> | undefined
  /** True where the payload is a list of such fields. */
  list: boolean
  keyFromQuery: boolean
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
  requestBody?: { content: Record<string, { schema: Schema }> }
}

export async function operationsOf(platform: TestPlatform): Promise<Operation[]> {
  const document = (await (await fetch(`${platform.url}/openapi.json`)).json()) as Document
  const resolve = (schema: Schema | undefined): Schema | undefined =>
    schema?.$ref ? document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] : schema
  return Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      access: operation['x-access'],
      resource: operation['x-acl-resource'],
      ...fieldsOf(operation.requestBody?.content['application/json']?.schema, resolve),
      keyFromQuery: operation.security.some((scheme) => 'query' in scheme),
    })),
  )
}

type Resolve = (schema: Schema | undefined) => Schema | undefined

/** A list may also stand in a field: the last of the forms that are shown. */
function fieldsOf(payload: Schema | undefined, resolve: Resolve): Pick<Operation, 'fields' | 'list'> {
  const schema = resolve(payload)
  const item = schema?.type === 'array' ? resolve(schema.items) : undefined
  const fields = item ?? resolve(schema?.anyOf?.at(-1)) ?? schema
  return { fields: fields?.properties, list: item !== undefined }
}

/** Values for the parameters of paths, by their public names. */
export type Values = Readonly<Record<string, string>>

/**
 * The path with its parameters filled in. `{id}` is that of the path's own noun; where verbs of one path name their parameter differently
 * (`email_or_id`), reading takes the first name and writing the last.
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
