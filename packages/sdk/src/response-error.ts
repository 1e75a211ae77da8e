import { VitascopeError } from './error.ts'

interface Problem {
  code?: unknown
  title?: unknown
  detail?: unknown
  request_id?: unknown
  errors?: unknown
}

/** Codes of a platform that does not have the path or the method. No operation returns them. */
const UNKNOWN_OPERATION = new Set(['not_found', 'method_not_allowed'])
const MAX_PROBLEM_CHARACTERS = 1_000_000

/** Parts of a request that error messages contain. */
export interface RequestName {
  /** Address of the platform, as in `url`. */
  origin: string
  method: string
  /** Path without the values of a query, which may be secrets. */
  path: string
  /** Id of the operation, or its description. */
  operation: string
}

/** Returns the error of a response with a status that is not 2xx. Reads its body. */
export async function toResponseError(response: Response, name: RequestName): Promise<VitascopeError> {
  const { status, headers } = response
  const retryAfterSeconds = readRetryAfter(headers.get('retry-after'))
  const requestId = headers.get('x-request-id') ?? undefined
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) return redirected(response, name)
  const problem = name.method === 'HEAD' ? undefined : parseProblem(await response.text())
  if (problem === undefined) {
    // The response to a HEAD request has no body.
    if (name.method === 'HEAD' && requestId !== undefined) {
      return new VitascopeError(`${describe(name)} returned ${status}`, { code: `http_${status}`, status, requestId, retryAfterSeconds })
    }
    return foreignResponse(response, name, retryAfterSeconds)
  }
  const { code, title, detail: text, request_id: id, errors } = problem
  const detail = typeof text === 'string' ? text : String(title ?? code)
  const fields = Array.isArray(errors) ? errors.filter(isFieldError) : []
  const facts = { status, detail, fields, requestId: typeof id === 'string' ? id : requestId, retryAfterSeconds }
  if (UNKNOWN_OPERATION.has(code)) {
    const message = `The platform at ${name.origin} is older than this client: it does not have ${name.operation} (${describe(name)}).`
    return new VitascopeError(message, { code: 'outdated_server', ...facts })
  }
  if (status === 401 && code.startsWith('key_')) {
    return new VitascopeError(`The platform at ${name.origin} rejected the API key: ${detail}.`, { code, ...facts })
  }
  const invalid = fields.map(({ field, message }) => `${field} ${message}`).join('; ')
  return new VitascopeError(`${describe(name)}: ${invalid === '' ? detail : invalid}`, { code, ...facts })
}

/** Returns the error of a response that does not come from a Vitascope platform. */
export function foreignResponse(response: Response, name: RequestName, retryAfterSeconds?: number): VitascopeError {
  const { status, headers } = response
  const type = headers.get('content-type')?.split(';')[0] ?? 'no content type'
  const facts = { status, requestId: headers.get('x-request-id') ?? undefined, retryAfterSeconds }
  if (status >= 500) {
    const message = `${describe(name)} returned ${status} without a problem document (${type}). The platform, or a proxy before it, failed.`
    return new VitascopeError(message, { code: 'server_error', ...facts })
  }
  const message = `The server at ${name.origin} is not a Vitascope platform: ${describe(name)} returned ${status} with ${type}. Check the option url.`
  return new VitascopeError(message, { code: 'not_vitascope', ...facts })
}

/** Returns the error of a request without a response. */
export function unreachable({ origin }: RequestName, cause: unknown): VitascopeError {
  if ((cause as Error | undefined)?.name === 'TimeoutError') {
    return new VitascopeError(`The platform at ${origin} did not respond in time.`, { code: 'timeout', cause })
  }
  const reason = findReason(cause)
  const message = `The platform at ${origin} cannot be reached${reason === '' ? '' : ` (${reason})`}. Check the option url.`
  return new VitascopeError(message, { code: 'network_error', cause })
}

/**
 * Returns the seconds of a `Retry-After` header (RFC 9110: a number of seconds, or a date), 0 or more. Returns
 * undefined if the header is missing or malformed.
 */
export function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

function redirected(response: Response, name: RequestName): VitascopeError {
  const target = response.headers.get('location')
  const where = target === null ? 'to another address' : `to ${target.split('?')[0]}`
  return new VitascopeError(`${describe(name)} is redirected ${where}. Use the address of the platform itself in the option url.`, {
    code: 'redirected',
    status: response.status,
  })
}

function describe({ method, path }: RequestName): string {
  return `${method} ${path}`
}

function parseProblem(text: string): (Problem & { code: string }) | undefined {
  if (text.length > MAX_PROBLEM_CHARACTERS || !text.trimStart().startsWith('{')) return undefined
  try {
    const value = JSON.parse(text) as Problem
    return typeof value.code === 'string' && typeof value.request_id === 'string' ? { ...value, code: value.code } : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isFieldError(value: unknown): value is { field: string; message: string } {
  const { field, message } = (value ?? {}) as Record<string, unknown>
  return typeof field === 'string' && typeof message === 'string'
}

/**
 * Returns the reason that fetch of Node.js puts into `cause`, such as `connect ECONNREFUSED 127.0.0.1:1`.
 * An error can come from another realm, so its class is not checked.
 */
function findReason(error: unknown): string {
  const { cause, errors, message } = (error ?? {}) as { cause?: unknown; errors?: unknown; message?: unknown }
  if (Array.isArray(errors)) return findReason(errors[0])
  return cause === undefined ? String(message ?? '') : findReason(cause)
}
