import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { isDomainError } from '@vitascope/errors'
import type { Call, Principal } from '@vitascope/grpc'
import type { TransferLimiter } from '@vitascope/process'
import type { UnknownIds } from '@vitascope/rate-limit'
import type { Logger } from '@vitascope/telemetry'
import type { Services } from '../../clients/services.ts'
import { admitCaller, toPrincipal } from '../access/access-check.ts'
import type { ApiKeyCache } from '../access/key-cache.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { runAudited } from '../audit/audited.ts'
import { domainError } from '../http/problem.ts'
import { ClientDisconnect, type RequestContext, requestContext } from '../http/request-context.ts'
import type { ConcurrencyLimit } from '../limits/adaptive-concurrency-limit.ts'
import type { EventBudgets } from '../limits/event-budgets.ts'
import { type Limiter, type Payer, payerName } from '../limits/limiter.ts'
import type { PasswordAttempts } from '../limits/password-attempts.ts'
import { discardBody } from '../payload/body.ts'
import type { BodyLimiter } from '../payload/body-limiter.ts'
import { invalidField } from '../payload/field-errors.ts'
import type { FileForm } from '../payload/file-form.ts'
import { readFormPayload, readPayload } from '../payload/payload.ts'
import { type Pair, parseUrlencoded } from '../payload/urlencoded.ts'
import type { FileSender } from '../proxy/file-sender.ts'
import type { UploadProxy } from '../proxy/upload-proxy.ts'
import type { Caller } from '../route/caller.ts'
import { deprecationHeaders } from '../route/deprecation.ts'
import { Reply, Streamed } from '../route/reply.ts'
import type { Context, Route } from '../route/route.ts'
import { publicName, type Target } from '../route/route-index.ts'
import { required } from '../schema/response-format.ts'
import { readIfMatch } from './etag.ts'
import type { GuestResponses } from './guest-responses.ts'
import { readIdempotency } from './idempotency.ts'
import { checkInput, type Input, type InputSchemas, inputSchemas } from './input.ts'
import { prepareResponse, sendResponse, sendStream, validateResponse } from './send-response.ts'
import { DISCARD_TIMEOUT_MS, handleFormFile, isMultipartForm, withFileForm } from './serve-file-form.ts'

export interface ApiDependencies {
  services: Services
  /** See `readIdempotency`. */
  idempotencyHashKey: string
  keys: ApiKeyCache
  audit: AuditLog
  limiter: Limiter
  eventBudgets: EventBudgets
  passwordAttempts: PasswordAttempts
  signInAttempts: PasswordAttempts
  bodies: BodyLimiter
  concurrencyLimit: ConcurrencyLimit
  unknownIds: UnknownIds
  guestResponses: GuestResponses
  proxyUpload: UploadProxy
  sendFile: FileSender
  /** Limits of the files that clients send. */
  uploads: TransferLimiter
  publicUrl: () => string
  mediaUrl: () => string
  /** Returns the problems of a source URL that are visible in the URL itself. */
  checkSource: (url: string) => readonly string[]
  log: Logger
  /** True to validate responses against their schema, in tests. A mismatch is an internal error. */
  validateResponses: boolean
}

/** Methods for which a precondition must not be ignored. */
const CHANGES_OF_RECORDS: ReadonlySet<string> = new Set(['put', 'patch', 'delete'])
const READ_TIMEOUT_MS = 2_000
const WRITE_TIMEOUT_MS = 10_000

/** Serves a request for a target, with the values of the path parameters in order. */
export type Serve = (request: IncomingMessage, response: ServerResponse, values: readonly string[]) => Promise<void>

/**
 * Returns the handler of a target. It authenticates, checks access and budget, reads and validates
 * the input, calls the handler and sends the response. It is independent of Express, because some
 * requests bypass Express.
 */
