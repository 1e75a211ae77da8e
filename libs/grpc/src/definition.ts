/** One rpc as the generator writes it, whatever its messages are. */
export interface AnyMethod {
  path: string
  requestStream: boolean
  responseStream: boolean
  requestSerialize: (value: never) => Buffer
  requestDeserialize: (bytes: Buffer) => unknown
  responseSerialize: (value: never) => Buffer
  responseDeserialize: (bytes: Buffer) => unknown
}

/** A service as the generator writes it: `VideoServiceService` and the like. */
export type ServiceDefinition = { readonly [method: string]: AnyMethod }

export type RequestOf<M extends AnyMethod> = ReturnType<M['requestDeserialize']>
export type ResponseOf<M extends AnyMethod> = ReturnType<M['responseDeserialize']>

/** Methods that only read: they have the short deadline, and repeating them is harmless. */
export function isRead(method: string): boolean {
  return /^(get|list|find|check|authenticate)/.test(method)
}
