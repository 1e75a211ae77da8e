// The program of `helm test` on a running platform.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { SYSTEM_KEY, startTestPlatform, type TestPlatform } from './support/test-platform.ts'

const PROGRAM = join(import.meta.dirname, '../apps/gateway/src/release-test/main.ts')

let folder: string
let platform: TestPlatform

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'release-test-'))
  await writeFile(join(folder, 'system-key'), `${SYSTEM_KEY}\n`)
  await writeFile(join(folder, 'wrong-key'), 'a-key-that-does-not-exist-01')
  await writeFile(join(folder, 'text.mp4'), 'this is a letter, not a video\n'.repeat(100))
  platform = await startTestPlatform()
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  await rm(folder, { recursive: true, force: true })
})

async function runTest(keyFile: string, ...args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [PROGRAM, '--url', platform.url, '--key-file', join(folder, keyFile), ...args])
  const output = { out: '', err: '' }
  child.stdout.on('data', (data: Buffer) => (output.out += data))
  child.stderr.on('data', (data: Buffer) => (output.err += data))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output }
}

const countVideos = async () => {
  const { status, body } = await platform.system.get<{ videos: unknown[] }>('/video')
  expect(status).toBe(200)
  return body.videos.length
}

test('uploads a video, plays it, deletes it, and prints these steps', async () => {
  const { code, out, err } = await runTest('system-key')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const id = /^uploaded \d{5} bytes as video (\d+)$/m.exec(out)?.[1]
  const lines = [
    'uploaded \\d+ bytes as video \\d+',
    'encoded the video \\d+[.]\\d s after the upload began',
    'played /delivery/\\S+[.]m3u8',
    'played /delivery/\\S+, [1-9]\\d* bytes',
    `deleted video ${id}`,
    'the release works',
  ]
  expect(out).toMatch(new RegExp(`^${lines.join('\n')}\n$`))
  expect((await platform.system.get(`/video/${id}`)).status).toBe(404)
  expect(await countVideos()).toBe(0)
}, 180_000)

test('fails with the reason if a video cannot be encoded, and deletes it', async () => {
  const { code, out, err } = await runTest('system-key', '--clip', join(folder, 'text.mp4'))
  expect(code).toBe(1)
  expect(err).toMatch(/^the test failed: the video could not be encoded \(code 400\d\): read the logs of encoding/)
  expect(out).toMatch(/^uploaded 3000 bytes as video (\d+)\ndeleted video \1\n$/)
  expect(await countVideos()).toBe(0)
}, 180_000)

test('fails with the reason if media files are at another address', async () => {
  const { code, err } = await runTest('system-key', '--media-url', 'http://127.0.0.1:1')
  expect(code).toBe(1)
  expect(err).toMatch(/^the test failed: http:\/\/127[.]0[.]0[.]1:1\/delivery\/\S+ did not respond: /)
  expect(await countVideos()).toBe(0)
}, 180_000)

test('fails with the reason if the key is wrong', async () => {
  const { code, out, err } = await runTest('wrong-key')
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(/^the test failed: GET \/v2\/user returned 401: `system-key` of the secret must be the key that auth uses/)
})
