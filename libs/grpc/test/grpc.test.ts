import { credentials, Client as GrpcClient, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { ApiKeyServiceService, WatchRevocationsResponse } from '@vitascope/proto/auth/v1/api_key'
import { type GetVideoRequest, VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { type ServerReflectionResponse, ServerReflectionService } from '@vitascope/proto/grpc/reflection/v1/reflection'
import { createLogger, createMetrics } from '@vitascope/telemetry'
import { waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { type Call, type Channel, createGrpcServer, type GrpcServer, openChannel, serviceCall } from '../src/index.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const metrics = createMetrics('test')
let server: GrpcServer
let address: string
let channel: Channel
let seen: Call | undefined
let response: (request: GetVideoRequest, call: Call) => Promise<never> = async () => {
  throw new Error('unset')
}

// Only the methods that a test calls are implemented.
beforeAll(async () => {
  server = createGrpcServer({ principals: testPrincipals('catalogue'), log, metrics })
  server.implement(
    { getVideo: VideoServiceService.getVideo },
    {
      getVideo: (request, call) => {
        seen = call
        return response(request, call)
      },
    },
  )
  server.implement(
    { watchRevocations: ApiKeyServiceService.watchRevocations },
    {
      async *watchRevocations() {
        for (let i = 0; i < 3; i++) yield WatchRevocationsResponse.fromPartial({ apiKeyIds: [String(i)] })
      },
    },
  )
  address = await server.listen('127.0.0.1:0')
  channel = openChannel(address, { service: 'catalogue', principals: testPrincipals() })
})
afterAll(async () => {
  channel.close()
  await server.drain()
})

const send = (call = serviceCall('test', 'r-1'), from = channel) => from.client(VideoServiceService).getVideo({ videoId: '7' }, call)

describe('a domain error', () => {
  test('reaches the client with its kind, reason, message, fields and retry time', async () => {
    response = async () => {
      throw new DomainError('exhausted', 'QUOTA_FULL', 'no more', { fields: [{ field: 'url', message: 'too large' }], retryAfter: 7 })
    }
    await expect(send()).rejects.toMatchObject({
      kind: 'exhausted',
      reason: 'QUOTA_FULL',
      message: 'no more',
      fields: [{ field: 'url', message: 'too large' }],
      retryAfter: 7,
    })
  })
  test('hides the details of an internal error', async () => {
    response = async () => {
      throw new Error('select password from users')
    }
    const error = await send().catch((e: unknown) => e)
    expect(error).not.toBeInstanceOf(DomainError)
    expect(String(error)).not.toContain('password')
  })
})

describe('a principal', () => {
  test('reaches the handler as it was signed, with the request id and the idempotency key', async () => {
    const principal = { kind: 'user', keyId: '1', userId: '2', organisationId: '3', userType: 'uploader' } as const
    const idempotency = { key: 'a'.repeat(64), fingerprint: 'b'.repeat(64) }
    await send({ ...serviceCall('test', 'r-2'), principal, idempotency }).catch(() => {})
    expect(seen).toMatchObject({ principal, requestId: 'r-2', idempotency })
  })
  test('is rejected if it was signed for another service', async () => {
    const foreignChannel = openChannel(address, { service: 'auth', principals: testPrincipals() })
    await expect(send(undefined, foreignChannel)).rejects.toMatchObject({ reason: 'PRINCIPAL_INVALID' })
    foreignChannel.close()
  })
})

describe('deadlines', () => {
  test('a read that takes too long is rejected as unavailable, and its handler is aborted', async () => {
    const aborted = new Promise<void>((resolve) => {
      response = (_, call) =>
        new Promise((_resolve, reject) => {
          call.signal.addEventListener('abort', () => {
            resolve()
            reject(new Error('aborted'))
          })
        })
    })
    await expect(send({ ...serviceCall('test', 'r'), deadline: new Date(Date.now() + 1_000) })).rejects.toMatchObject({
      kind: 'unavailable',
      reason: 'DEADLINE_EXCEEDED',
    })
    await aborted
  })
  test('a disconnect of the caller aborts the handler', async () => {
    const disconnect = new AbortController()
    const aborted = new Promise<void>((resolve) => {
      response = (_, call) =>
        new Promise((_resolve, reject) => {
          call.signal.addEventListener('abort', () => {
            resolve()
            reject(new Error('aborted'))
          })
          disconnect.abort()
        })
    })
    await expect(send(serviceCall('test', 'r', disconnect.signal))).rejects.toMatchObject({ name: 'AbortError' })
    await aborted
  })
  test('a call whose caller has cancelled it does not count as a fault', async () => {
    const countCalls = async (outcome: string) => {
      const name = 'vitascope_grpc_call_duration_seconds_count'
      const line = (await metrics.text()).split('\n').find((text) => text.startsWith(name) && text.includes(`outcome="${outcome}"`))
      return Number(line?.split(' ').at(-1) ?? 0)
    }
    const [faults, cancelled] = [await countCalls('fault'), await countCalls('cancelled')]
    const disconnect = new AbortController()
    response = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        disconnect.abort()
      })
    await expect(send(serviceCall('test', 'r', disconnect.signal))).rejects.toMatchObject({ name: 'AbortError' })
    await waitFor(async () => (await countCalls('cancelled')) > cancelled, { describe: 'the end of the call' })
    expect(await countCalls('fault')).toBe(faults)
  })
})

test('a stream arrives in order and ends', async () => {
  const received: string[] = []
  for await (const m of channel.client(ApiKeyServiceService).watchRevocations({}, serviceCall('test', 'r'))) received.push(...m.apiKeyIds)
  expect(received).toEqual(['0', '1', '2'])
})

test('a call to a stopped service fails as unavailable, and succeeds after the restart', async () => {
  const first = createGrpcServer({ principals: testPrincipals('catalogue'), log, metrics: createMetrics('test') })
  const serverAddress = await first.listen('127.0.0.1:0')
  const serverChannel = openChannel(serverAddress, { service: 'catalogue', principals: testPrincipals() })
  expect(await serverChannel.ready(2_000)).toBe(true)
  await first.drain(0)
  await expect(send(undefined, serverChannel)).rejects.toMatchObject({ kind: 'unavailable', reason: 'SERVICE_UNAVAILABLE' })
  const second = createGrpcServer({ principals: testPrincipals('catalogue'), log, metrics: createMetrics('test') })
  await second.listen(serverAddress)
  expect(await serverChannel.ready(5_000)).toBe(true)
  serverChannel.close()
  await second.drain(0)
})

test('reflection is off unless it is enabled', async () => {
  const plain = new GrpcClient(address, credentials.createInsecure())
  const method = ServerReflectionService.serverReflectionInfo
  const stream = plain.makeBidiStreamRequest(method.path, method.requestSerialize, method.responseDeserialize)
  const ended = new Promise<{ code?: number }>((resolve) => stream.on('error', resolve).on('data', () => resolve({})))
  stream.write({ host: '', messageRequest: { $case: 'listServices', value: '' } })
  expect(await ended).toMatchObject({ code: status.UNIMPLEMENTED })
  plain.close()
})

test('reflection lists the services and describes a message with the well-known types that it uses', async () => {
  const reflecting = createGrpcServer({
    principals: testPrincipals('catalogue'),
    serve: { reflection: true },
    log,
    metrics: createMetrics('test'),
  })
  const plain = new GrpcClient(await reflecting.listen('127.0.0.1:0'), credentials.createInsecure())
  const method = ServerReflectionService.serverReflectionInfo
  const stream = plain.makeBidiStreamRequest(method.path, method.requestSerialize, method.responseDeserialize)
  const responses: ServerReflectionResponse[] = []
  const done = new Promise<void>((resolve) => {
    stream.on('data', (a: ServerReflectionResponse) => {
      responses.push(a)
      if (responses.length === 2) stream.end()
    })
    stream.on('end', resolve)
  })
  stream.write({ host: '', messageRequest: { $case: 'listServices', value: '' } })
  stream.write({ host: '', messageRequest: { $case: 'fileContainingSymbol', value: 'vitascope.catalogue.v1.Video' } })
  await done
  const [list, file] = responses.map((a) => a.messageResponse)
  expect(list?.$case === 'listServicesResponse' && list.value.service.map((s) => s.name)).toContain('vitascope.catalogue.v1.VideoService')
  const text = file?.$case === 'fileDescriptorResponse' ? Buffer.concat(file.value.fileDescriptorProto).toString('latin1') : ''
  expect(text).toContain('google/protobuf/timestamp.proto')
  plain.close()
  await reflecting.drain(0)
})

test('a connection closed after too many cancelled calls is retryable for waiting callers', async () => {
  let waiting = 0
  response = (_, { signal }) => {
    waiting++
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const own = openChannel(address, { service: 'catalogue', principals: testPrincipals() })
  const waitingCall = send({ ...serviceCall('test', ''), deadline: new Date(Date.now() + 10_000) }, own).catch((error: unknown) => error)
  // HTTP/2 servers accept a burst of about 1,000 cancelled streams, then close the connection.
  for (let round = 1; round <= 12; round++) {
    waiting = 0
    const disconnect = new AbortController()
    const cancelledCalls = Array.from({ length: 100 }, () => send(serviceCall('test', '', disconnect.signal), own).catch(() => {}))
    await waitFor(() => waiting >= 100, { timeout: 500 }).catch(() => {})
    disconnect.abort()
    await Promise.all(cancelledCalls)
  }
  expect(await waitingCall).toMatchObject({ kind: 'unavailable' })
  own.close()
}, 30_000)
