import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startTestGateway } from './started-gateway.ts'

const SCRIPT = 'console.log("console")\n'.repeat(100)

let consoleDir: string
let gateway: Awaited<ReturnType<typeof startTestGateway>>

beforeAll(async () => {
  consoleDir = mkdtempSync(join(tmpdir(), 'vitascope-console-'))
  mkdirSync(join(consoleDir, 'assets'))
  writeFileSync(join(consoleDir, 'index.html'), '<!doctype html><title>Console</title>')
  writeFileSync(join(consoleDir, 'assets/index-abc.js'), SCRIPT)
  writeFileSync(join(consoleDir, 'assets/index-abc.js.gz'), gzipSync(SCRIPT))
  gateway = await startTestGateway([], { consoleDir })
})
afterAll(async () => {
  await gateway?.stop()
  rmSync(consoleDir, { recursive: true })
})

test.each(['/console', '/console/', '/console/videos/42?tab=captions', '/console/sign-in'])(
  '%s is the page of the console',
  async (path) => {
    const response = await fetch(`${gateway.url}${path}`)
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('<title>Console</title>')])
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain(`script-src 'self';`)
    expect(policy).toContain(`frame-ancestors 'none'; frame-src 'self'`)
    expect(response.headers.get('cache-control')).toBe('no-cache')
  },
)

test('assets are compressed and cached forever, and a missing one is 404', async () => {
  const response = await fetch(`${gateway.url}/console/assets/index-abc.js`)
  expect([response.headers.get('content-encoding'), await response.text()]).toEqual(['gzip', SCRIPT])
  expect(response.headers.get('cache-control')).toContain('immutable')
  const plain = await fetch(`${gateway.url}/console/assets/index-abc.js`, { headers: { 'accept-encoding': 'identity' } })
  expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, SCRIPT])
  expect((await fetch(`${gateway.url}/console/assets/other.js`)).status).toBe(404)
})

test('other methods are rejected', async () => {
  const response = await fetch(`${gateway.url}/console`, { method: 'POST' })
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
})
