import { type Call, serviceCall } from '@vitascope/grpc'

/** Returns a call that this service makes for a request, with the request id, abort signal and deadline of the request. */
export function asService({ requestId, signal, deadline }: Call): Call {
  return { ...serviceCall('collaboration', requestId, signal), deadline }
}
