// Faults: R5, R6, R7
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { credentials, Client as GrpcClient, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { recordFigure, waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { type Channel, openChannel, serviceCall } from '../src/index.ts'

const MIB = 1024 * 1024
/** Maximum memory that rejected messages may use. */
const MAX_USED_BYTES = 16 * MIB
/** Memory of an idle process varies by this amount. */
const IDLE_VARIATION_BYTES = 24 * MIB
/** The server needs 5 s on an idle machine. */
const RECOVERY_TIMEOUT_MS = 50_000
const { path } = VideoServiceService.getVideo

let server: ChildProcess
let address: string
let channel: Channel

beforeAll(async () => {
  const file = fileURLToPath(new URL('./plain-server.ts', import.meta.url))
  const execArgv = ['--disable-warning=ExperimentalWarning', '--expose-gc']
  server = fork(file, { execArgv, env: { PATH: process.env['PATH'] ?? '' } })
  const [received] = (await once(server, 'message')) as [{ address: string }]
  address = received.address
  channel = openChannel(address, { service: 'catalogue', principals: testPrincipals() })
  await callServer()
})
afterAll(async () => {
  channel?.close()
  server?.kill()
})

const callServer = () => channel.client(VideoServiceService).getVideo({ videoId: '7' }, serviceCall('test', 'r'))

async function readMemory(): Promise<number> {
  server.send('rss')
  const [received] = (await once(server, 'message')) as [{ rss: number }]
  return received.rss
}

/** Waits until the same process responds as fast as before. */
async function expectResponsive(): Promise<void> {
  await waitFor(
    async () => {
      const started = performance.now()
      await callServer()
      return performance.now() - started < 500
    },
    { timeout: RECOVERY_TIMEOUT_MS, describe: 'a response within 500 ms' },
  )
  expect([server.exitCode, server.signalCode]).toEqual([null, null])
}

/** Returns a length-prefixed gRPC message: compressed flag, length, bytes. */
function encodeMessage(message: Buffer, compressed: boolean): Buffer {
  const head = Buffer.alloc(5)
  head[0] = compressed ? 1 : 0
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** Sends one message and returns the status code. */
async function send(body: Buffer, headers: Record<string, string> = {}): Promise<number> {
  const session = connectHttp2(`http://${address}`)
  try {
    session.on('error', () => {})
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    })
    let code = Number.NaN
    const readStatus = (fields: Record<string, unknown>) => {
      if (fields['grpc-status'] !== undefined) code = Number(fields['grpc-status'])
    }
    stream
      .on('response', readStatus)
      .on('trailers', readStatus)
      .on('error', () => {})
    const closed = once(stream, 'close')
    stream.resume().end(body)
    await closed
    return code
  } finally {
    session.destroy()
  }
}

test('messages of 64 MiB, uncompressed or from 64 KiB of gzip, are rejected without using memory', async () => {
  const zeros = Buffer.alloc(64 * MIB)
  const bomb = encodeMessage(gzipSync(zeros), true)
  expect(bomb.length).toBeLessThan(80 * 1024)
  const gzip = { 'grpc-encoding': 'gzip' }
  // A small message is decoded. It is rejected only because it has no principal.
  expect(await send(encodeMessage(gzipSync(Buffer.alloc(0)), true), gzip)).toBe(status.UNAUTHENTICATED)
  // Warm-up: memory for loaded and compiled code stays allocated.
  await send(bomb, gzip)
  await callServer()
  const before = await readMemory()
  let max = before
  for (let round = 0; round < 4; round++) {
    const codes = await Promise.all([send(bomb, gzip), send(bomb, gzip)])
    expect(codes).toEqual([status.RESOURCE_EXHAUSTED, status.RESOURCE_EXHAUSTED])
    max = Math.max(max, await readMemory())
  }
  const plain = new GrpcClient(address, credentials.createInsecure(), { 'grpc.max_send_message_length': -1 })
  const error = await new Promise<ServiceError | null>((resolve) =>
    plain.makeUnaryRequest(
      path,
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
      zeros,
      new Metadata(),
      (failure) => resolve(failure),
    ),
  )
  plain.close()
  expect(error?.code).toBe(status.RESOURCE_EXHAUSTED)
  max = Math.max(max, await readMemory())
  recordFigure('R5', `${Math.round((max - before) / MIB)} MiB more memory for messages of 64 MiB`)
  expect(max - before).toBeLessThan(MAX_USED_BYTES + IDLE_VARIATION_BYTES)
  await expectResponsive()
}, 60_000)

test('a message with groups nested 10,000 deep is rejected, whether or not the groups end', async () => {
  const [begin, end] = [0x7b, 0x7c]
  const deep = Buffer.alloc(10_000, begin)
  for (const message of [deep, Buffer.concat([deep, Buffer.alloc(10_000, end)])]) {
    const code = await send(encodeMessage(message, false))
    expect(code).toBeGreaterThan(0)
  }
  await expectResponsive()
})

test('a request without a path does not stop the server', async () => {
  const session: ClientHttp2Session = connectHttp2(`http://${address}`)
  session.on('error', () => {})
  await once(session, 'connect')
  session.destroy()
  for (let round = 0; round < 100; round++) {
    const socket = await openHttp2Connection()
    // `:method POST` and `:scheme http` from the static table of HPACK, and nothing else.
    socket.write(encodeFrame(HEADERS, END_HEADERS, 1, Buffer.from([0x83, 0x86])))
    socket.destroySoon()
  }
  await expectResponsive()
})

test('a flood of settings, pings, continuations or resets closes the connection, and the process continues', async () => {
  // A request of these frames alone gets a response, so the floods below do not fail because of their format.
  const plain = await openHttp2Connection()
  let received = ''
  plain.on('data', (part: Buffer) => (received += part.toString('latin1')))
  plain.write(encodeFrame(HEADERS, END_HEADERS | END_STREAM, 1, requestBlock))
  // The response is a frame of type HEADERS in stream 1 with any flags.
  await waitFor(() => received.split('\0\0\0\u0001').some((before) => before.at(-2) === '\u0001'))
  plain.destroy()
  const floods: [string, Buffer][] = [
    ['settings', encodeFrame(SETTINGS, 0, 0, Buffer.from([0, 3, 0, 0, 0, 1]))],
    ['pings', encodeFrame(PING, 0, 0, Buffer.alloc(8))],
    ['continuations', encodeFrame(CONTINUATION, 0, 1, Buffer.alloc(1_000, 0x40))],
  ]
  for (const [name, floodFrame] of floods) {
    const socket = await openHttp2Connection()
    if (name === 'continuations') socket.write(encodeFrame(HEADERS, 0, 1, Buffer.from([0x83, 0x86])))
    for (let i = 0; i < 10; i++) socket.write(Buffer.concat(Array<Buffer>(1_000).fill(floodFrame)))
    await waitUntilSent(socket)
    await expectResponsive()
    socket.destroy()
  }
  // Rapid reset: 10,000 requests that are cancelled at once.
  const socket = await openHttp2Connection()
  for (let i = 0; i < 10; i++) {
    const pairs = Array.from({ length: 1_000 }, (_, j) => {
      const stream = 1 + 2 * (i * 1_000 + j)
      return Buffer.concat([
        encodeFrame(HEADERS, END_HEADERS, stream, requestBlock),
        encodeFrame(RST_STREAM, 0, stream, Buffer.from([0, 0, 0, 8])),
      ])
    })
    socket.write(Buffer.concat(pairs))
  }
  await waitUntilSent(socket)
  await expectResponsive()
  socket.destroy()
  const memory = await readMemory()
  recordFigure('R6', `${Math.round(memory / MIB)} MiB of memory after floods of frames`)
  expect(memory).toBeLessThan(512 * MIB)
}, 120_000)

/** Waits until all bytes are sent or the peer has closed the connection. */
const waitUntilSent = (socket: Socket) => waitFor(() => socket.destroyed || socket.writableLength === 0, { timeout: RECOVERY_TIMEOUT_MS })

const [HEADERS, RST_STREAM, SETTINGS, PING, CONTINUATION, END_STREAM, END_HEADERS] = [1, 3, 4, 6, 9, 1, 4]
/** POST, http, path and host. The last two are literals without indexing (RFC 7541, 6.2.2). */
const requestBlock = Buffer.concat([Buffer.from([0x83, 0x86, 0x04, path.length]), Buffer.from(path), Buffer.from([0x01, 1, 0x68])])

function encodeFrame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Returns a connection after both sides have sent their HTTP/2 preface. */
async function openHttp2Connection(): Promise<Socket> {
  const [host, port] = address.split(':')
  const socket = connect(Number(port), host)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.resume().write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), encodeFrame(SETTINGS, 0, 0, Buffer.alloc(0))]))
  return socket
}
