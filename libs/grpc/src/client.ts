import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type CallOptions, Client as GrpcClient, type Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { traced } from '@vitascope/telemetry'
import type { Call } from './call.ts'
import { type AnyMethod, describeCall, isRead, type RequestOf, type ResponseOf, type ServiceDefinition } from './definition.ts'
import { fromServiceError, isConnectionLost, wasNotSent } from './error-table.ts'
import { writeMetadata } from './metadata.ts'
import type { PrincipalKeys } from './principal-keys.ts'
import { channelCredentials } from './tls/grpc-credentials.ts'
import type { Identity } from './tls/identity.ts'

/** Promise methods of a service: unary methods return a message, streaming methods an async iterable of messages. */
export type Client<S extends ServiceDefinition> = {
  [K in keyof S]: S[K] extends { responseStream: true }
    ? (request: RequestOf<S[K]>, call: Call) => AsyncIterable<ResponseOf<S[K]>>
    : (request: RequestOf<S[K]>, call: Call) => Promise<ResponseOf<S[K]>>
}

/** A connection to one service address. It reconnects automatically after a restart of the service. */
export interface Channel {
  client<S extends ServiceDefinition>(definition: S): Client<S>
  /** Waits up to `timeoutMs` for a connection. Returns whether there is one. */
  ready(timeoutMs: number): Promise<boolean>
  close(): void
}

type WriteMetadata = (call: Call) => Promise<Metadata>

const READ_MS = 2_000
const WRITE_MS = 10_000
const MAX_ATTEMPTS = 3

/**
 * Opens a channel to `HOST:PORT` or `dns:///HOST:PORT`. Calls are distributed round robin over all addresses of the
 * host, which is resolved again when a connection ends. `service` is the name of the called service: principals are
 * signed for it, and its certificate must contain it. With an identity the channel uses mutual TLS, else plain text.
 */
export function openChannel(
  address: string,
  { service, principals, identity }: { service: string; principals: PrincipalKeys; identity?: Identity | undefined },
): Channel {
  const channelSettings = channelCredentials(identity?.peer(service))
  const write: WriteMetadata = (call) => writeMetadata({ ...call, requestId: call.requestId || randomUUID() }, principals, service)
  const channel = new GrpcClient(address, channelSettings.credentials, {
    ...channelSettings.options,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1_000,
    // During a rolling restart, replicas must not wait long for the next name resolution.
    'grpc.dns_min_time_between_resolutions_ms': 2_000,
    'grpc.keepalive_time_ms': 20_000,
    'grpc.keepalive_timeout_ms': 5_000,
    'grpc.max_receive_message_length': 4 * 1024 * 1024,
    'grpc.max_send_message_length': 4 * 1024 * 1024,
    'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  })
  return {
    client<S extends ServiceDefinition>(definition: S) {
      const methods = Object.entries(definition).map(([name, method]) => [
        name,
        method.responseStream
          ? (request: unknown, call: Call) => stream(channel, method, request, call, write)
          : (request: unknown, call: Call) =>
              traced(
                () => describeCall(method, 'client'),
                () => unary(channel, name, method, request, call, write),
              ),
      ])
      // Each entry is derived from the entry of the same name, so the object has the shape of the definition.
      return Object.fromEntries(methods) as Client<S>
    },
    ready: (timeoutMs) =>
      new Promise((resolve) => channel.waitForReady(new Date(Date.now() + timeoutMs), (error) => resolve(error === undefined))),
    close: () => channel.close(),
  }
}

/**
 * Calls a method, with up to `MAX_ATTEMPTS` attempts if the service is unavailable and a retry is harmless: for reads,
 * for writes with an idempotency key, and for calls that did not reach the service.
 */
async function unary(channel: GrpcClient, name: string, method: AnyMethod, request: unknown, call: Call, write: WriteMetadata) {
  const deadline = computeDeadline(call, isRead(name) ? READ_MS : WRITE_MS)
  const repeatable = isRead(name) || call.idempotency !== undefined
  const metadata = await write(call)
  for (let attempt = 1; ; attempt++) {
    try {
      return await callUnary(channel, method, request, metadata, { deadline }, call.signal)
    } catch (error) {
      const failure = error as ServiceError
      const isUnavailable = failure.code === status.UNAVAILABLE && failure.metadata?.get('grpc-status-details-bin').length === 0
      const isTransient = isUnavailable || isConnectionLost(failure)
      const isHarmless = repeatable || wasNotSent(failure)
      if (!isHarmless || !isTransient || attempt === MAX_ATTEMPTS || call.signal.aborted) {
        throw call.signal.aborted ? call.signal.reason : fromServiceError(failure, method.path)
      }
      await delay(100 * attempt * (0.5 + Math.random()))
    }
  }
}

function callUnary(
  channel: GrpcClient,
  method: AnyMethod,
  request: unknown,
  metadata: Metadata,
  options: CallOptions,
  signal: AbortSignal,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const running = channel.makeUnaryRequest(
      method.path,
      method.requestSerialize as (value: unknown) => Buffer,
      method.responseDeserialize as (bytes: Buffer) => unknown,
      request,
      metadata,
      options,
      (error, response) => {
        signal.removeEventListener('abort', abort)
        if (error) reject(error)
        else resolve(response)
      },
    )
    const abort = () => running.cancel()
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}

/** Yields the messages of a server stream. It has no deadline: it lasts until either side ends it. */
async function* stream(channel: GrpcClient, method: AnyMethod, request: unknown, call: Call, write: WriteMetadata) {
  const metadata = await write(call)
  const running = channel.makeServerStreamRequest(
    method.path,
    method.requestSerialize as (value: unknown) => Buffer,
    method.responseDeserialize as (bytes: Buffer) => unknown,
    request,
    metadata,
    {},
  )
  const abort = () => running.cancel()
  call.signal.addEventListener('abort', abort, { once: true })
  try {
    for await (const message of running) yield message
  } catch (error) {
    throw call.signal.aborted ? call.signal.reason : fromServiceError(error as ServiceError, method.path)
  } finally {
    call.signal.removeEventListener('abort', abort)
    running.cancel()
  }
}

function computeDeadline(call: Call, ownMs: number): Date {
  const own = Date.now() + ownMs
  return new Date(call.deadline ? Math.min(own, call.deadline.getTime()) : own)
}
