import type { Http2Session } from 'node:http2'
import {
  type ServiceDefinition as GrpcDefinition,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  type ServerOptions,
  type ServerUnaryCall,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { isDomainError } from '@vitascope/errors'
import { type Logger, type Metrics, tracedFrom } from '@vitascope/telemetry'
import { HealthImplementation } from 'grpc-health-check'
import type { Call } from './call.ts'
import { type AnyMethod, describeCall, type RequestOf, type ResponseOf, type ServiceDefinition } from './definition.ts'
import { type CallStatus, toStatus } from './error-table.ts'
import { readExpectedUpdates, readIdempotency, readPrincipal, readRequestId, readTraceparent } from './metadata.ts'
import type { PrincipalKeys } from './principal-keys.ts'
import { reflectionService } from './reflection.ts'
import { callerInterceptors, serverCredentials } from './tls/grpc-credentials.ts'
import type { Identity } from './tls/identity.ts'

/** Promise handlers of a service: unary handlers return a message, streaming handlers an async iterable of messages. */
export type Handlers<S extends ServiceDefinition> = {
  [K in keyof S]: S[K] extends { responseStream: true }
    ? (request: RequestOf<S[K]>, call: Call) => AsyncIterable<ResponseOf<S[K]>>
    : (request: RequestOf<S[K]>, call: Call) => Promise<ResponseOf<S[K]>>
}

export interface GrpcServer {
  /** Adds a service. The server itself adds health, and reflection if it is configured. */
  implement<S extends ServiceDefinition>(definition: S, handlers: Handlers<S>, admission?: Admission): void
  /**
   * Binds `HOST:PORT` (port 0: any free port) and starts serving. Returns the bound address. Also binds the health
   * address.
   */
  listen(address: string): Promise<string>
  /** `HOST:PORT` of the plain-text health service. It is undefined before `listen`, and if none is configured. */
  healthAddress(): string | undefined
  /** Current health status. */
  isServing(): boolean
  /** Sets the health status, which probes read. It does not reject calls. */
  setServing(serving: boolean): void
  /**
   * Stops serving permanently: rejects new calls, waits for running calls, and cancels them after `graceMs` (3 s by
   * default).
   */
  drain(graceMs?: number): Promise<void>
}

/** Callers that may use a gRPC service. */
export interface Admission {
  /** The services whose calls are accepted. Default: every known service except the worker. */
  callers?: readonly string[] | undefined
}

type AnyHandler = (request: unknown, call: Call) => Promise<unknown> | AsyncIterable<unknown>

/** Settings of a server other than its address. */
export interface ServeSettings {
  /** `HOST:PORT` of a plain-text server for health only, for probes that have no certificate. There is no such server if it is undefined. */
  healthListen?: string | undefined
  /**
   * Age in seconds after which a connection accepts no new calls, so that its clients resolve all replicas again.
   * Default: 120.
   */
  connectionSeconds?: number | undefined
  /** Further seconds that calls on such a connection may take. Default: 600. */
  connectionGraceSeconds?: number | undefined
  /** Whether any caller may use server reflection. Default: false. */
  reflection?: boolean | undefined
}

/**
 * Creates a gRPC server. Every call except health and reflection must carry a principal that `principals` verifies.
 * With an identity the server uses mutual TLS.
 */
export function createGrpcServer(options: {
  principals: PrincipalKeys
  identity?: Identity | undefined
  serve?: ServeSettings | undefined
  log: Logger
  metrics: Metrics
}): GrpcServer {
  const { identity, serve = {} } = options
  const server = new Server({
    ...MESSAGE_LIMITS,
    'grpc.max_connection_age_ms': (serve.connectionSeconds ?? 120) * 1_000,
    'grpc.max_connection_age_grace_ms': (serve.connectionGraceSeconds ?? 600) * 1_000,
    interceptors: callerInterceptors(identity, options),
  })
  // Both servers respond from the same health state.
  const probes = serve.healthListen === undefined ? undefined : new Server(MESSAGE_LIMITS)
  const health = new HealthImplementation({ '': 'NOT_SERVING' })
  health.addToServer(server)
  if (probes) health.addToServer(probes)
  if (serve.reflection) {
    const reflection = reflectionService()
    server.addService(reflection.definition, reflection.handlers)
  }
  let serving = false
  let draining = false
  let healthAddress: string | undefined
  const setServing = (value: boolean) => {
    serving = value && !draining
    health.setStatus('', serving ? 'SERVING' : 'NOT_SERVING')
  }

  return {
    implement(definition, handlers, { callers } = {}) {
      const methodOptions = { ...options, callers }
      const methods = Object.entries(definition).map(([name, method]) => {
        const handler = handlers[name] as AnyHandler
        const run = method.responseStream ? streaming(method, handler, methodOptions) : unary(method, handler, methodOptions)
        return [name, run] as const
      })
      // The generated definition has the shape of grpc-js; only its message types are narrower.
      server.addService(definition as unknown as GrpcDefinition, Object.fromEntries(methods) as UntypedServiceImplementation)
    },
    async listen(address) {
      if (probes) healthAddress = await bind(probes, serve.healthListen ?? '', undefined)
      const bound = await bind(server, address, identity)
      setServing(true)
      return bound
    },
    healthAddress: () => healthAddress,
    isServing: () => serving,
    setServing,
    async drain(graceMs = 3_000) {
      draining = true
      suppressMaxAgeGoaway(server)
      setServing(false)
      await shutDown(server, graceMs)
      // Health probes are served until the end. Watch streams would never end by themselves.
      probes?.forceShutdown()
    },
  }
}

const MESSAGE_LIMITS: ServerOptions = {
  'grpc.max_receive_message_length': 4 * 1024 * 1024,
  'grpc.max_send_message_length': 4 * 1024 * 1024,
  'grpc.keepalive_permit_without_calls': 1,
}

async function bind(server: Server, address: string, identity: Identity | undefined): Promise<string> {
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(address, serverCredentials(identity), (error, bound) => (error ? reject(error) : resolve(bound))),
  )
  return `${address.slice(0, address.lastIndexOf(':'))}:${port}`
}

