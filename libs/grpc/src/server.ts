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
import type { Logger, Metrics } from '@vitascope/telemetry'
import { HealthImplementation } from 'grpc-health-check'
import type { Call } from './call.ts'
import type { AnyMethod, RequestOf, ResponseOf, ServiceDefinition } from './definition.ts'
import { type CallStatus, toStatus } from './error-table.ts'
import { readMetadata } from './metadata.ts'
import { reflectionService } from './reflection.ts'
import { callerCheck, serverCredentials } from './tls/grpc-credentials.ts'
import type { Identity } from './tls/identity.ts'

/** Promise handlers for a service: unary ones answer a message, streaming ones an async iterable of them. */
export type Handlers<S extends ServiceDefinition> = {
  [K in keyof S]: S[K] extends { responseStream: true }
    ? (request: RequestOf<S[K]>, call: Call) => AsyncIterable<ResponseOf<S[K]>>
    : (request: RequestOf<S[K]>, call: Call) => Promise<ResponseOf<S[K]>>
}

export interface GrpcServer {
  /** Adds a service; health and reflection are there already. */
  implement<S extends ServiceDefinition>(definition: S, handlers: Handlers<S>): void
  /** Binds `HOST:PORT` (port 0: any) and serves; answers the address bound. The address for health is bound with it. */
  listen(address: string): Promise<string>
  /** `HOST:PORT` where health is answered in plain text; undefined before `listen`, and where none was wished for. */
  healthAddress(): string | undefined
  /** What health answers. */
  isServing(): boolean
  /** Turns the health answer: not serving means send nothing new. */
  setServing(serving: boolean): void
  /** Serves no more for good, takes no new calls, lets running ones end, and ends the rest after the grace time. */
  drain(graceMs?: number): Promise<void>
}

type AnyHandler = (request: unknown, call: Call) => Promise<unknown> | AsyncIterable<unknown>

/** How a server listens, besides its address. */
export interface ServeSettings {
  /** `HOST:PORT` for health alone, in plain text, for probes that show no certificate; undefined for none. */
  healthListen?: string | undefined
  /** After so long a connection takes no new calls, and its callers look for all replicas anew. Seconds, 120 by default. */
  connectionSeconds?: number | undefined
  /** How much longer what runs on it then may take. Seconds, 600 by default. */
  connectionGraceSeconds?: number | undefined
}

/** Every call but health and reflection must carry a principal signed with `principalKey`; with an identity by mutual TLS. */
export function createGrpcServer(options: {
  principalKey: Uint8Array
  identity?: Identity | undefined
  serve?: ServeSettings | undefined
  log: Logger
  metrics: Metrics
}): GrpcServer {
  const { identity, serve = {} } = options
  const server = new Server({
    ...LIMITS,
    'grpc.max_connection_age_ms': (serve.connectionSeconds ?? 120) * 1_000,
    'grpc.max_connection_age_grace_ms': (serve.connectionGraceSeconds ?? 600) * 1_000,
    interceptors: callerCheck(identity, options.metrics),
  })
  // Both answer from the same state.
  const probes = serve.healthListen === undefined ? undefined : new Server(LIMITS)
  const health = new HealthImplementation({ '': 'NOT_SERVING' })
  health.addToServer(server)
  if (probes) health.addToServer(probes)
  const reflection = reflectionService()
  server.addService(reflection.definition, reflection.handlers)
  let serving = false
  let draining = false
  let healthAddress: string | undefined
  const setServing = (value: boolean) => {
    serving = value && !draining
    health.setStatus('', serving ? 'SERVING' : 'NOT_SERVING')
  }

  return {
    implement(definition, handlers) {
      const methods = Object.entries(definition).map(([name, method]) => {
        const handler = handlers[name] as AnyHandler
        const run = method.responseStream ? streaming(method, handler, options) : unary(method, handler, options)
        return [name, run] as const
      })
      // The generator's definition is grpc-js's own shape; only its message types are narrower.
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
      endQuietly(server)
      setServing(false)
      await shutDown(server, graceMs)
      // Probes are answered to the end; those that watch would never be.
      probes?.forceShutdown()
    },
  }
}

const LIMITS: ServerOptions = {
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
 * A connection that is being closed must not be told of its age, too: that would open anew the range of calls that it had closed, which callers
 * take as an error of the protocol, and all that still runs on it would be lost. grpc-js has no other way to its connections than this.
 */
function endQuietly(server: Server): void {
  const { sessions } = server as unknown as { sessions: Map<Http2Session, unknown> }
  for (const session of sessions.keys()) {
    const goaway = session.goaway.bind(session)
    // The one of the age names a last call; Node's own, which closes, does not.
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

type Options = Pick<Parameters<typeof createGrpcServer>[0], 'principalKey' | 'log' | 'metrics'>

function unary(method: AnyMethod, handler: AnyHandler, options: Options): handleUnaryCall<unknown, unknown> {
  return (call, answer) => {
    observed(method, call, options, async (context) => answer(null, await (handler(call.request, context) as Promise<unknown>))).then(
      (failure) => failure && answer(failure),
    )
  }
}

function streaming(method: AnyMethod, handler: AnyHandler, options: Options): handleServerStreamingCall<unknown, unknown> {
  return (call) => {
    observed(method, call, options, async (context) => {
      for await (const message of handler(call.request, context) as AsyncIterable<unknown>) {
        if (context.signal.aborted) break
        if (!call.write(message)) await drained(call, context.signal)
      }
      call.end()
    }).then((failure) => failure && call.emit('error', failure))
  }
}

function drained(call: ServerWritableStream<unknown, unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    call.once('drain', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Runs one call under its principal and signal, counts and times it; answers the status to send when it failed. */
async function observed(
  method: AnyMethod,
  call: ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>,
  { principalKey, log, metrics }: Options,
  run: (context: Call) => Promise<unknown>,
): Promise<CallStatus | undefined> {
  const hangUp = new AbortController()
  // Said of every call when its connection lets go of it, of those that are answered too.
  let answered = false
  call.on('cancelled', () => answered || hangUp.abort())
  const end = callSeconds(metrics).startTimer({ method: method.path })
  let requestId = ''
  try {
    const signed = readMetadata(call.metadata, principalKey)
    requestId = signed.requestId
    await run({ ...signed, signal: hangUp.signal, deadline: asDate(call.getDeadline()) })
    answered = true
    end({ outcome: 'ok' })
    return undefined
  } catch (error) {
    const refused = isDomainError(error)
    end({ outcome: refused ? error.kind : 'fault' })
    if (!refused && !hangUp.signal.aborted) log.error({ err: error, method: method.path, request_id: requestId }, 'call failed')
    return toStatus(error, hangUp.signal.aborted)
  }
}

const histograms = new WeakMap<Metrics, ReturnType<Metrics['seconds']>>()

function callSeconds(metrics: Metrics): ReturnType<Metrics['seconds']> {
  const known = histograms.get(metrics)
  if (known) return known
  const made = metrics.seconds('vitascope_grpc_call_seconds', 'Calls answered by this service, by method and outcome', [
    'method',
    'outcome',
  ])
  histograms.set(metrics, made)
  return made
}

function asDate(deadline: Date | number): Date | undefined {
  if (deadline instanceof Date) return deadline
  return Number.isFinite(deadline) ? new Date(deadline) : undefined
}
