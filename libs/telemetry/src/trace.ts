import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'

/*
 * Spans of distributed traces. A trace begins at an HTTP request only. All other spans continue a
 * trace, so background work without a cause has none.
 *
 * Without tracing, each function only calls `run`. `startTracing` loads the SDK.
 */

/** Attributes that spans can have. None may contain text of a user, a secret or an address. */
export interface SpanAttributes {
  'http.request.method'?: string
  /** Path template, never the path: paths contain keys and passwords. */
  'http.route'?: string
  'http.response.status_code'?: number
  'rpc.system.name'?: 'grpc'
  'rpc.method'?: string
  'db.system.name'?: 'postgresql'
  'db.namespace'?: string
  'db.operation.name'?: string
  'db.collection.name'?: string
  'messaging.system'?: 'vitascope'
  'messaging.operation.name'?: string
  'messaging.destination.name'?: string
  'process.executable.name'?: string
  'error.type'?: string
  'vitascope.job_id'?: string
  'vitascope.task_id'?: string
  'vitascope.task_kind'?: string
  'vitascope.chunk'?: number
  'vitascope.fence'?: number
  'vitascope.attempt'?: number
  'vitascope.outcome'?: string
  'vitascope.cpu_seconds'?: number
  'vitascope.webhook_id'?: string
  'vitascope.delivery_id'?: string
  'vitascope.bytes'?: number
}

export interface SpanDescription {
  name: string
  kind?: 'client' | 'server' | 'producer' | 'consumer'
  attributes?: SpanAttributes
  /** Returns whether an error is a failure of the described operation. Default: each error is one. */
  isFailure?: (error: unknown) => boolean
}

/** The span of a running function. */
export interface ActiveSpan {
  setAttributes(attributes: SpanAttributes): void
}

/** The parts of tracing that depend on the SDK. */
export interface Tracing {
  tracer: Tracer
  /** Returns the parent of a new trace, or of the trace that a client's `traceparent` names. Undefined for no trace. */
  admit(traceparent: string | undefined): { parent: Context; isSampled: boolean } | undefined
  /** Returns the context of a `traceparent` of this platform. Undefined if it is malformed. */
  resume(traceparent: string): Context | undefined
  /** Returns the numbers of spans that ended, by outcome. */
  countSpans(): Promise<ReadonlyMap<SpanOutcome, number>>
}

/** `dropped` spans exceeded the queue, `failed` ones could not be sent. */
export type SpanOutcome = 'exported' | 'failed' | 'dropped'

let tracing: Tracing | undefined

/** Sets the tracing of this process. Undefined switches it off. */
export function setTracing(value: Tracing | undefined): void {
  tracing = value
}

export function currentTracing(): Tracing | undefined {
  return tracing
}

const KINDS = { client: SpanKind.CLIENT, server: SpanKind.SERVER, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER }
const NO_SPAN: ActiveSpan = { setAttributes: () => {} }

/** Runs a function in a child of the active span. Without a sampled one, it only runs the function. */
export function traced<T>(describe: () => SpanDescription, run: (span: ActiveSpan) => Promise<T>): Promise<T> {
  if (tracing === undefined) return run(NO_SPAN)
  const parent = context.active()
  return isSampled(parent) ? runInSpan(tracing.tracer, parent, describe(), run) : run(NO_SPAN)
}

/** Runs a function in a span of the trace that another process stored or sent. Without a `traceparent`, in no trace. */
export function tracedFrom<T>(
  traceparent: string | null | undefined,
  describe: () => SpanDescription,
  run: (span: ActiveSpan) => Promise<T>,
): Promise<T> {
  if (tracing === undefined || !traceparent) return run(NO_SPAN)
  const parent = tracing.resume(traceparent)
  if (parent === undefined) return run(NO_SPAN)
  return isSampled(parent) ? runInSpan(tracing.tracer, parent, describe(), run) : context.with(parent, run, undefined, NO_SPAN)
}

/** Runs a function outside of the active trace, such as the renewal of a lease. */
export function untraced<T>(run: () => T): T {
  return tracing === undefined ? run() : context.with(ROOT_CONTEXT, run)
}

