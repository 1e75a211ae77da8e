import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Answer, Api } from './api.ts'
import { createApi } from './api.ts'

type Json = Record<string, unknown>

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: Json }> }>
}

/** The served API document as a judge of answers: what it does not declare is a failure, in the answer or in the document. */
export interface ApiContract {
  /** Throws where the document does not declare this answer to this call. */
  check(method: string, path: string, answer: Pick<Answer<unknown>, 'status' | 'headers' | 'body'>): void
}

export async function readContract(platformUrl: string): Promise<ApiContract> {
  const document = (await (await fetch(`${platformUrl}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>
    components: Json
  }
  // Formats and the document's own extra words say nothing about shapes.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  const closed = close(document.components) as Json
  const compiled = new Map<string, ValidateFunction>()
  const paths = Object.keys(document.paths).map((path) => ({ path, pattern: patternOf(path) }))
  // Of paths that fit, the one with the most literal characters is meant.
  paths.sort((a, b) => literals(b.path) - literals(a.path))

  const find = (method: string, path: string) => {
    const plain = decodeURI(path.split('?', 1)[0] ?? '').replace(/(.)\/$/, '$1')
    const fitting = paths.filter(({ pattern }) => pattern.test(plain)).map((entry) => entry.path)
    const found = fitting.find((entry) => document.paths[entry]?.[method.toLowerCase()])
    return { known: fitting.length > 0, path: found, operation: found && document.paths[found]?.[method.toLowerCase()] }
  }
  return {
    check(method, path, { status, headers, body }) {
      const { known, path: template, operation } = find(method, path)
      if (!operation) {
        if (status === (known ? 405 : 404)) return
        throw new Error(`${method} ${path} is not in the API document, but was answered ${status}`)
      }
      const type = (headers.get('content-type') ?? '').split(';', 1)[0] ?? ''
      const declared = operation.responses[String(status)]
      if (!declared) throw new Error(`${method} ${path}: ${status} is not declared: ${JSON.stringify(body).slice(0, 500)}`)
      if (declared.content === undefined || status === 304) return
      const content = declared.content[type]
      if (!content) throw new Error(`${method} ${path}: ${status} came as ${type}, declared: ${Object.keys(declared.content).join(', ')}`)
      if (!/json/.test(type)) return
      const name = `${method} ${template} ${status} ${type}`
      const validate = compiled.get(name) ?? ajv.compile({ ...(close(content.schema) as Json), components: closed })
      compiled.set(name, validate)
      if (!validate(body)) {
        const faults = ajv.errorsText(validate.errors, { separator: '\n  ' })
        throw new Error(`${name}: the body is not what is declared:\n  ${faults}\n${JSON.stringify(body).slice(0, 1_000)}`)
      }
    },
  }
}

/** Calls of which every answer is checked. */
export function createStrictApi(base: string, contract: ApiContract, key?: string): Api {
  return createApi(base, key, (method, path, answer) => contract.check(method, path, answer))
}

function patternOf(path: string): RegExp {
  const escaped = path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

function literals(path: string): number {
  return path.replaceAll(/\{\w+\}/g, '').length
}

/** The schema with no field allowed that it does not name. */
function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, close(value)]))
  const isOpen = inner['additionalProperties'] === undefined && inner['allOf'] === undefined
  return inner['type'] === 'object' && typeof inner['properties'] === 'object' && isOpen ? { ...inner, additionalProperties: false } : inner
}
