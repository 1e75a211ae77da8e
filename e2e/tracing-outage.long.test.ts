import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { SYSTEM_KEY, startTestPlatform, type TestPlatform } from './support/test-platform.ts'

let receiver: Server
let platform: TestPlatform
let metricsUrl: string
const sockets = new Set<Socket>()

beforeAll(async () => {
  // Accepts connections and never responds.
  receiver = createServer((socket) => {
    sockets.add(socket)
    socket.resume().on('error', () => {})
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  platform = await startTestPlatform({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
    OTEL_BSP_MAX_QUEUE_SIZE: '50',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
  })
  metricsUrl = platform.metricsUrl
}, 120_000)
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => receiver?.close(resolve))
  await platform?.remove()
})

const countSpans = async (outcome: string) => {
  const text = await (await fetch(metricsUrl)).text()
  const values = [...text.matchAll(new RegExp(`^vitascope_trace_spans_total\\{[^}]*outcome="${outcome}"[^}]*\\} (\\d+)`, 'gm'))]
  return values.reduce((sum, [, value]) => sum + Number(value), 0)
}

test('requests succeed without delay while the span receiver never responds, and dropped spans are counted', async () => {
  const api = platform.withKey(SYSTEM_KEY)
  const durations: number[] = []
  for (let count = 0; count < 300; count++) {
    const start = performance.now()
    expect((await api.get('/organisation')).status).toBe(200)
    durations.push(performance.now() - start)
  }
  expect(sockets.size).toBeGreaterThan(0)
  // An export to the receiver times out after 2 s. A request that waits for an export lasts longer.
  expect(Math.max(...durations)).toBeLessThan(1_500)
  expect(await waitFor(() => countSpans('dropped'), { timeout: 10_000, describe: 'dropped spans' })).toBeGreaterThan(100)
  expect(await waitFor(() => countSpans('failed'), { timeout: 20_000, describe: 'failed spans' })).toBeGreaterThan(0)
  expect(await countSpans('exported')).toBe(0)
  const warnings = platform
    .log()
    .split('\n')
    .filter((line) => line.includes('sending spans failed') && line.includes('gateway'))
  expect(warnings.length).toBe(1)
}, 120_000)

test('the platform stops within 8 s while the span receiver never responds', async () => {
  const start = performance.now()
  await platform.stop()
  expect(performance.now() - start).toBeLessThan(8_000)
  expect(platform.log()).not.toContain('stopping took too long')
}, 60_000)
