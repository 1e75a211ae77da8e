import type { TestPlatform } from './test-platform.ts'

/** What the tests read of the OpenAPI document that the platform serves: it is made from the table of routes, aliases included. */
export interface Operation {
  method: string
  path: string
  access: 'public' | 'user' | 'super' | 'system'
  resource: string
  /** The fields of the payload; undefined where the route takes none. */
  fields: Record<string, Schema> | undefined
  keyFromQuery: boolean
}

export interface Schema {
  type?: string | string[]
  $ref?: string
  anyOf?: Schema[]
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
      fields: resolve(operation.requestBody?.content['application/json']?.schema)?.properties,
      keyFromQuery: operation.security.some((scheme) => 'query' in scheme),
    })),
  )
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
