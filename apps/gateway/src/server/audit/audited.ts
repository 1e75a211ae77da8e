import { isDomainError } from '@vitascope/errors'
import type { KeyHolder } from '../access/key-cache.ts'
import { toHttpStatus } from '../http/problem.ts'
import type { RequestContext } from '../http/request-context.ts'
import { Reply } from '../route/reply.ts'
import type { Route } from '../route/route.ts'
import type { AuditLog } from './audit-log.ts'
import { findCreatedId } from './created-id.ts'

/** nginx's status for a client that disconnected. The handler was not started. */
const CLIENT_CLOSED_REQUEST = 499
const KEY_START = 8
/** Status of a destructive read that found nothing. It is not a write, so it is not listed. */
const NOTHING_CHANGED = 304

/**
 * Runs a handler between the audit entry and its outcome. Routes that are not audited run without
 * either.
 */
export async function runAudited<Result>(
  { route, params }: { route: Route; params: Readonly<Record<string, unknown>> },
  { holder, context, signal }: { holder: KeyHolder | undefined; context: RequestContext; signal: Pick<AbortSignal, 'aborted' | 'reason'> },
  log: AuditLog,
  handle: () => Promise<Result>,
): Promise<Result> {
  if (!route.audited) return await handle()
  const recordOutcome = await log.recordIntent({
    organisationId: holder?.organisationId ?? '',
    userId: holder?.userId ?? '',
    keyStart: holder?.key.slice(0, KEY_START) ?? '',
    action: route.resource,
    object: formatObject(context.instance(), params),
    requestId: context.requestId,
    address: context.address,
  })
  if (signal.aborted) {
    recordOutcome({ status: CLIENT_CLOSED_REQUEST, createdId: '' })
    throw signal.reason
  }
  try {
    const result = await handle()
    const status = result instanceof Reply ? result.status : route.status
    recordOutcome({
      status: route.verb === 'get' && result === null ? NOTHING_CHANGED : status,
      createdId: findCreatedId(route, params, result),
    })
    return result
  } catch (error) {
    // An aborted call may have been executed, so no outcome is recorded.
    if (!signal.aborted) recordOutcome({ status: isDomainError(error) ? toHttpStatus(error) : 500, createdId: '' })
    throw error
  }
}

/**
 * Returns the path of the entry. A key in it is cut to the prefix that identifies it in the log.
 */
function formatObject(instance: string, { apiKey }: Readonly<Record<string, unknown>>): string {
  const path = instance.replace(/^\/v2/, '')
  return typeof apiKey === 'string' ? path.replace(':api_key', apiKey.slice(0, KEY_START)) : path
}
