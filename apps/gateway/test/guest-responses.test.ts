// Faults: A7
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { seededRandom, waitFor } from '@vitascope/testing'
import { z } from 'zod'
import { route } from '../src/server/route/route.ts'
import { nextApiKey, type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway, withKey } from './started-gateway.ts'

/** A record that guests see without its secret. */
let record = { name: 'first', secret: 'hidden' }
/** Callers of the handler since the start of the test. */
let reads: string[] = []
let failure: Error | undefined
let release = () => {}
let held: Promise<void> | undefined

const sample = z.object({ name: z.string(), secret: z.string().optional() })
const routes = [
  route({
    get: ['/sample/:sampleId'],
    operationId: 'getSample',
    section: 'Samples',
    access: 'public',
    sharedByGuests: true,
    summary: 'Read a sample',
    params: z.object({ sampleId: z.string() }),
    query: z.object({ size: z.string().default('') }),
    response: sample,
    async handle(_, { caller }) {
      reads.push(caller.kind)
      const { name, secret } = record
      await held
      if (failure) throw failure
      return caller.kind === 'guest' ? { name } : { name, secret }
    },
  }),
  route({
    put: ['/sample/:sampleId'],
    operationId: 'updateSample',
    section: 'Samples',
    access: 'user',
    summary: 'Change a sample',
    params: z.object({ sampleId: z.string() }),
    payload: z.object({ name: z.string() }),
    response: sample,
    async handle({ payload }) {
      record = { ...record, name: payload.name }
      return record
    },
  }),
]

let standIns: StandIns
let gateway: Awaited<ReturnType<typeof startTestGateway>>
let headers: Record<string, string>
beforeAll(async () => {
  standIns = await startStandIns()
  gateway = await startTestGateway(routes, { authAddress: standIns.address, catalogueAddress: standIns.address })
  await waitFor(() => standIns.watchers() === 1, { describe: 'the gateway to subscribe to revocations' })
  const key = nextApiKey()
  standIns.keys.set(key, { keyId: '1', userType: 'uploader', organisationId: '2', resources: ['sample::get', 'sample::put'] })
  headers = withKey(key)
})
beforeEach(() => {
  reads = []
  failure = undefined
  held = undefined
})
afterAll(async () => {
  await gateway.stop()
  await standIns.stop()
})

let nextId = 1
const nextPath = () => `/v2/sample/${nextId++}`
const read = async (path: string, more: RequestInit = {}) => {
  const response = await fetch(`${gateway.url}${path}`, more)
  return { status: response.status, headers: response.headers, text: await response.text() }
}
/** Sends raw bytes, and returns what is received until the gateway closes the connection. */
async function exchange(bytes: string): Promise<string> {
  const [host, port] = gateway.address.split(':')
  const socket = connect(Number(port), host)
  socket.write(bytes)
  return text(socket)
}
const change = (path: string, name: string) =>
  read(path, { method: 'PUT', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify({ name }) })

describe('the response to a guest', () => {
  test('is read once for concurrent requests, and again for the next one', async () => {
    const path = nextPath()
    held = new Promise((resolve) => {
      release = resolve
    })
    // All requests are in one packet, so that all arrive while the first one is served.
    const request = `GET ${path} HTTP/1.1\r\nHost: h\r\n`
    const responses = exchange(`${`${request}\r\n`.repeat(19)}${request}Connection: close\r\n\r\n`)
    await waitFor(() => reads.length > 0)
    release()
    expect((await responses).match(/HTTP\/1\.1 200 /g)).toHaveLength(20)
    expect(reads).toEqual(['guest'])
    held = undefined
    record = { ...record, name: 'changed elsewhere' }
    expect(JSON.parse((await read(path)).text)).toEqual({ name: 'changed elsewhere' })
    expect(reads).toEqual(['guest', 'guest'])
  })

  test('is read for each path and query', async () => {
    const path = nextPath()
    held = new Promise((resolve) => {
      release = resolve
    })
    const responses = [path, `${path}?size=1`, nextPath(), path].map((url) => read(url))
    await waitFor(() => reads.length === 3)
    release()
    await Promise.all(responses)
    expect(reads).toHaveLength(3)
  })

  test('has an ETag, and is 304 if the client has it, and without body for HEAD', async () => {
    const path = nextPath()
    const etag = (await read(path)).headers.get('etag') ?? ''
    expect(await read(path, { headers: { 'if-none-match': etag } })).toMatchObject({ status: 304, text: '' })
    const head = await read(path, { method: 'HEAD' })
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', etag])
  })

  test('is an error for all requests that share it, and for no later one', async () => {
    const path = nextPath()
    failure = new DomainError('not_found', 'SAMPLE_NOT_FOUND', 'no sample')
    expect((await read(path)).status).toBe(404)
    failure = undefined
    expect((await read(path)).status).toBe(200)
    expect(reads).toHaveLength(2)
  })

  test('is never sent to the holder of a key, and a guest never gets the response to the holder of a key', async () => {
    const path = nextPath()
    expect(JSON.parse((await read(path)).text)).toEqual({ name: record.name })
    expect(JSON.parse((await read(path, { headers })).text)).toEqual(record)
    expect(JSON.parse((await read(path)).text)).toEqual({ name: record.name })
    expect(reads).toEqual(['guest', 'user', 'guest'])
  })

  test('is read again after a change by the holder of a key', async () => {
    const path = nextPath()
    await read(path)
    await change(path, 'second')
    expect(JSON.parse((await read(path)).text)).toEqual({ name: 'second' })
  })

  test('that was read before a change is not sent to requests after the change', async () => {
    const path = nextPath()
    held = new Promise((resolve) => {
      release = resolve
    })
    const old = read(path)
    await waitFor(() => reads.length === 1)
    await change(path, 'third')
    const later = read(path)
    await waitFor(() => reads.length === 2)
    release()
    await old
    expect(JSON.parse((await later).text)).toEqual({ name: 'third' })
  })

  test('is the current one without the secret after any sequence of reads and changes', async () => {
    const random = seededRandom(7)
    const paths = [nextPath(), nextPath()]
    for (let step = 0; step < 300; step++) {
      const path = paths[Math.floor(random() * paths.length)] ?? ''
      const kind = random()
      if (kind < 0.3) await change(path, `name ${step}`)
      else if (kind < 0.5) expect(JSON.parse((await read(path, { headers })).text)).toEqual(record)
      else expect(JSON.parse((await read(path)).text)).toEqual({ name: record.name })
    }
  })
})