/**
 * Suppresses the max-age GOAWAY on connections that are being closed. It would raise the last stream id that an
 * earlier GOAWAY announced. Clients treat that as a protocol error and lose all running calls. grpc-js offers no
 * other access to its connections.
 */
function suppressMaxAgeGoaway(server: Server): void {
  const { sessions } = server as unknown as { sessions: Map<Http2Session, unknown> }
  for (const session of sessions.keys()) {
    const goaway = session.goaway.bind(session)
    // The GOAWAY for the connection age has a last stream id; the one of Node that closes the connection does not.
    session.goaway = (code, lastCall, data) => (lastCall ? undefined : goaway(code, lastCall, data))
  }
}

function shutDown(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown()
      resolve()
    }, graceMs)
    server.tryShutdown(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

type Options = Pick<Parameters<typeof createGrpcServer>[0], 'principals' | 'log' | 'metrics'> & Admission

function unary(method: AnyMethod, handler: AnyHandler, options: Options): handleUnaryCall<unknown, unknown> {
  return (call, sendResponse) => {
    runObserved(method, call, options, async (context) =>
      sendResponse(null, await (handler(call.request, context) as Promise<unknown>)),
    ).then((failure) => failure && sendResponse(failure))
  }
}

function streaming(method: AnyMethod, handler: AnyHandler, options: Options): handleServerStreamingCall<unknown, unknown> {
  return (call) => {
    runObserved(method, call, options, async (context) => {
      for await (const message of handler(call.request, context) as AsyncIterable<unknown>) {
        if (context.signal.aborted) break
        if (!call.write(message)) await waitForDrain(call, context.signal)
      }
      call.end()
    }).then((failure) => failure && call.emit('error', failure))
  }
}

function waitForDrain(call: ServerWritableStream<unknown, unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    call.once('drain', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/**
 * Runs one call with its principal and signal, and records its count and duration. Returns the status to send if it
 * failed.
 */
async function runObserved(
  method: AnyMethod,
  call: ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>,
  { principals, callers, log, metrics }: Options,
  run: (context: Call) => Promise<unknown>,
): Promise<CallStatus | undefined> {
  const abort = new AbortController()
  // `cancelled` is also emitted for completed calls when their connection releases them.
  let isCompleted = false
  call.on('cancelled', () => isCompleted || abort.abort())
  const end = callSeconds(metrics).startTimer({ method: method.path })
  const requestId = readRequestId(call.metadata)
  // Logs within the trace of the call.
  const rethrowLogged = (error: unknown) => {
    if (!isDomainError(error) && !abort.signal.aborted) log.error({ err: error, method: method.path, request_id: requestId }, 'call failed')
    throw error
  }
  try {
    const principal = await readPrincipal(call.metadata, principals, callers)
    const options = { ...readIdempotency(call.metadata), ...readExpectedUpdates(call.metadata) }
    const context = { principal, requestId, ...options, signal: abort.signal, deadline: asDate(call.getDeadline()) }
    await tracedFrom(
      readTraceparent(call.metadata),
      () => ({ ...describeCall(method, 'server'), isFailure }),
      () => run(context).catch(rethrowLogged),
    )
    isCompleted = true
    end({ outcome: 'ok' })
    return undefined
  } catch (error) {
    end({ outcome: toOutcome(error, abort.signal.aborted) })
    return toStatus(error, abort.signal.aborted)
  }
}

/** Returns the label of a failed call. A handler that stops because its caller has cancelled the call is not faulty. */
function toOutcome(error: unknown, isCancelled: boolean): string {
  if (isDomainError(error)) return error.kind
  return isCancelled ? 'cancelled' : 'fault'
}

/** Returns whether the service failed. Other errors report a wrong request. */
function isFailure(error: unknown): boolean {
  return !isDomainError(error) || error.kind === 'unavailable'
}

const histograms = new WeakMap<Metrics, ReturnType<Metrics['seconds']>>()

function callSeconds(metrics: Metrics): ReturnType<Metrics['seconds']> {
  const existing = histograms.get(metrics)
  if (existing) return existing
  const histogram = metrics.seconds(
    'vitascope_grpc_call_duration_seconds',
    'Duration of gRPC calls to this service, by method and outcome',
    ['method', 'outcome'],
  )
  histograms.set(metrics, histogram)
  return histogram
}

function asDate(deadline: Date | number): Date | undefined {
  if (deadline instanceof Date) return deadline
  return Number.isFinite(deadline) ? new Date(deadline) : undefined
}
