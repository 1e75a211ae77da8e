import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Call } from '@vitascope/grpc'
import { admitCaller, principalOf } from '../access/access-check.ts'
import type { KeyChecks } from '../access/key-checks.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { audited } from '../audit/audited.ts'
import { type Exchange, exchangeOf, HangUp } from '../http/exchange.ts'
import { type Limiter, type Payer, payerName } from '../limits/limiter.ts'
import type { LoadShed } from '../limits/load-shed.ts'
import type { PasswordTries } from '../limits/password-tries.ts'
import type { Bodies } from '../payload/bodies.ts'
import { readPayload } from '../payload/payload.ts'
import { type Pair, parsePercentForm } from '../payload/percent-form.ts'
import { badField } from '../payload/refusals.ts'
import { type Context, Reply, type Route, Streamed } from '../route.ts'
import type { Services } from '../services.ts'
import type { UploadProxy } from '../upload/upload-proxy.ts'
import { checkAnswer, sendAnswer } from './answer.ts'
import { idempotencyOf } from './idempotency.ts'
import { checkInput, type InputSchemas, inputSchemas, publicName } from './input.ts'
import type { Target } from './route-index.ts'
import { sendStream } from './stream-answer.ts'

export interface ApiParts {
  services: Services
  /** The secret of the services. */
  principalKey: Uint8Array
  keys: KeyChecks
  audit: AuditLog
  limiter: Limiter
  passwordTries: PasswordTries
  bodies: Bodies
  shed: LoadShed
  passUpload: UploadProxy
  publicUrl: () => string
  /** What is wrong with the address of a source, as far as the address itself shows. */
  checkSource: (url: string) => readonly string[]
  /** Answers are held against their schema; a wrong one is a fault. For tests. */
  checkAnswers: boolean
}

const READ_MS = 2_000
const WRITE_MS = 10_000

/** Serves requests that lead to a target, each with the values of the path's parameters in their order. */
export type Serve = (request: IncomingMessage, response: ServerResponse, values: readonly string[]) => Promise<void>

/**
 * The walk of one request: who asks, may they, have they budget, what do they ask, the call, the answer. Knows nothing of Express, which leads only
 * some of them here.
 */
export function serveTarget(target: Target, parts: ApiParts): Serve {
  const { route } = target
  const schemas = inputSchemas(route)
  return async (request, response, values) => {
    const exchange = exchangeOf(response)
    const params = nameExchange(exchange, target, values)
    const query = parsePercentForm(rawQuery(request))
    for (const [name, value] of query) if (SECRET_NAMES.has(name)) exchange.secrets.push(value)
    const { caller, holder } = await admitCaller(route, request, queriedKey(route, query), exchange, parts)
    const payer = holder ? ({ policy: 'key', keyId: holder.keyId } as const) : ({ policy: 'address', address: exchange.address } as const)
    for (const [name, value] of Object.entries(await parts.limiter.take(payer, route.cost))) response.setHeader(name, value)
    const hangUp = new HangUp(response)

    if (route.passOn) {
      const input = await checkInput(route, schemas, { params, query, payload: undefined }, async () => undefined)
      const path = `${route.passOn(input.params)}${query.length > 0 ? `?${rawQuery(request)}` : ''}`
      const to = { path, principal: principalOf(caller) }
      const asked = { route, params: input.params }
      await audited(asked, { holder, exchange, signal: hangUp }, parts.audit, async () => {
        await parts.passUpload(request, response, to)
        return new Reply('', { status: response.statusCode })
      })
      return
    }
    // A place is taken when all is there: nobody holds one by sending slowly.
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
      takeSubmission: (contactFormId) => parts.limiter.takeSubmission(exchange.address, contactFormId),
      from: { address: exchange.address, userAgent: request.headers['user-agent'] ?? '' },
    }
    const came = { params, query, payload: await payloadOf(request, bytes, target, schemas, query) }
    const input = await checkInput(route, schemas, came, async (sent) => route.judge?.(sent, context))
    call.idempotency = idempotencyOf(request, target, input, { caller, address: exchange.address, secret: parts.principalKey })
    const asked = { route, params: input.params }
    const answer = await audited(asked, { holder, exchange, signal: hangUp }, parts.audit, () => route.handle(input, context))
    if (hangUp.aborted) return
    if (answer instanceof Streamed) return await sendStream(request, response, answer, hangUp.signal)
    if (parts.checkAnswers) checkAnswer(route, answer)
    sendAnswer(request, response, route, answer, caller.kind === 'guest')
  }
}

/** Reads have none: a body that comes with one means nothing. */
async function bodyOf(request: IncomingMessage, response: ServerResponse, { verb }: Target, payer: Payer, { bodies }: ApiParts) {
  if (verb === 'get') return undefined
  return await bodies.read(request, payerName(payer), () => response.setHeader('Connection', 'close'))
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
  const keys = query.filter(([name]) => name === route.keyFromQuery)
  if (keys.length > 1) throw badField(`${route.keyFromQuery}`, 'must be there once')
  return keys[0]?.[1]
}

/** The parameters under the names of this route; from here on logs and problems know the template. */
export function nameExchange(exchange: Exchange, { path, params: names }: Target, values: readonly string[]): Record<string, string> {
  exchange.template = `/v2${path}`
  const params = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
  exchange.instance = () => `/v2${path.replaceAll(/:(\w+)/g, (_, name: string) => shownParam(name, params[name] ?? ''))}`
  for (const name of names) if (SECRET_PARAMS.has(name)) exchange.secrets.push(params[name] ?? '')
  return params
}

const SECRET_PARAMS = new Set(['apiKey', 'password', 'token'])
const SECRET_NAMES = new Set(['api_key', 'password', 'token'])

/** Only what is an id for certain is shown; a key in its place is not. */
function shownParam(name: string, value: string): string {
  return /^\d{1,19}$/.test(value) && !SECRET_PARAMS.has(name) ? value : `:${publicName(name)}`
}

function rawQuery({ url = '' }: IncomingMessage): string {
  const at = url.indexOf('?')
  return at === -1 ? '' : url.slice(at + 1)
}
