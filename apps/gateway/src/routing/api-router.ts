import type { Request, RequestHandler, Response } from 'express'
import { Router } from 'express'
import { admitCaller, principalOf } from '../access/access-check.ts'
import type { KeyChecks } from '../access/key-checks.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { audited } from '../audit/audited.ts'
import { answerOptions } from '../http/cors.ts'
import { type Exchange, exchangeOf, hangUpSignal } from '../http/exchange.ts'
import { refusal } from '../http/problem.ts'
import { type Limiter, type Payer, payerName } from '../limits/limiter.ts'
import type { LoadShed } from '../limits/load-shed.ts'
import type { PasswordTries } from '../limits/password-tries.ts'
import type { Bodies } from '../payload/bodies.ts'
import { readPayload } from '../payload/payload.ts'
import { type Pair, parsePercentForm } from '../payload/percent-form.ts'
import { badField } from '../payload/refusals.ts'
import { type Context, Reply, type Route, Streamed, type Verb } from '../route.ts'
import type { Services } from '../services.ts'
import type { UploadProxy } from '../upload/upload-proxy.ts'
import { checkAnswer, sendAnswer } from './answer.ts'
import { idempotencyOf } from './idempotency.ts'
import { checkInput, type InputSchemas, inputSchemas, publicName } from './input.ts'
import { beginnings, indexRoutes, type PathEntry, type Target } from './route-index.ts'
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

/**
 * Serves every path of the table, below `/v2`. What is not in the table does not exist. A path without parameters is looked up whole, any other
 * within its first part: Express tries its patterns one after another, and there are some two hundred.
 */
export function apiRouter(routes: readonly Route[], parts: ApiParts): RequestHandler {
  const begun = beginnings(routes)
  const whole = new Map<string, RequestHandler>()
  const areas = new Map<string, Router>()
  for (const entry of indexRoutes(routes)) {
    const serve = dispatcher(entry, begun, parts)
    if (!entry.pattern.includes(':')) {
      whole.set(entry.pattern, serve)
      continue
    }
    const area = areas.get(areaOf(entry.pattern)) ?? Router({ caseSensitive: true, strict: false })
    areas.set(areaOf(entry.pattern), area)
    area.all(entry.pattern, serve)
  }
  return (request, response, next) => {
    const { path } = request
    const serve = whole.get(path.endsWith('/') ? path.slice(0, -1) : path) ?? areas.get(areaOf(path))
    return serve ? serve(request, response, next) : next()
  }
}

/** The first part of a path: `video` of `/video/:p0`. */
function areaOf(path: string): string {
  const [, first = ''] = path.split('/', 2)
  return first
}

/** One path: finds the route of the verb; OPTIONS and 405 follow from the others. */
function dispatcher(entry: PathEntry, begun: ReadonlyMap<string, string>, parts: ApiParts): RequestHandler {
  const targets = new Map([...entry.targets].map(([verb, target]) => [verb, serveTarget(target, parts)]))
  const get = entry.targets.get('get')
  const verbs = allowedVerbs(entry)
  const options = Object.assign({}, ...[...entry.targets.values()].map(({ route }) => route.optionsHeaders))
  return (request, response) => {
    const asked = request.method.toLowerCase()
    const serve = targets.get(asked as Verb) ?? (asked === 'head' && get?.route.safe ? targets.get('get') : undefined)
    if (serve) return serve(request, response)
    nameExchange(exchangeOf(response), anyTarget(entry), request)
    if (asked === 'options') return answerOptions(request, response, verbs, options)
    const longer = begun.get(request.path.replace(/\/$/, ''))
    if (longer !== undefined)
      throw refusal(
        'not_found',
        'NOT_FOUND',
        `this path goes on: /v2${longer.replaceAll(/:(\w+)/g, (_, name: string) => `{${publicName(name)}}`)}`,
      )
    response.setHeader('Allow', verbs)
    throw refusal('refused', 'METHOD_NOT_ALLOWED', `this path takes ${verbs}`)
  }
}