export function serveTarget(target: Target, dependencies: ApiDependencies): Serve {
  const { route } = target
  const schemas = inputSchemas(route)
  const targetHeaders = Object.entries(deprecationHeaders(target))
  const fileFormSchemas = route.fileForm && inputSchemas({ ...route, payload: route.fileForm.payload })
  return async (request, response, values) => {
    const context = requestContext(response)
    const params = bindPathParams(context, target, values)
    for (const [name, value] of targetHeaders) response.setHeader(name, value)
    const query = parseUrlencoded(rawQuery(request))
    for (const [name, value] of query) if (SECRET_NAMES.has(name)) context.secrets.push(value)
    const { caller, holder } = await admitCaller(route, request, queriedKey(route, query), context, dependencies)
    const payer = holder ? ({ policy: 'key', keyId: holder.keyId } as const) : ({ policy: 'address', address: context.address } as const)
    for (const [name, value] of Object.entries(await dependencies.limiter.consume(payer, route.cost))) response.setHeader(name, value)
    const disconnect = new ClientDisconnect(response)

    if (route.proxyTo) {
      const input = await checkInput(route, schemas, { params, query, payload: undefined }, async () => undefined)
      const path = `${route.proxyTo(input.params)}${query.length > 0 ? `?${rawQuery(request)}` : ''}`
      const upload = { path, principal: toPrincipal(caller) }
      const operation = { route, params: input.params }
      await runAudited(operation, { holder, context, signal: disconnect }, dependencies.audit, async () => {
        await dependencies.proxyUpload(request, response, upload)
        // The result of an upload whose client disconnected is unknown.
        disconnect.signal.throwIfAborted()
        return new Reply('', { status: response.statusCode })
      })
      return
    }
    const createContext = (call: Call): Context => ({
      caller,
      call,
      services: dependencies.services,
      publicUrl: dependencies.publicUrl(),
      mediaUrl: dependencies.mediaUrl(),
      checkSource: dependencies.checkSource,
      countPasswordAttempt: (videoId) => dependencies.passwordAttempts.count(context.address, videoId),
      countSignIn: (subject) => dependencies.signInAttempts.count(context.address, subject),
      admitEvents: async (events, input, send) => {
        const { result, headers } = await dependencies.eventBudgets.admit(events, { payer, address: context.address, ...input }, send)
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
        return result
      },
      countSubmission: (contactFormId) => dependencies.limiter.countSubmission(context.address, contactFormId),
      client: { address: context.address, userAgent: request.headers['user-agent'] ?? '' },
    })
    const callOptions = () => ({
      principal: toPrincipal(caller),
      requestId: context.requestId,
      deadline: new Date(Date.now() + (route.cost === 'read' ? READ_TIMEOUT_MS : WRITE_TIMEOUT_MS)),
    })
    const send = (result: unknown) => {
      if (dependencies.validateResponses) validateResponse(route, result)
      sendResponse(request, response, prepareResponse(request, route, result, caller.kind === 'guest'))
    }
    const readCallIdempotency = (input: Input) =>
      readIdempotency(request, target, input, { caller, address: context.address, hashKey: dependencies.idempotencyHashKey })
    const newContext = () => createContext({ ...callOptions(), signal: disconnect.signal })
    if (route.file?.accepts(request.headers['content-type']?.toLowerCase() ?? '')) {
      const { storeAt, handle } = route.file
      const input = await checkInput({ ...route, payloadOptional: true }, schemas, { params, query, payload: undefined })
      const operation = { route, params: input.params }
      const result = await runAudited(operation, { holder, context, signal: disconnect }, dependencies.audit, async () => {
        const principal = toPrincipal(caller)
        const uploadId = await storeFile(request, response, dependencies, async () => ({
          path: await storeAt(input.params, newContext()),
          principal,
        }))
        disconnect.signal.throwIfAborted()
        // The deadline of the call starts after the file has arrived.
        return await handle({ params: input.params, uploadId: required(uploadId, 'id of the upload') }, newContext()).finally(() =>
          dependencies.guestResponses.requireFresh(changedOrganisation(caller)),
        )
      })
      if (!disconnect.aborted) send(result)
      return
    }
    if (route.sharedByGuests && caller.kind === 'guest') {
      const prepared = await dependencies.guestResponses.get(request.url ?? '', async () => {
        const slot = dependencies.concurrencyLimit.begin('read', payerName(payer))
        let hasSucceeded = false
        try {
          const input = await checkInput(route, schemas, { params, query, payload: undefined }, async () => undefined)
          // Other requests may share the response, so the client's disconnect does not cancel the call.
          const result = await route.handle(input, createContext({ ...callOptions(), signal: new AbortController().signal }))
          if (dependencies.validateResponses) validateResponse(route, result)
          hasSucceeded = true
          // The result of a route that can be cached is its body.
          const rule = result instanceof Reply || result instanceof Streamed ? undefined : route.guestCacheRule?.(result)
          return { response: prepareResponse(request, route, result, true), rule }
        } finally {
          slot.end(hasSucceeded)
        }
      })
      if (!disconnect.aborted) sendResponse(request, response, prepared)
      return
    }
    let formPairs: readonly Pair[] | undefined
    if (route.fileForm && fileFormSchemas && isMultipartForm(request)) {
      const body = route.fileForm
      const readForm = async ({ pairs, file }: FileForm) => {
        if (!file) return { pairs }
        const payload = readFormPayload(pairs, query, fileFormSchemas.form)
        const input = await checkInput({ ...route, payload: body.payload }, fileFormSchemas, { params, query, payload })
        const declaredLength = request.headers['content-length']
        const received = { body, input, file, declaredBytes: declaredLength === undefined ? undefined : Number(declaredLength) }
        const tools = {
          ...{ sendFile: dependencies.sendFile, log: dependencies.log, principal: toPrincipal(caller), requestId: context.requestId },
          address: context.address,
          disconnected: disconnect.signal,
          newContext: (signal = new AbortController().signal) => createContext({ ...callOptions(), signal }),
          readIdempotency: (payload: Input['payload']) => readCallIdempotency({ ...input, payload }),
        }
        const operation = { route, params: input.params }
        const result = await runAudited(operation, { holder, context, signal: disconnect }, dependencies.audit, () =>
          handleFormFile(received, tools).finally(() => dependencies.guestResponses.requireFresh(changedOrganisation(caller))),
        )
        return { result }
      }
      const { uploads } = dependencies
      const form = await withFileForm({ request, response, address: context.address, uploads }, readForm)
      if ('result' in form) {
        if (!disconnect.aborted) send(form.result)
        return
      }
      formPairs = form.pairs
    }
    // The slot is taken after the body has arrived, so that a slow sender does not occupy one.
    const bytes = formPairs ? undefined : await readRequestBody(request, response, target, payer, dependencies)
    if (response.destroyed) return
    const running = dependencies.concurrencyLimit.begin(route.cost === 'read' ? 'read' : 'write', payerName(payer))
    response.once('close', () => running.end(response.writableFinished && response.statusCode < 400))
    const call: Call = {
      ...callOptions(),
      ...(CHANGES_OF_RECORDS.has(target.verb) && readIfMatch(request.headers['if-match'], route.isConditional)),
      get signal() {
        return disconnect.signal
      },
    }
    const handlerContext = createContext(call)
    const payload = formPairs
      ? readFormPayload(formPairs, query, schemas.form)
      : await readRequestPayload(request, bytes, target, schemas, query)
    const received = { params, query, payload }
    const input = await checkInput(route, schemas, received, async (input) => route.validateRemotely?.(input, handlerContext))
    call.idempotency = readCallIdempotency(input)
    const operation = { route, params: input.params }
    const isChange = caller.kind !== 'guest' && !(target.verb === 'get' && route.readOnly)
    const runHandler = () => route.handle(input, handlerContext)
    const result = await runAudited(operation, { holder, context, signal: disconnect }, dependencies.audit, () =>
      // A call that failed may have been executed.
      isChange ? runHandler().finally(() => dependencies.guestResponses.requireFresh(changedOrganisation(caller))) : runHandler(),
    )
    if (disconnect.aborted) return
    if (result instanceof Streamed) return await sendStream(request, response, result, disconnect.signal)
    send(result)
  }
}

