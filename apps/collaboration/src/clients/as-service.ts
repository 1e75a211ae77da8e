import { type Call, serviceCall } from '@vitascope/grpc'

/** Returns a call of this service on behalf of a caller's request, with its request id, abort signal and deadline. */
export function asService({ requestId, signal, deadline }: Call): Call {
  return { ...serviceCall('collaboration', requestId, signal), deadline }
}