/** The walk of one request: who asks, may they, have they budget, what do they ask, the call, the answer. */
function serveTarget(target: Target, parts: ApiParts): (request: Request, response: Response) => Promise<void> {
  const { route } = target
  const schemas = inputSchemas(route)
  return async (request, response) => {
    const exchange = exchangeOf(response)
    const params = nameExchange(exchange, target, request)
    const query = parsePercentForm(rawQuery(request))
    for (const [name, value] of query) if (SECRET_NAMES.has(name)) exchange.secrets.push(value)
    const { caller, holder } = await admitCaller(route, request, queriedKey(route, query), exchange, parts)
    const payer = holder ? ({ policy: 'key', keyId: holder.keyId } as const) : ({ policy: 'address', address: exchange.address } as const)
    response.setHeaders(new Map(Object.entries(await parts.limiter.take(payer, route.cost))))

    if (route.passOn) {
      const input = await checkInput(route, schemas, { params, query, payload: undefined }, async () => undefined)
      const path = `${route.passOn(input.params)}${query.length > 0 ? `?${rawQuery(request)}` : ''}`
      const to = { path, principal: principalOf(caller) }
      const asked = { route, params: input.params }
      await audited(asked, { holder, exchange, signal: hangUpSignal(response) }, parts.audit, async () => {
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
    const signal = hangUpSignal(response)
    const context: Context = {
      caller,
      call: {
        principal: principalOf(caller),
        requestId: exchange.requestId,
        signal,
        deadline: new Date(Date.now() + (route.cost === 'read' ? READ_MS : WRITE_MS)),
      },
      services: parts.services,
      publicUrl: parts.publicUrl(),
      checkSource: parts.checkSource,
      takePasswordTry: (videoId) => parts.passwordTries.take(exchange.address, videoId),
      takeSubmission: (contactFormId) => parts.limiter.takeSubmission(exchange.address, contactFormId),
      from: { address: exchange.address, userAgent: request.headers['user-agent'] ?? '' },
    }
    const came = { params, query, payload: await payloadOf(request, bytes, target, schemas, query) }
    const input = await checkInput(route, schemas, came, async (sent) => route.judge?.(sent, context))
    const idempotency = idempotencyOf(request, target, input, { caller, address: exchange.address, secret: parts.principalKey })
    const asked = { route, params: input.params }
    const answer = await audited(asked, { holder, exchange, signal }, parts.audit, () =>
      route.handle(input, { ...context, call: { ...context.call, idempotency } }),
    )
    if (signal.aborted) return
    if (answer instanceof Streamed) return await sendStream(request, response, answer, signal)
    if (parts.checkAnswers) checkAnswer(route, answer)
    sendAnswer(request, response, route, answer, caller.kind === 'guest')
  }
}

/** Reads have none: a body that comes with one means nothing. */
async function bodyOf(request: Request, response: Response, { verb }: Target, payer: Payer, { bodies }: ApiParts) {
  if (verb === 'get') return undefined
  return await bodies.read(request, payerName(payer), () => response.setHeader('Connection', 'close'))
}

async function payloadOf(
  request: Request,
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
function nameExchange(exchange: Exchange, { path, params: names }: Target, request: Request): Record<string, string> {
  const values = names.map((name, index) => [name, String(request.params[`p${index}`] ?? '')] as const)
  exchange.template = `/v2${path}`
  const params = Object.fromEntries(values)
  exchange.instance = () => `/v2${path.replaceAll(/:(\w+)/g, (_, name: string) => shownParam(name, params[name] ?? ''))}`
  for (const [name, value] of values) if (SECRET_PARAMS.has(name)) exchange.secrets.push(value)
  return params
}

const SECRET_PARAMS = new Set(['apiKey', 'password', 'token'])
const SECRET_NAMES = new Set(['api_key', 'password', 'token'])

/** Only what is an id for certain is shown; a key in its place is not. */
function shownParam(name: string, value: string): string {
  return /^\d{1,19}$/.test(value) && !SECRET_PARAMS.has(name) ? value : `:${publicName(name)}`
}

function rawQuery(request: Request): string {
  const at = request.url.indexOf('?')
  return at === -1 ? '' : request.url.slice(at + 1)
}

function allowedVerbs({ targets }: PathEntry): string {
  const verbs = [...targets.keys()].map((verb) => verb.toUpperCase())
  return [...new Set([...verbs, ...(targets.get('get')?.route.safe ? ['HEAD'] : []), 'OPTIONS'])].sort().join(', ')
}

function anyTarget({ targets }: PathEntry): Target {
  const [target] = targets.values()
  if (!target) throw new Error('a path without a route')
  return target
}
