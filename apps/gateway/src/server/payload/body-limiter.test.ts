import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { BODY_BOUNDS, createBodyLimiter } from './body-limiter.ts'

/** A request with only what the body limiter uses. */
function buildRequest(length: number) {
  const stream = new PassThrough()
  const request = Object.assign(stream, { headers: { 'content-length': String(length) } }) as unknown as IncomingMessage
  return { stream, request }
}

/**
 * Sends the first part of a body. `outcome` is the result, or `going` while the body is awaited.
 */
function send(bodies: ReturnType<typeof createBodyLimiter>, sender: string, first = 'x') {
  const { stream, request } = buildRequest(1_000_000)
  const sent = { stream, outcome: 'going', connectionsCut: 0 }
  bodies
    .read(request, sender, () => sent.connectionsCut++)
    .then(
      (bytes) => {
        sent.outcome = `${bytes?.length} bytes`
      },
      ({ reason }) => {
        sent.outcome = reason
      },
    )
  stream.write(first)
  return sent
}
const bounds = { ...BODY_BOUNDS, slowMs: -1 }

test('returns the complete body, or undefined without a body', async () => {
  const bodies = createBodyLimiter()
  const { stream, request } = buildRequest(4)
  const reading = bodies.read(request, 'a', () => {})
  stream.write('bo')
  stream.end('dy')
  expect(String(await reading)).toBe('body')
  expect(await bodies.read(buildRequest(0).request, 'a', () => {})).toBeUndefined()
  await expect(bodies.read(buildRequest(1024 * 1024 + 1).request, 'a', () => {})).rejects.toMatchObject({ reason: 'PAYLOAD_TOO_LARGE' })
})

test('drops the oldest body of a sender above its limit, and none of other senders', async () => {
  const bodies = createBodyLimiter({ ...bounds, perSender: 3 })
  const other = send(bodies, 'b')
  const sent = Array.from({ length: 5 }, () => send(bodies, 'a'))
  await waitFor(() => sent.filter(({ outcome }) => outcome === 'OVERLOADED').length === 2)
  expect(sent.map(({ outcome }) => outcome)).toEqual(['OVERLOADED', 'OVERLOADED', 'going', 'going', 'going'])
  expect(sent.map(({ connectionsCut }) => connectionsCut)).toEqual([1, 1, 0, 0, 0])
  other.stream.end()
  sent[4]?.stream.end('yz')
  await waitFor(() => other.outcome === '1 bytes' && sent[4]?.outcome === '3 bytes')
})

test('drops the oldest body above the total limit', async () => {
  const bodies = createBodyLimiter({ ...bounds, total: 2 })
  const sent = ['a', 'b', 'c'].map((sender) => send(bodies, sender))
  await waitFor(() => sent[0]?.outcome === 'OVERLOADED')
  expect(sent.map(({ outcome }) => outcome)).toEqual(['OVERLOADED', 'going', 'going'])
})

test('keeps all bodies that are not slow', async () => {
  const bodies = createBodyLimiter({ ...BODY_BOUNDS, perSender: 3, total: 4, slowMs: 60_000 })
  const sent = Array.from({ length: 20 }, () => send(bodies, 'a'))
  for (const { stream } of sent) stream.end('y')
  await waitFor(() => sent.every(({ outcome }) => outcome !== 'going'))
  expect(new Set(sent.map(({ outcome }) => outcome))).toEqual(new Set(['2 bytes']))
})

test('drops the bodies of the largest sender when bytes exceed the bound', async () => {
  const bodies = createBodyLimiter({ ...bounds, bytes: 1_000 })
  const small = send(bodies, 'a', 'x'.repeat(100))
  const large = [send(bodies, 'b', 'x'.repeat(400)), send(bodies, 'b', 'x'.repeat(400))]
  const last = send(bodies, 'c', 'x'.repeat(200))
  await waitFor(() => large[0]?.outcome === 'OVERLOADED')
  expect([small, large[1], last].map((sent) => sent?.outcome)).toEqual(['going', 'going', 'going'])
})

test('rejects a body below the minimum rate', async () => {
  const bodies = createBodyLimiter({ ...BODY_BOUNDS, graceMs: 50, bytesPerSecond: 100 })
  const slow = send(bodies, 'a')
  // Its bytes allow it about 100 s.
  const phone = send(bodies, 'a', 'x'.repeat(10_000))
  await waitFor(() => slow.outcome === 'REQUEST_TIMEOUT')
  expect([slow.connectionsCut, phone.outcome]).toEqual([1, 'going'])
  phone.stream.end()
  await waitFor(() => phone.outcome === '10000 bytes')
})
