import type { IncomingMessage } from 'node:http'
import type { Middleware } from './middleware.ts'
import { domainError } from './problem.ts'

/** Rejects requests that Node accepts but that two HTTP servers could interpret differently. */
export const rejectAmbiguousRequests: Middleware = (request) => {
  const ambiguity = findAmbiguity(request)
  if (ambiguity !== undefined) throw domainError('invalid', 'BAD_REQUEST', ambiguity)
}

/** Headers that must not be repeated. */
const SINGLE_HEADERS = new Set(['host', 'content-type', 'content-length', 'transfer-encoding', 'idempotency-key'])

function findAmbiguity(request: IncomingMessage): string | undefined {
  const target = request.url ?? ''
  if (!target.startsWith('/')) return 'the request line must contain a path, not an absolute URL'
  // Only printable ASCII without a fragment is accepted, because parsers differ on the rest.
  if (!/^[!"$-~]+$/.test(target)) return 'the path must be percent-encoded'
  const [path = ''] = target.split('?', 1)
  const decoded = decodePath(path)
  if (decoded === undefined) return 'the path has an invalid percent-encoding'
  if (decoded.includes('\0')) return 'the path contains a NUL character'
  if (request.headers.host === undefined && request.httpVersion !== '1.0') return 'the Host header is missing'
  const repeated = findRepeated(request.rawHeaders)
  if (repeated !== undefined) return `the header ${repeated} must not be repeated`
  const coding = request.headers['transfer-encoding']?.toLowerCase()
  if (coding !== undefined && coding !== 'chunked') return 'the transfer coding must be chunked'
  if (request.rawHeaders.some(isFolded)) return 'a header must not span several lines'
  return undefined
}

/**
 * Returns the first single-valued header that is repeated. `rawHeaders` alternates names and
 * values.
 */
function findRepeated(rawHeaders: readonly string[]): string | undefined {
  const names = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    if (!SINGLE_HEADERS.has(name)) continue
    if (names.has(name)) return name
    names.add(name)
  }
  return undefined
}

function decodePath(path: string): string | undefined {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

function isFolded(text: string): boolean {
  return text.includes('\n') || text.includes('\r')
}
