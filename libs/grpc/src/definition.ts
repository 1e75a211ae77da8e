import type { SpanDescription } from '@vitascope/telemetry'

/** A generated rpc definition with any message types. */
export interface AnyMethod {
  path: string
  requestStream: boolean
  responseStream: boolean
  requestSerialize: (value: never) => Buffer
  requestDeserialize: (bytes: Buffer) => unknown
  responseSerialize: (value: never) => Buffer
  responseDeserialize: (bytes: Buffer) => unknown
}

/** A generated service definition, such as `VideoServiceService`. */
export type ServiceDefinition = { readonly [method: string]: AnyMethod }

export type RequestOf<M extends AnyMethod> = ReturnType<M['requestDeserialize']>
export type ResponseOf<M extends AnyMethod> = ReturnType<M['responseDeserialize']>

/** Returns whether a method only reads. Such methods have the shorter deadline and may be retried. */
export function isRead(method: string): boolean {
  return /^(get|list|find|check|authenticate)/.test(method)
}

/** Returns the description of the span of a call. */
export function describeCall({ path }: AnyMethod, kind: 'client' | 'server'): SpanDescription {
  const name = path.slice(1)
  return { name, kind, attributes: { 'rpc.system.name': 'grpc', 'rpc.method': name } }
}
