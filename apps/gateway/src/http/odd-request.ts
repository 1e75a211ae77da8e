import type { IncomingMessage } from 'node:http'
import { refusal } from './problem.ts'
import type { Step } from './step.ts'

/** Refuses what Node lets through and what two servers could read in two ways. */
export const refuseOddRequests: Step = (request) => {
  const oddity = oddityOf(request)
  if (oddity !== undefined) throw refusal('invalid', 'BAD_REQUEST', oddity)
}

/** One header twice is one too many for these. */
const ONCE = new Set(['host', 'content-type', 'content-length', 'transfer-encoding', 'idempotency-key'])

function oddityOf(request: IncomingMessage): string | undefined {
  const target = request.url ?? ''
  if (!target.startsWith('/')) return 'the request line must hold a path, not a whole address'
  // Printable ASCII only, and no fragment: parsers differ on the rest.
  if (!/^[!"$-~]+$/.test(target)) return 'the path must be percent-encoded'
  const [path = ''] = target.split('?', 1)
  const decoded = decodePath(path)
  if (decoded === undefined) return 'the path has an invalid percent-encoding'
  if (decoded.includes('\0')) return 'the path has a NUL'
  if (request.headers.host === undefined && request.httpVersion !== '1.0') return 'the header host is missing'
  const twice = twiceIn(request.rawHeaders)
  if (twice !== undefined) return `the header ${twice} must be there once`
  const coding = request.headers['transfer-encoding']?.toLowerCase()
  if (coding !== undefined && coding !== 'chunked') return 'the transfer coding must be chunked'
  if (request.rawHeaders.some(isFolded)) return 'a header must not go over several lines'
  return undefined
}

/** Names and values take turns. */
function twiceIn(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? ''
    if (!ONCE.has(name)) continue
    if (seen.has(name)) return name
    seen.add(name)
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
