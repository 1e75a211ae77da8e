import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type CallArguments, type OperationId, Vitascope, VitascopeError } from '@vitascope/sdk'
import type { Api, ApiResponse } from './api.ts'

const contract = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, { operationId: OperationId }>>
}

interface Call {
  id: OperationId
  path: Record<string, string>
  query: Record<string, string>
  payload: unknown
  idempotencyKey: string | undefined
}

/** Number of requests that the SDK has sent, and of requests that were sent directly because the SDK cannot express them. */
export const sent = { bySdk: 0, directly: 0 }

/**
 * Client whose requests are sent by the SDK, through `api`. Malformed requests, forms and unknown paths
 * are sent by `api` itself. Throws if the SDK returns another result or error than the response has.
 */
export function createSdkApi(url: string, key: string | undefined, api: Api): Api {
  const send = async <Body>(method: string, path: string, init: { body?: RequestInit['body']; headers?: Record<string, string> } = {}) => {
    const call = toCall(method, path, init)
    const response = call && (await sendBySdk(call, method))
    if (!response) sent.directly++
    else sent.bySdk++
    return (response ?? (await api.send(method, path, init))) as ApiResponse<Body>
  }

  /** Returns undefined if the SDK rejects the arguments. */
  const sendBySdk = async ({ id, idempotencyKey, ...call }: Call, method: string): Promise<ApiResponse<unknown> | undefined> => {
    let received: ApiResponse<unknown> | undefined
    const vitascope = new Vitascope({
      ...{ url, key, maxRetries: 0 },
      fetch: async (address, init) => {
        const { pathname, search } = new URL(String(address))
        received = await api.send(method, (pathname + search).replace('/v2', ''), {
          body: init?.body as string,
          headers: init?.headers as Record<string, string>,
        })
        const { status, headers, body } = received
        const isEmpty = body === '' || status === 204
        return new Response(isEmpty ? null : typeof body === 'string' ? body : JSON.stringify(body), { status, headers })
      },
    })
    // The arguments come from a table of requests, so their types are not known here.
    const args = { ...call, ...(idempotencyKey !== undefined && { idempotencyKey }) } as unknown as CallArguments<'getVideo'>
    try {
      const result = await vitascope.call(id as 'getVideo', args)
      const expected = received?.body === '' ? undefined : received?.body
      if (!isDeepStrictEqual(result, expected))
        throw new Error(`${id} returned another result than the response: ${JSON.stringify(result)}`)
    } catch (error) {
      if (!(error instanceof VitascopeError)) throw error
      if (error.code === 'invalid_argument' && !received) return undefined
      const { code } = (received?.body ?? {}) as { code?: string }
      const isOutdated = error.code === 'outdated_server' && (code === 'not_found' || code === 'method_not_allowed')
      // The response to a HEAD request has no code.
      const isExpected = error.code === (code ?? `http_${received?.status}`) || isOutdated
      if (error.status !== received?.status || !isExpected) throw error
    }
    return received
  }

  const withBody =
    (method: string) =>
    <Body>(path: string, payload?: unknown, headers: Record<string, string> = {}) =>
      send<Body>(method, path, {
        ...(payload !== undefined && { body: JSON.stringify(payload) }),
        headers: { ...(payload !== undefined && { 'content-type': 'application/json' }), ...headers },
      })
  return {
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: withBody('POST'),
    put: withBody('PUT'),
    patch: withBody('PATCH'),
    delete: (path, headers = {}) => send('DELETE', path, { headers }),
    send,
  }
}

interface Template {
  id: OperationId
  method: string
  names: string[]
  pattern: RegExp
}

/** Templates with more literal characters come first. */
const templates: readonly Template[] = Object.entries(contract.paths)
  .toSorted(([a], [b]) => literals(b) - literals(a))
  .flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { operationId }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      names: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
      pattern: new RegExp(`^${path.replaceAll('.', '[.]').replaceAll(/\{\w+\}/g, '([^/]+)')}$`),
    })),
  )

function literals(path: string): number {
  return path.replaceAll(/\{\w+\}/g, '').length
}

/** Returns undefined for a request that is not a call of an operation with JSON. */
function toCall(
  method: string,
  path: string,
  { body, headers = {} }: { body?: RequestInit['body']; headers?: Record<string, string> },
): Call | undefined {
  const { 'content-type': type, 'Idempotency-Key': upperKey, 'idempotency-key': key, ...others } = headers
  const [plainPath = '', search] = path.split('?')
  const parameters = [...new URLSearchParams(search)]
  const query = Object.fromEntries(parameters)
  const payload = typeof body === 'string' && type === 'application/json' ? parseObject(body) : undefined
  const template = templates.find((each) => each.method === method && each.pattern.test(plainPath))
  const hasOthers = Object.keys(others).length > 0 || Object.keys(query).length !== parameters.length
  if (!template || hasOthers || ((body ?? '') !== '' && payload === undefined)) return undefined
  const values = template.pattern.exec(plainPath)?.slice(1) ?? []
  if (values.some((value) => !isEncoded(value))) return undefined
  return {
    id: template.id,
    path: Object.fromEntries(template.names.map((name, index) => [name, decodeURIComponent(values[index] ?? '')])),
    ...{ query, payload, idempotencyKey: key ?? upperKey },
  }
}

function isEncoded(text: string): boolean {
  return URL.canParse(`http://h/${text}`) && /^(%[0-9A-Fa-f]{2}|[^%])*$/.test(text) && !/%[89A-Fa-f]/i.test(text)
}

function parseObject(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    // Duplicate keys and numbers in other forms would be changed.
    return typeof value === 'object' && value !== null && !Array.isArray(value) && JSON.stringify(value) === text ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
