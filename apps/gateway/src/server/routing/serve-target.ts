import type { IncomingMessage, ServerResponse } from 'node:http'
import { isDomainError } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import type { Services } from '../../clients/services.ts'
import { admitCaller, principalOf } from '../access/access-check.ts'
import type { ApiKeyCache } from '../access/key-cache.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { audited } from '../audit/audited.ts'
import { refusal } from '../http/problem.ts'
import { ClientDisconnect, type RequestContext, requestContext } from '../http/request-context.ts'
import type { ConcurrencyLimit } from '../limits/adaptive-concurrency-limit.ts'
import type { EventBudgets } from '../limits/event-budgets.ts'
import { type Limiter, type Payer, payerName } from '../limits/limiter.ts'
import type { PasswordTries } from '../limits/password-tries.ts'
import type { UnknownIds } from '../limits/viewer-paths.ts'
import type { BodyLimiter } from '../payload/body-limiter.ts'
import { readPayload } from '../payload/payload.ts'
import { badField } from '../payload/refusals.ts'
import { type Pair, parseUrlencoded } from '../payload/urlencoded.ts'
import type { UploadProxy } from '../proxy/upload-proxy.ts'
import { type Context, Reply, type Route, Streamed } from '../route/route.ts'
import { publicName, type Target } from '../route/route-index.ts'
import { checkAnswer, sendAnswer, sendStream } from './answer.ts'
import { idempotencyOf } from './idempotency.ts'
import { checkInput, type InputSchemas, inputSchemas } from './input.ts'

export interface ApiParts {
  services: Services
  /** See `idempotencyOf`. */
  idempotencyHashKey: string
  keys: ApiKeyCache
  audit: AuditLog
  limiter: Limiter
  eventBudgets: EventBudgets
  passwordTries: PasswordTries
  bodies: BodyLimiter
  shed: ConcurrencyLimit
  unknownIds: UnknownIds
  passUpload: UploadProxy
  publicUrl: () => string
  /** Returns the problems of a source URL that are visible in the URL itself. */
  checkSource: (url: string) => readonly string[]
  /** True to validate responses against their schema, in tests. A mismatch is an internal error. */
  checkAnswers: boolean
}

const READ_MS = 2_000
const WRITE_MS = 10_000

/** Serves a request for a target, with the values of the path parameters in order. */
export type Serve = (request: IncomingMessage, response: ServerResponse, values: readonly string[]) => Promise<void>

/**
 * Returns the handler of a target. It authenticates, checks access and budget, reads and validates
 * the input, calls the handler and sends the response. It is independent of Express, because some
 * requests bypass Express.
 */