/** Returns a function that runs in the trace that is active now, for listeners of events. */
export function bindTrace<Args extends unknown[], Result>(run: (...args: Args) => Result): (...args: Args) => Result {
  if (tracing === undefined) return run
  const active = context.active()
  // Binding is slow, and most requests have no trace.
  return active === ROOT_CONTEXT ? run : context.bind(active, run)
}

/** Returns the `traceparent` of the active span. Undefined without a trace. */
export function currentTraceparent(): string | undefined {
  const active = tracing && trace.getSpanContext(context.active())
  return active && `00-${active.traceId}-${active.spanId}-${active.traceFlags & TraceFlags.SAMPLED ? '01' : '00'}`
}

/** Returns the fields of a log line in the active trace. */
export function traceLogFields(): { trace_id?: string; span_id?: string } {
  const active = tracing && trace.getSpanContext(context.active())
  return active ? { trace_id: active.traceId, span_id: active.spanId } : {}
}

/**
 * Returns a listener for requests of clients that runs each sampled request in a span. `findRoute`
 * returns the path template of a request that has ended.
 */
export function tracedListener(listener: RequestListener, findRoute: (response: ServerResponse) => string): RequestListener {
  return (request, response) => {
    const admitted = tracing?.admit(readTraceparent(request))
    if (tracing === undefined || admitted === undefined) return listener(request, response)
    const { parent } = admitted
    if (!admitted.isSampled) return context.with(parent, listener, undefined, request, response)
    const method = request.method ?? ''
    const span = tracing.tracer.startSpan(method, { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } }, parent)
    response.once('close', () => endRequest(span, response, `${method} ${findRoute(response)}`))
    return context.with(trace.setSpan(parent, span), listener, undefined, request, response)
  }
}

/** Header of a request with the context of its trace (https://www.w3.org/TR/trace-context/). */
export const TRACEPARENT = 'traceparent'

/** Returns the trace of a request. */
export function readTraceparent({ headers }: IncomingMessage): string | undefined {
  const header = headers[TRACEPARENT]
  return typeof header === 'string' ? header : undefined
}

/** nginx's status for a client that disconnected before the response was complete. */
const CLIENT_CLOSED_REQUEST = 499

function endRequest(span: Span, response: ServerResponse, name: string): void {
  const status = response.writableFinished ? response.statusCode : CLIENT_CLOSED_REQUEST
  const attributes: SpanAttributes = { 'http.route': name.slice(name.indexOf(' ') + 1), 'http.response.status_code': status }
  span.updateName(name)
  span.setAttributes({ ...attributes })
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

function isSampled(active: Context): boolean {
  const parent = trace.getSpanContext(active)
  return parent !== undefined && (parent.traceFlags & TraceFlags.SAMPLED) !== 0
}

async function runInSpan<T>(
  tracer: Tracer,
  parent: Context,
  { name, kind, attributes, isFailure = () => true }: SpanDescription,
  run: (span: ActiveSpan) => Promise<T>,
): Promise<T> {
  const span = tracer.startSpan(name, { ...(kind && { kind: KINDS[kind] }), attributes: { ...attributes } }, parent)
  try {
    return await context.with(trace.setSpan(parent, span), run, undefined, toActiveSpan(span))
  } catch (error) {
    // Messages of errors can contain texts of users, so only the kind of error is recorded.
    if (isFailure(error)) span.setStatus({ code: SpanStatusCode.ERROR })
    span.setAttribute('error.type', errorType(error))
    throw error
  } finally {
    span.end()
  }
}

function toActiveSpan(span: Span): ActiveSpan {
  return { setAttributes: (attributes) => void span.setAttributes({ ...attributes }) }
}

/** Returns the reason of a domain error, the kind or code of another one, or its name. */
function errorType(error: unknown): string {
  const { reason, kind, code, name } = error as { reason?: unknown; kind?: unknown; code?: unknown; name?: unknown }
  return [reason, kind, code, name].find((value): value is string => typeof value === 'string' && /^[\w.]{1,64}$/.test(value)) ?? 'error'
}
