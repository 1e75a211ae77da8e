import { type Channel, type HttpService, houseRequest, serviceCall } from '@vitascope/grpc'

/** `grpc.health.v1.Health`, as far as it is needed: an empty question, and a status in the first field of the answer. */
const HEALTH = {
  check: {
    path: '/grpc.health.v1.Health/Check',
    requestStream: false,
    responseStream: false,
    requestSerialize: (_question: Record<string, never>) => Buffer.alloc(0),
    requestDeserialize: (_bytes: Buffer): Record<string, never> => ({}),
    responseSerialize: ({ status }: { status: number }) => Buffer.from([STATUS_FIELD, status]),
    responseDeserialize: (bytes: Buffer) => ({ status: bytes[0] === STATUS_FIELD ? (bytes[1] ?? 0) : 0 }),
  },
} as const

/** Field 1, a varint. */
const STATUS_FIELD = 0x08
const SERVING = 1
const LONGEST_MS = 1_000

/** True when the service behind a channel says that it serves. */
export async function isServing(channel: Channel): Promise<boolean> {
  const call = { ...serviceCall('gateway', ''), deadline: new Date(Date.now() + LONGEST_MS) }
  const answer = await channel
    .client(HEALTH)
    .check({}, call)
    .catch(() => undefined)
  return answer?.status === SERVING
}

/** True when an HTTP service answers its `/healthz`. */
export function isAnswering(service: HttpService): Promise<boolean> {
  return new Promise((resolve) => {
    const asking = houseRequest(service, '/healthz', { signal: AbortSignal.timeout(LONGEST_MS) }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    asking.on('error', () => resolve(false))
    asking.end()
  })
}
