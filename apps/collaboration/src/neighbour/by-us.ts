import { type Call, serviceCall } from '@vitascope/grpc'

/** A question of this service in the course of a caller's request: its id, hang-up and deadline go along. */
export function byUs({ requestId, signal, deadline }: Call): Call {
  return { ...serviceCall('collaboration', requestId, signal), deadline }
}