export function serveTarget(target: Target, parts: ApiParts): Serve {
  const { route } = target
  const schemas = inputSchemas(route)
  return async (request, response, values) => {
    const exchange = requestContext(response)
    const params = nameExchange(exchange, target, values)
    const query = parseUrlencoded(rawQuery(request))
    for (const [name, value] of query) if (SECRET_NAMES.has(name)) exchange.secrets.push(value)
    const { caller, holder } = await admitCaller(route, request, queriedKey(route, query), exchange, parts)
    const payer = holder ? ({ policy: 'key', keyId: holder.keyId } as const) : ({ policy: 'address', address: exchange.address } as const)
    for (const [name, value] of Object.entries(await parts.limiter.take(payer, route.cost))) response.setHeader(name, value)
    const hangUp = new ClientDisconnect(response)

    if (route.proxyTo) {
      const input = await checkInput(route, schemas, { params, query, payload: undefined }, async () => undefined)
      const path = `${route.proxyTo(input.params)}${query.length > 0 ? `?${rawQuery(request)}` : ''}`
      const to = { path, principal: principalOf(caller) }
      const asked = { route, params: input.params }
      await audited(asked, { holder, exchange, signal: hangUp }, parts.audit, async () => {
        await parts.passUpload(request, response, to)
        return new Reply('', { status: response.statusCode })
      })
      return
    }
    // The slot is taken after the body has arrived, so that a slow sender does not occupy one.
    const bytes = await bodyOf(request, response, target, payer, parts)
    if (response.destroyed) return
    const running = parts.shed.begin(route.cost === 'read' ? 'read' : 'write', payerName(payer))
    response.once('close', () => running.end(response.writableFinished && response.statusCode < 400))
    const call: Call = {
      principal: principalOf(caller),
      requestId: exchange.requestId,
      get signal() {
        return hangUp.signal
      },
      deadline: new Date(Date.now() + (route.cost === 'read' ? READ_MS : WRITE_MS)),
    }
    const context: Context = {
      caller,
      call,
      services: parts.services,
      publicUrl: parts.publicUrl(),
      checkSource: parts.checkSource,
      takePasswordTry: (videoId) => parts.passwordTries.take(exchange.address, videoId),
      admitEvents: async (events, sent, send) => {
        const { result, headers } = await parts.eventBudgets.admit(events, { payer, address: exchange.address, ...sent }, send)
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
        return result
      },
      takeSubmission: (contactFormId) => parts.limiter.takeSubmission(exchange.address, contactFormId),
      from: { address: exchange.address, userAgent: request.headers['user-agent'] ?? '' },
    }
    const came = { params, query, payload: await payloadOf(request, bytes, target, schemas, query) }
    const input = await checkInput(route, schemas, came, async (sent) => route.validateRemotely?.(sent, context))
    call.idempotency = idempotencyOf(request, target, input, { caller, address: exchange.address, hashKey: parts.idempotencyHashKey })
    const asked = { route, params: input.params }
    const answer = await audited(asked, { holder, exchange, signal: hangUp }, parts.audit, () => route.handle(input, context))
    if (hangUp.aborted) return
    if (answer instanceof Streamed) return await sendStream(request, response, answer, hangUp.signal)
    if (parts.checkAnswers) checkAnswer(route, answer)
    sendAnswer(request, response, route, answer, caller.kind === 'guest')
  }
}

/** Reads the body of a write. The body of a GET is ignored. */
async function bodyOf(request: IncomingMessage, response: ServerResponse, { verb, route }: Target, payer: Payer, { bodies }: ApiParts) {
  if (verb === 'get') return undefined
  try {
    return await bodies.read(request, payerName(payer), () => response.setHeader('Connection', 'close'))
  } catch (error) {
    const isForm = request.headers['content-type']?.startsWith('multipart/form-data') === true
    if (!isForm || route.fileAdvice === undefined || !isDomainError(error) || error.reason !== 'PAYLOAD_TOO_LARGE') throw error
    throw refusal('invalid', error.reason, `${error.message}; ${route.fileAdvice}`)
  }
}

async function payloadOf(
  request: IncomingMessage,
  bytes: Buffer | undefined,
  { verb }: Target,
  { form }: InputSchemas,
  query: readonly Pair[],
): Promise<unknown> {
  return verb === 'get' ? undefined : await readPayload(request, bytes, query, form)
}

function queriedKey(route: Route, query: readonly Pair[]): string | undefined {
  const keys = query.filter(([name]) => name === route.apiKeyParam)
  if (keys.length > 1) throw badField(`${route.apiKeyParam}`, 'must not be repeated')
  return keys[0]?.[1]
}

/**
 * Returns the path parameters by name, and sets the path template for logs and problem documents.
 */
export function nameExchange(exchange: RequestContext, { path, params: names }: Target, values: readonly string[]): Record<string, string> {
  exchange.template = `/v2${path}`
  const params = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
  exchange.instance = () => `/v2${path.replaceAll(/:(\w+)/g, (_, name: string) => shownParam(name, params[name] ?? ''))}`
  for (const name of names) if (SECRET_PARAMS.has(name)) exchange.secrets.push(params[name] ?? '')
  return params
}

const SECRET_PARAMS = new Set(['apiKey', 'password', 'token'])
const SECRET_NAMES = new Set(['api_key', 'password', 'token'])

/** Returns the value only if it is an id, so that a key in its place is not shown. */
function shownParam(name: string, value: string): string {
  return /^\d{1,19}$/.test(value) && !SECRET_PARAMS.has(name) ? value : `:${publicName(name)}`
}

function rawQuery({ url = '' }: IncomingMessage): string {
  const at = url.indexOf('?')
  return at === -1 ? '' : url.slice(at + 1)
}
