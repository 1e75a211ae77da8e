import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type CallOptions, Client as GrpcClient, type Metadata, type ServiceError, status } from '@grpc/grpc-js'
import type { Call } from './call.ts'
import { type AnyMethod, isRead, type RequestOf, type ResponseOf, type ServiceDefinition } from './definition.ts'
import { fromServiceError, hasNotArrived, isBrokenOff } from './error-table.ts'
import { writeMetadata } from './metadata.ts'
import { channelCredentials } from './tls/grpc-credentials.ts'
import type { Peer } from './tls/identity.ts'

/** Promise methods for a service: unary ones answer a message, streaming ones an async iterable of them. */
export type Client<S extends ServiceDefinition> = {
  [K in keyof S]: S[K] extends { responseStream: true }
    ? (request: RequestOf<S[K]>, call: Call) => AsyncIterable<ResponseOf<S[K]>>
    : (request: RequestOf<S[K]>, call: Call) => Promise<ResponseOf<S[K]>>
}

/** A connection to one service address; it comes back by itself after a restart of the service. */
export interface Channel {
  client<S extends ServiceDefinition>(definition: S): Client<S>
  /** True once connected, waiting up to `timeoutMs`. */
  ready(timeoutMs: number): Promise<boolean>
  close(): void
}

const READ_MS = 2_000
const WRITE_MS = 10_000
const TRIES = 3

/**
 * `address` is `HOST:PORT` or `dns:///HOST:PORT`; calls go round all addresses that the host has, which are asked for again when a
 * connection ends. With a `peer` by mutual TLS, else in plain text.
 */
export function openChannel(address: string, options: { principalKey: Uint8Array; peer?: Peer | undefined }): Channel {
  const secured = channelCredentials(options.peer)
  const channel = new GrpcClient(address, secured.credentials, {
    ...secured.options,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1_000,
    // Replicas that are replaced one after another must not wait for the next look at their names.
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
          ? (request: unknown, call: Call) => stream(channel, method, request, call, options.principalKey)
          : (request: unknown, call: Call) => unary(channel, name, method, request, call, options.principalKey),
      ])
      // Each entry was made from the entry of the same name, so the shape is the definition's.
      return Object.fromEntries(methods) as Client<S>
    },
    ready: (timeoutMs) =>
      new Promise((resolve) => channel.waitForReady(new Date(Date.now() + timeoutMs), (error) => resolve(error === undefined))),
    close: () => channel.close(),
  }
}

/**
 * Repeats a call that found the service away, where repeating is harmless: reads, writes with an idempotency key, and whatever did not reach
 * the service.
 */
async function unary(channel: GrpcClient, name: string, method: AnyMethod, request: unknown, call: Call, key: Uint8Array) {
  const deadline = deadlineOf(call, isRead(name) ? READ_MS : WRITE_MS)
  const repeatable = isRead(name) || call.idempotency !== undefined
  const metadata = writeMetadata({ ...call, requestId: call.requestId || randomUUID() }, key)
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(channel, method, request, metadata, { deadline }, call.signal)
    } catch (error) {
      const failure = error as ServiceError
      const isAway = failure.code === status.UNAVAILABLE && failure.metadata?.get('grpc-status-details-bin').length === 0
      const again = isAway || isBrokenOff(failure)
      const harmless = repeatable || hasNotArrived(failure)
      if (!harmless || !again || attempt === TRIES || call.signal.aborted) {
        throw call.signal.aborted ? call.signal.reason : fromServiceError(failure, method.path)
      }
      await delay(100 * attempt * (0.5 + Math.random()))
    }
  }
}

function once(
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
        signal.removeEventListener('abort', hangUp)
        if (error) reject(error)
        else resolve(response)
      },
    )
    const hangUp = () => running.cancel()
    if (signal.aborted) hangUp()
    else signal.addEventListener('abort', hangUp, { once: true })
  })
}

/** A stream has no deadline of its own: it lasts until either side ends it. */
async function* stream(channel: GrpcClient, method: AnyMethod, request: unknown, call: Call, key: Uint8Array) {
  const metadata = writeMetadata({ ...call, requestId: call.requestId || randomUUID() }, key)
  const running = channel.makeServerStreamRequest(
    method.path,
    method.requestSerialize as (value: unknown) => Buffer,
    method.responseDeserialize as (bytes: Buffer) => unknown,
    request,
    metadata,
    {},
  )
  const hangUp = () => running.cancel()
  call.signal.addEventListener('abort', hangUp, { once: true })
  try {
    for await (const message of running) yield message
  } catch (error) {
    throw call.signal.aborted ? call.signal.reason : fromServiceError(error as ServiceError, method.path)
  } finally {
    call.signal.removeEventListener('abort', hangUp)
    running.cancel()
  }
}

function deadlineOf(call: Call, ownMs: number): Date {
  const own = Date.now() + ownMs
  return new Date(call.deadline ? Math.min(own, call.deadline.getTime()) : own)
}
