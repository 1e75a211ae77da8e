// Faults: R1
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { parseAddressRules } from '@vitascope/security'
import { recordFigure, waitFor } from '@vitascope/testing'
import { uploadRoutes } from '../src/api/upload/upload-routes.ts'
import { type StandIns, startOrigin, startStandIns } from './stand-ins.ts'
import { startTestGateway } from './started-gateway.ts'

/** Result of a caller: a status, or `cut` if the connection ended without one. */
interface Upload {
  outcome: number | 'cut' | undefined
  code: string
  request: ReturnType<typeof httpRequest>
}

let standIns: StandIns
let origin: Awaited<ReturnType<typeof startOrigin>>
let gateway: Awaited<ReturnType<typeof startTestGateway>>
/** Requests at the replacement of encoding that have not ended. */
let openRequests: Set<IncomingMessage>

beforeEach(async () => {
  openRequests = new Set()
  standIns = await startStandIns()
  origin = await startOrigin((request: IncomingMessage, response: ServerResponse) => {
    openRequests.add(request)
    request.once('close', () => openRequests.delete(request))
    request
      .resume()
      .on('error', () => {})
      .once('end', () => response.writeHead(204).end())
  })
  const settings = {
    authAddress: standIns.address,
    uploadUrl: origin.url,
    uploads: { perAddress: 3, total: 5 },
    trustedProxies: parseAddressRules(['127.0.0.1']).rules ?? [],
  }
  gateway = await startTestGateway(uploadRoutes, settings)
})
afterEach(async () => {
  await gateway.stop(0)
  await origin.stop()
  await standIns.stop()
})

/** Starts an upload and leaves it open. */
function startUpload(from: string): Upload {
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': 10_000_000, 'x-forwarded-for': from }
  const request = httpRequest(`${gateway.url}/v2/upload/object`, { method: 'POST', headers, agent: false })
  const upload: Upload = { outcome: undefined, code: '', request }
  request.on('error', () => {
    upload.outcome ??= 'cut'
  })
  request.on('response', async (response) => {
    upload.outcome = response.statusCode
    let body = ''
    for await (const chunk of response) body += chunk
    upload.code = body === '' ? '' : (JSON.parse(body) as { code: string }).code
  })
  request.write('x')
  return upload
}
/** Sends a complete upload. */
const uploadAtOnce = (from: string) =>
  fetch(`${gateway.url}/v2/upload/object`, {
    method: 'POST',
    body: new Uint8Array(1_000_000),
    headers: { 'content-type': 'multipart/form-data; boundary=b', 'x-forwarded-for': from },
  })

test('an upload below the minimum rate is aborted with 408, at encoding too, and a faster one is not', async () => {
  const slow = startUpload('198.51.100.1')
  const fast = startUpload('198.51.100.2')
  const feed = setInterval(() => fast.request.write('x'.repeat(2_000)), 100)
  const started = performance.now()
  await waitFor(() => slow.outcome !== undefined, { timeout: 20_000 })
  clearInterval(feed)
  const took = performance.now() - started
  recordFigure('R1', `slow upload aborted after ${(took / 1_000).toFixed(1)} s`)
  expect(took).toBeGreaterThan(9_000)
  expect(slow.outcome).toBe(408)
  await waitFor(() => slow.code !== '')
  expect(slow.code).toBe('request_timeout')
  await waitFor(() => openRequests.size === 1)
  expect(fast.outcome).toBeUndefined()
  fast.request.destroy()
}, 30_000)

test('a new upload replaces a slow one of the same address, or of any address at the total limit', async () => {
  const slow = ['1', '1', '1', '2', '2'].map((nth) => startUpload(`198.51.100.${nth}`))
  await waitFor(() => openRequests.size === 5)
  // While no upload is known to be slow, a new one is rejected with 429.
  await waitFor(async () => (await uploadAtOnce('198.51.100.1')).status === 204)
  await waitFor(async () => (await uploadAtOnce('198.51.100.3')).status === 204)
  await waitFor(() => slow.filter(({ outcome }) => outcome === 503).length >= 1)
  expect(slow.filter(({ outcome }) => outcome === 503).map(({ code }) => code)).toContain('overloaded')
}, 30_000)

test('one address can have a limited number of concurrent uploads', async () => {
  const feeds = ['1', '1', '1'].map((nth) => {
    const { request } = startUpload(`198.51.100.${nth}`)
    return setInterval(() => request.write('x'.repeat(2_000)), 50)
  })
  await waitFor(() => openRequests.size === 3)
  const response = await uploadAtOnce('198.51.100.1')
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await response.json()).toMatchObject({ code: 'too_many_at_once' })
  expect((await uploadAtOnce('198.51.100.2')).status).toBe(204)
  for (const feed of feeds) clearInterval(feed)
})

test('an upload whose client disconnects has an audit entry without an outcome', async () => {
  const { request } = startUpload('198.51.100.1')
  await waitFor(() => openRequests.size === 1)
  request.destroy()
  await waitFor(() => openRequests.size === 0)
  expect((await uploadAtOnce('198.51.100.2')).status).toBe(204)
  const entries = standIns.audit.flatMap((call) => call.entries)
  expect(entries.map(({ address }) => address)).toEqual(['198.51.100.1', '198.51.100.2'])
  // Outcomes are sent in the order of their results.
  const listOutcomes = () => standIns.audit.flatMap((call) => call.outcomes).map(({ entryId, status }) => [entryId, status])
  await waitFor(() => listOutcomes().length > 0)
  expect(listOutcomes()).toEqual([[entries[1]?.entryId, 204]])
})
