import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Api, ApiResponse } from './api.ts'
import { createApi } from './api.ts'

type Json = Record<string, unknown>

interface DeclaredResponse {
  $ref?: string
  content?: Record<string, { schema: Json }>
}

interface Operation {
  responses: Record<string, DeclaredResponse>
}

/**
 * Validates responses against the served API document. If a response is not declared, either the
 * response or the document is wrong.
 */
export interface ApiContract {
  /** Throws if the document does not declare this response to this call. */
  check(method: string, path: string, response: Pick<ApiResponse<unknown>, 'status' | 'headers' | 'body'>): void
}

export async function readContract(platformUrl: string): Promise<ApiContract> {
  const document = (await (await fetch(`${platformUrl}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>
    components: Json & { responses: Record<string, DeclaredResponse> }
  }
  // Formats and extra keywords of the document do not affect the structure.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  const closed = closeSchema(document.components) as Json
  const compiled = new Map<string, ValidateFunction>()
  const paths = Object.keys(document.paths).map((path) => ({ path, pattern: toPattern(path) }))
  // Of several matching paths, the one with the most literal characters applies.
  paths.sort((a, b) => literals(b.path) - literals(a.path))

  const find = (method: string, path: string) => {
    const plain = decodeURI(path.split('?', 1)[0] ?? '').replace(/(.)\/$/, '$1')
    const fitting = paths.filter(({ pattern }) => pattern.test(plain)).map((entry) => entry.path)
    const template = fitting.find((entry) => document.paths[entry]?.[method.toLowerCase()])
    return { isKnown: fitting.length > 0, path: template, operation: template && document.paths[template]?.[method.toLowerCase()] }
  }
  const resolve = (response: DeclaredResponse | undefined) =>
    response?.$ref ? document.components.responses[response.$ref.split('/').at(-1) ?? ''] : response
  return {
    check(method, path, { status, headers, body }) {
      const { isKnown, path: template, operation } = find(method, path)
      if (!operation) {
        if (status === (isKnown ? 405 : 404)) return
        throw new Error(`${method} ${path} is not in the API document, but returned ${status}`)
      }
      const type = (headers.get('content-type') ?? '').split(';', 1)[0] ?? ''
      const declared = resolve(operation.responses[String(status)])
      if (!declared) throw new Error(`${method} ${path}: ${status} is not declared: ${JSON.stringify(body).slice(0, 500)}`)
      if (declared.content === undefined || status === 304) return
      const content = declared.content[type]
      if (!content)
        throw new Error(`${method} ${path}: ${status} has the content type ${type}, declared: ${Object.keys(declared.content).join(', ')}`)
      if (!/json/.test(type)) return
      const name = `${method} ${template} ${status} ${type}`
      const validate = compiled.get(name) ?? ajv.compile({ ...(closeSchema(content.schema) as Json), components: closed })
      compiled.set(name, validate)
      if (!validate(body)) {
        const faults = ajv.errorsText(validate.errors, { separator: '\n  ' })
        throw new Error(`${name}: the body does not match the declared schema:\n  ${faults}\n${JSON.stringify(body).slice(0, 1_000)}`)
      }
    },
  }
}

/** Returns a client that validates every response. */
export function createStrictApi(base: string, contract: ApiContract, key?: string): Api {
  return createApi(base, key, (method, path, response) => contract.check(method, path, response))
}

function toPattern(path: string): RegExp {
  const escaped = path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

function literals(path: string): number {
  return path.replaceAll(/\{\w+\}/g, '').length
}

/**
 * Returns the schema with `additionalProperties: false` in every object. Members of `allOf` describe
 * one object together, so inline members stay open.
 */
function closeSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, name === 'allOf' ? value : closeSchema(value)]))
  const isOpen = inner['additionalProperties'] === undefined && inner['allOf'] === undefined
  return inner['type'] === 'object' && typeof inner['properties'] === 'object' && isOpen ? { ...inner, additionalProperties: false } : inner
}
