import { type Channel, type HttpService, platformRequest, serviceCall } from '@vitascope/grpc'

/**
 * Minimal client of `grpc.health.v1.Health`: an empty request, and the status in the first field of
 * the response.
 */
const HEALTH = {
  check: {
    path: '/grpc.health.v1.Health/Check',
    requestStream: false,
    responseStream: false,
    requestSerialize: (_request: Record<string, never>) => Buffer.alloc(0),
    requestDeserialize: (_bytes: Buffer): Record<string, never> => ({}),
    responseSerialize: ({ status }: { status: number }) => Buffer.from([STATUS_FIELD, status]),
    responseDeserialize: (bytes: Buffer) => ({ status: bytes[0] === STATUS_FIELD ? (bytes[1] ?? 0) : 0 }),
  },
} as const

/** Tag byte of field 1, a varint. */
const STATUS_FIELD = 0x08
const SERVING = 1
const TIMEOUT_MS = 1_000

/** Returns true if the service behind a channel reports SERVING. */
export async function isServing(channel: Channel): Promise<boolean> {
  const call = { ...serviceCall('gateway', ''), deadline: new Date(Date.now() + TIMEOUT_MS) }
  const response = await channel
    .client(HEALTH)
    .check({}, call)
    .catch(() => undefined)
  return response?.status === SERVING
}

/** Returns true if an HTTP service answers its `/healthz` with 200. */
export function isHealthy(service: HttpService): Promise<boolean> {
  return new Promise((resolve) => {
    const request = platformRequest(service, '/healthz', { signal: AbortSignal.timeout(TIMEOUT_MS) }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on('error', () => resolve(false))
    request.end()
  })
}
