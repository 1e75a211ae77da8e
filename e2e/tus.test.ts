import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Upload } from 'tus-js-client'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

let platform: TestPlatform
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-tus-'))
  platform = await startTestPlatform()
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  await rm(folder, { recursive: true, force: true })
})

/** Returns a playable video file, followed by an MP4 box of the given size in bytes that players ignore. */
async function longFile(additionalBytes: number): Promise<Buffer> {
  await makeSource(folder, 'small.mp4')
  const box = Buffer.alloc(additionalBytes, 'unread')
  box.writeUInt32BE(additionalBytes, 0)
  box.write('free', 4, 'latin1')
  return Buffer.concat([await readFile(join(folder, 'small.mp4')), box])
}

test('an upload resumes after gateway and encoding are killed, and becomes one video', async () => {
  const tenant = await createTenant(platform.system)
  const api = platform.withKey(tenant.key)
  const file = await longFile(24_000_000)
  const kills = [
    { at: 0.2, name: 'encoding' },
    { at: 0.5, name: 'gateway' },
    { at: 0.8, name: 'encoding' },
  ]
  const killed: string[] = []
  let videoId = ''
  await new Promise<void>((resolve, reject) => {
    const upload = new Upload(file, {
      endpoint: `${platform.url}/v2/upload/tus`,
      headers: { Authorization: `Bearer ${tenant.key}` },
      metadata: { filename: 'launch.mp4' },
      chunkSize: 4_000_000,
      retryDelays: Array<number>(60).fill(500),
      onProgress(sent) {
        const next = kills[0]
        if (!next || sent < next.at * file.length) return
        const pid = platform.pid(next.name)
        if (pid === undefined) return
        kills.shift()
        killed.push(next.name)
        process.kill(pid, 'SIGKILL')
      },
      onAfterResponse(_request, response) {
        videoId = response.getHeader('X-Video-Id') ?? videoId
      },
      onError: reject,
      onSuccess: () => resolve(),
    })
    upload.start()
  })
  expect(killed).toEqual(['encoding', 'gateway', 'encoding'])
  // If the last response was lost, the list contains the video.
  const { body: videos } = await api.get<VideoRecord[]>(`/video/organisation/${tenant.organisationId}`)
  expect(videos).toHaveLength(1)
  const id = videos[0]?.video_id ?? ''
  if (videoId !== '') expect(videoId).toBe(id)
  const video = await waitUntilSettled(api, id, 120_000)
  expect([video.status.status, video.video_title]).toEqual(['ok', 'launch.mp4'])
}, 240_000)

test('a request that creates an upload can be repeated with its idempotency key', async () => {
  const tenant = await createTenant(platform.system)
  const create = async (key: string, length: number) => {
    const response = await fetch(`${platform.url}/v2/upload/tus`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tenant.key}`,
        'tus-resumable': '1.0.0',
        'upload-length': String(length),
        'idempotency-key': key,
      },
    })
    return { status: response.status, location: response.headers.get('location') }
  }
  const first = await create('first', 10)
  expect(first).toEqual({ status: 201, location: expect.stringContaining('/v2/upload/tus/') })
  expect(await create('first', 10)).toEqual(first)
  expect((await create('second', 10)).location).not.toBe(first.location)
  expect((await create('first', 11)).status).toBe(422)
}, 60_000)