/** Stores the body at encoding. Returns the id of the upload, or undefined if the client disconnected. */
async function storeFile(
  request: IncomingMessage,
  response: ServerResponse,
  { proxyUpload }: ApiDependencies,
  findDestination: () => Promise<{ path: string; principal: Principal }>,
): Promise<string | undefined> {
  let uploadId: string | undefined
  const onStored = (headers: IncomingHttpHeaders) => {
    uploadId = String(headers['vitascope-upload-id'])
  }
  try {
    await proxyUpload(request, response, { ...(await findDestination()), onStored })
    return uploadId
  } catch (error) {
    await discardBody(request, DISCARD_TIMEOUT_MS)
    throw error
  }
}

/** Returns the only organisation that the caller can change, or undefined if it can change others. */
function changedOrganisation(caller: Caller): string | undefined {
  return caller.kind === 'user' && caller.userType !== 'system' ? caller.organisationId : undefined
}

/** Reads the body of a write. The body of a GET is ignored. */
async function readRequestBody(
  request: IncomingMessage,
  response: ServerResponse,
  { verb, route }: Target,
  payer: Payer,
  { bodies }: ApiDependencies,
) {
  if (verb === 'get') return undefined
  try {
    return await bodies.read(request, payerName(payer), () => response.setHeader('Connection', 'close'))
  } catch (error) {
    const isForm = request.headers['content-type']?.startsWith('multipart/form-data') === true
    if (!isForm || route.fileAdvice === undefined || !isDomainError(error) || error.reason !== 'PAYLOAD_TOO_LARGE') throw error
    throw domainError('invalid', error.reason, `${error.message}; ${route.fileAdvice}`)
  }
}

async function readRequestPayload(
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
  if (keys.length > 1) throw invalidField(`${route.apiKeyParam}`, 'must not be repeated')
  return keys[0]?.[1]
}

/**
 * Returns the path parameters by name, and sets the path template for logs and problem documents.
 */
export function bindPathParams(
  context: RequestContext,
  { path, params: names }: Target,
  values: readonly string[],
): Record<string, string> {
  context.template = `/v2${path}`
  const params = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
  context.instance = () => `/v2${path.replaceAll(/:(\w+)/g, (_, name: string) => redactParam(name, params[name] ?? ''))}`
  for (const name of names) if (SECRET_PARAMS.has(name)) context.secrets.push(params[name] ?? '')
  return params
}

const SECRET_PARAMS = new Set(['apiKey', 'password', 'token'])
const SECRET_NAMES = new Set(['api_key', 'password', 'token'])

/** Returns the value only if it is an id, so that a key in its place is not shown. */
function redactParam(name: string, value: string): string {
  return /^\d{1,19}$/.test(value) && !SECRET_PARAMS.has(name) ? value : `:${publicName(name)}`
}

function rawQuery({ url = '' }: IncomingMessage): string {
  const at = url.indexOf('?')
  return at === -1 ? '' : url.slice(at + 1)
}
