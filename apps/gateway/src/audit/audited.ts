import { isDomainError } from '@vitascope/errors'
import type { KeyHolder } from '../access/key-checks.ts'
import type { Exchange } from '../http/exchange.ts'
import { statusOf } from '../http/problem.ts'
import { Reply, type Route } from '../route.ts'
import type { AuditLog } from './audit-log.ts'
import { madeIdOf } from './made-id.ts'

/** What nginx calls a caller who hung up: nothing was begun. */
const HUNG_UP = 499
const KEY_START = 8
/** A read that takes something away, and found nothing: no write, so that it is not listed. */
const NOTHING_CHANGED = 304

/** Runs the handler of a write between its entry in the audit log and its ending; reads, and what needs no entry, are run as they are. */
export async function audited<Answer>(
  { route, params }: { route: Route; params: Readonly<Record<string, unknown>> },
  { holder, exchange, signal }: { holder: KeyHolder | undefined; exchange: Exchange; signal: Pick<AbortSignal, 'aborted' | 'reason'> },
  log: AuditLog,
  handle: () => Promise<Answer>,
): Promise<Answer> {
  if (!route.audited) return await handle()
  const end = await log.begin({
    organisationId: holder?.organisationId ?? '',
    userId: holder?.userId ?? '',
    keyStart: holder?.key.slice(0, KEY_START) ?? '',
    action: route.resource,
    object: objectOf(exchange.instance(), params),
    requestId: exchange.requestId,
    address: exchange.address,
  })
  if (signal.aborted) {
    end({ status: HUNG_UP, madeId: '' })
    throw signal.reason
  }
  try {
    const answer = await handle()
    const status = answer instanceof Reply ? answer.status : route.status
    end({ status: route.verb === 'get' && answer === null ? NOTHING_CHANGED : status, madeId: madeIdOf(route, params, answer) })
    return answer
  } catch (error) {
    // What was broken off because the caller left may have happened: no ending says so.
    if (!signal.aborted) end({ status: isDomainError(error) ? statusOf(error) : 500, madeId: '' })
    throw error
  }
}

/** The path, with the start of a key that it names, as keys are told apart in the log. */
function objectOf(instance: string, { apiKey }: Readonly<Record<string, unknown>>): string {
  const path = instance.replace(/^\/v2/, '')
  return typeof apiKey === 'string' ? path.replace(':api_key', apiKey.slice(0, KEY_START)) : path
}
