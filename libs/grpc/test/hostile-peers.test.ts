import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { credentials, Client as GrpcClient, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { type Channel, openChannel, serviceCall } from '../src/index.ts'

const MIB = 1024 * 1024
/** Allowance for memory fluctuations of an idle process. */
const MORE_MEMORY = 16 * MIB
const NOISE = 24 * MIB
/** Takes 5 s on an idle machine. */
const CALM_MS = 50_000
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
  await call()
})
afterAll(async () => {
  channel?.close()
  server?.kill()
})

const call = () => channel.client(VideoServiceService).getVideo({ videoId: '7' }, serviceCall('test', 'r'))

async function memory(): Promise<number> {
  server.send('rss')
  const [received] = (await once(server, 'message')) as [{ rss: number }]
  return received.rss
}

/** Waits until the same process responds as fast as before. */
async function expectWell(): Promise<void> {
  await waitFor(
    async () => {
      const started = performance.now()
      await call()
      return performance.now() - started < 500
    },
    { timeout: CALM_MS, describe: 'quick answers' },
  )
  expect([server.exitCode, server.signalCode]).toEqual([null, null])
}

/** Returns a length-prefixed gRPC message: compressed flag, length, bytes. */
function framed(message: Buffer, compressed: boolean): Buffer {
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
    const look = (seen: Record<string, unknown>) => {
      if (seen['grpc-status'] !== undefined) code = Number(seen['grpc-status'])
    }
    stream
      .on('response', look)
      .on('trailers', look)
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
  const bomb = framed(gzipSync(zeros), true)
  expect(bomb.length).toBeLessThan(80 * 1024)
  const gzip = { 'grpc-encoding': 'gzip' }
  // A small message is read, and fails only for lack of a principal.
  expect(await send(framed(gzipSync(Buffer.alloc(0)), true), gzip)).toBe(status.UNAUTHENTICATED)
  // Warm-up: memory for loaded and compiled code stays allocated.
  await send(bomb, gzip)
  await call()
  const before = await memory()
  let max = before
  for (let round = 0; round < 4; round++) {
    const codes = await Promise.all([send(bomb, gzip), send(bomb, gzip)])
    expect(codes).toEqual([status.RESOURCE_EXHAUSTED, status.RESOURCE_EXHAUSTED])
    max = Math.max(max, await memory())
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
  max = Math.max(max, await memory())
  process.stderr.write(`large messages: ${Math.round((max - before) / MIB)} MiB more\n`)
  expect(max - before).toBeLessThan(MORE_MEMORY + NOISE)
  await expectWell()
}, 60_000)

test('a message with groups nested 10,000 deep is rejected, whether or not the groups end', async () => {
  const [begin, end] = [0x7b, 0x7c]
  const deep = Buffer.alloc(10_000, begin)
  for (const message of [deep, Buffer.concat([deep, Buffer.alloc(10_000, end)])]) {
    const code = await send(framed(message, false))
    expect(code).toBeGreaterThan(0)
  }
  await expectWell()
})

test('a request without a path does not stop the server', async () => {
  const session: ClientHttp2Session = connectHttp2(`http://${address}`)
  session.on('error', () => {})
  await once(session, 'connect')
  session.destroy()
  for (let round = 0; round < 100; round++) {
    const socket = await greeted()
    // `:method POST` and `:scheme http` from the static table of HPACK, and nothing else.
    socket.write(frame(HEADERS, END_HEADERS, 1, Buffer.from([0x83, 0x86])))
    socket.destroySoon()
  }
  await expectWell()
})

test('a flood of settings, pings, continuations or resets closes the connection, and the process continues', async () => {
  // A request of these frames alone gets a response, so the floods below are not rejected for their form.
  const plain = await greeted()
  let came = ''
  plain.on('data', (part: Buffer) => (came += part.toString('latin1')))
  plain.write(frame(HEADERS, END_HEADERS | END_STREAM, 1, requestBlock))
  // A frame of type HEADERS in stream 1, whatever its flags.
  await waitFor(() => came.split('\0\0\0\u0001').some((before) => before.at(-2) === '\u0001'))
  plain.destroy()
  const floods: [string, Buffer][] = [
    ['settings', frame(SETTINGS, 0, 0, Buffer.from([0, 3, 0, 0, 0, 1]))],
    ['pings', frame(PING, 0, 0, Buffer.alloc(8))],
    ['continuations', frame(CONTINUATION, 0, 1, Buffer.alloc(1_000, 0x40))],
  ]
  for (const [name, one] of floods) {
    const socket = await greeted()
    if (name === 'continuations') socket.write(frame(HEADERS, 0, 1, Buffer.from([0x83, 0x86])))
    for (let i = 0; i < 10; i++) socket.write(Buffer.concat(Array<Buffer>(1_000).fill(one)))
    await taken(socket)
    await expectWell()
    socket.destroy()
  }
  // Rapid reset: 10,000 requests that are cancelled at once.
  const socket = await greeted()
  for (let i = 0; i < 10; i++) {
    const pairs = Array.from({ length: 1_000 }, (_, j) => {
      const stream = 1 + 2 * (i * 1_000 + j)
      return Buffer.concat([frame(HEADERS, END_HEADERS, stream, requestBlock), frame(RST_STREAM, 0, stream, Buffer.from([0, 0, 0, 8]))])
    })
    socket.write(Buffer.concat(pairs))
  }
  await taken(socket)
  await expectWell()
  socket.destroy()
  expect(await memory()).toBeLessThan(512 * MIB)
}, 120_000)

/** Resolves when all bytes are sent or the peer has closed the connection. */
const taken = (socket: Socket) => waitFor(() => socket.destroyed || socket.writableLength === 0, { timeout: CALM_MS })

const [HEADERS, RST_STREAM, SETTINGS, PING, CONTINUATION, END_STREAM, END_HEADERS] = [1, 3, 4, 6, 9, 1, 4]
/** POST, http, path and host. The last two are literals without indexing (RFC 7541, 6.2.2). */
const requestBlock = Buffer.concat([Buffer.from([0x83, 0x86, 0x04, path.length]), Buffer.from(path), Buffer.from([0x01, 1, 0x68])])

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Returns a connection after both sides have sent their HTTP/2 preface. */
async function greeted(): Promise<Socket> {
  const [host, port] = address.split(':')
  const socket = connect(Number(port), host)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.resume().write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0, 0, Buffer.alloc(0))]))
  return socket
}
