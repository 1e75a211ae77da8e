// Faults: A9, C22
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { freePort, waitFor } from '@vitascope/testing'
import { testKeyEnvironment } from '@vitascope/testing/principal-keys'
import { nextApiKey, type StandIns, startOrigin, startStandIns } from './stand-ins.ts'
import { withKey } from './started-gateway.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
let folder: string
let standIns: StandIns
let delivery: Awaited<ReturnType<typeof startOrigin>>
/** Requested files, pending until a test responds. */
const openResponses: ServerResponse[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vitascope-gateway-'))
  writeFileSync(join(folder, 'idempotency-hash-key'), 'a secret of the gateways\n')
  standIns = await startStandIns()
  delivery = await startOrigin((request, response) => {
    if (request.url === '/delivery/slow') openResponses.push(response)
    else response.end('ok\n')
  })
})
afterAll(async () => {
  await standIns.stop()
  await delivery.stop()
  rmSync(folder, { recursive: true })
})

function start(env: Record<string, string>): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [main], { env: { PATH: process.env['PATH'] ?? '', ...env } })
  let text = ''
  child.stdout?.on('data', (chunk) => (text += chunk))
  child.stderr?.on('data', (chunk) => (text += chunk))
  return { child, output: () => text }
}

const serviceSettings = () => {
  const { address } = standIns
  return {
    VITASCOPE_AUTH_ADDRESS: address,
    VITASCOPE_CATALOGUE_ADDRESS: address,
    VITASCOPE_ENCODING_ADDRESS: address,
    VITASCOPE_COLLABORATION_ADDRESS: address,
    VITASCOPE_ANALYTICS_ADDRESS: address,
    VITASCOPE_DELIVERY_URL: delivery.url,
    VITASCOPE_ENCODING_UPLOAD_URL: delivery.url,
    ...testKeyEnvironment('gateway'),
    VITASCOPE_IDEMPOTENCY_HASH_KEY_FILE: join(folder, 'idempotency-hash-key'),
  }
}

test('serves the route table with settings of the environment, logs path templates only, and exits on SIGTERM', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const { child, output } = start({ VITASCOPE_PORT: new URL(url).port, ...serviceSettings() })
  await waitFor(async () => (await fetch(`${url}/readyz`)).ok, { describe: () => `the gateway to be ready: ${output()}` })

  const key = nextApiKey()
  standIns.keys.set(key, { keyId: '4711', userType: 'uploader', organisationId: '2', resources: [] })
  const otherKey = nextApiKey()
  await fetch(`${url}/v2/apikey/${otherKey}`, { headers: withKey(key) })
  await fetch(`${url}/v2/apikey/${otherKey}/unknown?token=my-own-token`, { headers: withKey(key) })
  await fetch(`${url}/v2/video/upload?api_key=${otherKey}`)
  await waitFor(() => output().includes('/v2/video/upload'))
  const lines = output()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const requests = lines.filter(({ msg, path }) => msg === 'request' && path !== '/readyz')
  expect(requests).toEqual([
    expect.objectContaining({
      method: 'GET',
      path: '/v2/apikey/:apiKey',
      status: 403,
      key_id: '4711',
      request_id: expect.any(String),
      ms: expect.any(Number),
    }),
    expect.objectContaining({ method: 'GET', path: '(no route)', status: 404 }),
    expect.objectContaining({ method: 'GET', path: '/v2/video/upload', status: 401 }),
  ])
  for (const secret of [key, otherKey, 'my-own-token', 'a secret of']) expect(output()).not.toContain(secret)

  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('after SIGTERM it is not ready, accepts no connections, and exits when running requests have ended', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const metricsListen = `127.0.0.1:${await freePort()}`
  const { child, output } = start({
    VITASCOPE_PORT: new URL(url).port,
    VITASCOPE_GATEWAY_METRICS_LISTEN: metricsListen,
    VITASCOPE_DRAIN_SECONDS: '600',
    ...serviceSettings(),
  })
  const probe = async (path: string) => (await fetch(`http://${metricsListen}${path}`)).status
  await waitFor(async () => (await probe('/readyz')) === 200, { describe: () => `the gateway to be ready: ${output()}` })
  const running = fetch(`${url}/delivery/slow`).then((response) => response.text())
  await waitFor(() => openResponses.length === 1)
  child.kill('SIGTERM')
  await waitFor(async () => (await probe('/readyz')) === 503)
  expect(await probe('/healthz')).toBe(200)
  await expect(fetch(`${url}/healthz`)).rejects.toThrow()
  expect(child.exitCode).toBeNull()
  openResponses[0]?.end('the whole file')
  expect(await running).toBe('the whole file')
  await waitFor(() => child.exitCode !== null)
  expect(child.exitCode).toBe(0)
}, 60_000)

test('the public /readyz names an unavailable service, and the readiness probe still succeeds', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const metricsListen = `127.0.0.1:${await freePort()}`
  const { child, output } = start({
    VITASCOPE_PORT: new URL(url).port,
    VITASCOPE_GATEWAY_METRICS_LISTEN: metricsListen,
    ...serviceSettings(),
    VITASCOPE_ANALYTICS_ADDRESS: `127.0.0.1:${await freePort()}`,
  })
  await waitFor(async () => (await fetch(`http://${metricsListen}/readyz`)).ok, { describe: () => `the gateway to be ready: ${output()}` })
  const requested = await fetch(`${url}/readyz`)
  const { errors } = (await requested.json()) as { errors: { field: string }[] }
  expect([requested.status, errors.map(({ field }) => field)]).toEqual([503, ['analytics']])
  child.kill('SIGTERM')
  await waitFor(() => child.exitCode === 0)
}, 60_000)

test('reports every invalid setting and exits', async () => {
  const { child, output } = start({
    VITASCOPE_PORT: 'http',
    VITASCOPE_LIMITS: '{"key": 0, "keys": 1}',
    VITASCOPE_CORS_ORIGINS: 'example.org',
  })
  expect(await once(child, 'exit')).toEqual([2, null])
  for (const problem of [
    'VITASCOPE_PORT must be an integer',
    'VITASCOPE_LIMITS: keys is unknown',
    'VITASCOPE_LIMITS: key must be an integer',
    'VITASCOPE_AUTH_ADDRESS is missing',
    'VITASCOPE_SIGNING_KEY_FILE is missing',
    'VITASCOPE_IDEMPOTENCY_HASH_KEY_FILE is missing',
    'VITASCOPE_DELIVERY_URL is missing',
    'VITASCOPE_ENCODING_UPLOAD_URL is missing',
  ])
    expect(output()).toContain(problem)
  expect(output()).toMatch(/VITASCOPE_CORS_ORIGINS: \\"example.org\\" must be/)
})
