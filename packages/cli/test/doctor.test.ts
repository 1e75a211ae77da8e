import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { freePort } from '@vitascope/testing'
import { doctor } from '../src/commands/doctor.ts'
import { createContext } from '../src/context.ts'
import type { Output } from '../src/output.ts'

let server: Server
let url: string
let playlistUrl: string
let isComplete = true
beforeAll(async () => {
  server = createServer(({ url: path = '' }, response) => {
    response.setHeader('X-Request-Id', 'r1')
    if (path === '/readyz') {
      if (isComplete) response.end('ready')
      // The connection ends within the body.
      else response.writeHead(200, { 'Content-Length': '5' }).write('r', () => response.destroy())
      return
    }
    if (path === '/page') {
      response.end('<!doctype html>')
      return
    }
    const video = { video_id: '42', status: { status: 'ok' }, visibility: 'public', uri: { hls: playlistUrl } }
    const body = path.startsWith('/v2/video') ? { videos: [video] } : { organisation_id: '7' }
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
})

async function runDoctor() {
  const lines: string[] = []
  const output: Output = { isJson: true, print: (line) => lines.push(line), note: () => {}, status: () => {} }
  const env = { XDG_CONFIG_HOME: '/nonexistent', VITASCOPE_URL: url, VITASCOPE_KEY: 'k' }
  const succeeded = await doctor(await createContext({}, { env, output, signal: new AbortController().signal }))
  return { succeeded, checks: lines.map((line): unknown => JSON.parse(line)) }
}

test('a playlist that cannot be loaded fails the check of delivery, and no other check', async () => {
  playlistUrl = `http://127.0.0.1:${await freePort()}/master.m3u8`
  const { succeeded, checks } = await runDoctor()
  expect(succeeded).toBe(false)
  expect(checks.slice(3)).toEqual([
    { check: 'key', result: 'ok', detail: 'of organisation 7' },
    { check: 'encoding', result: 'ok', detail: '0 of the 1 newest videos failed' },
    { check: 'delivery', result: 'failed', detail: expect.stringMatching(`^${playlistUrl} cannot be loaded: .*fetch failed`) },
  ])
})

test('a response that ends early fails the check of the connection', async () => {
  isComplete = false
  const { succeeded, checks } = await runDoctor()
  isComplete = true
  expect([succeeded, checks]).toEqual([
    false,
    [{ check: 'connection', result: 'failed', detail: expect.stringContaining(`${url} cannot be reached: `) }],
  ])
})

test('a page in place of the playlist fails the check of delivery', async () => {
  playlistUrl = `${url}/page`
  const { checks } = await runDoctor()
  expect(checks.at(-1)).toEqual({ check: 'delivery', result: 'failed', detail: `${playlistUrl} returned status 200, but no playlist` })
})
