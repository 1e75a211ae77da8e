import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { ffprobe, makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'formats-'))
  sources = await startSourceServer(folder)
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
  await Promise.all([makeSource(folder, 'small.mp4'), makeSource(folder, 'other.mp4')])
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

const api = () => platform.withKey(tenant.key)
const read = async (videoId: string) => (await api().get<VideoRecord>(`/video/${videoId}`)).body
const apply = (mediaId: string, encodingformat: number) => platform.system.post(`/media/encodingformat-post/${mediaId}`, { encodingformat })
const usedBytes = async () => {
  const { body } = await platform.system.get<{ usage: { bytes: string } }>(`/organisation/${tenant.organisationId}`)
  return Number(body.usage.bytes)
}

async function fetchBytes(url: string): Promise<Buffer> {
  const response = await fetch(url)
  expect([url, response.status]).toEqual([url, 200])
  return Buffer.from(await response.arrayBuffer())
}
const fetchHash = async (url: string) =>
  createHash('sha256')
    .update(await fetchBytes(url))
    .digest('hex')

async function waitForJob(jobId: string | null): Promise<Record<string, unknown>> {
  let job: Record<string, unknown> = {}
  await waitFor(
    async () => {
      job = (await api().get(`/job/${jobId}`)).body
      return ['ok', 'failed', 'cancelled'].includes(String(job['state']))
    },
    { timeout: 120_000, describe: `job ${jobId} to end` },
  )
  return job
}

async function probeCodec(url: string): Promise<string | undefined> {
  const file = join(folder, 'rendition.mp4')
  await writeFile(file, await fetchBytes(url))
  return (await ffprobe(['-show_streams', file])).streams.find(({ codec_type }) => codec_type === 'video')?.codec_name
}

/** Returns the variants of a master playlist: their tags and playlist URLs. */
async function fetchVariants(master: string): Promise<{ tag: string; url: string }[]> {
  const lines = (await fetchBytes(master)).toString().split('\n')
  return lines.flatMap((tag, index) =>
    tag.startsWith('#EXT-X-STREAM-INF:') ? [{ tag, url: new URL(lines[index + 1] ?? '', master).href }] : [],
  )
}

/** Concatenates the init segment and all segments of a playlist. Also returns its `#EXTINF` lines. */
async function fetchParts(playlist: string): Promise<{ file: Buffer; seconds: string[] }> {
  const text = (await fetchBytes(playlist)).toString()
  const names = [/URI="([^"]+)"/.exec(text)?.[1] ?? '', ...text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))]
  const parts = await Promise.all(names.map((name) => fetchBytes(new URL(name, playlist).href)))
  return { file: Buffer.concat(parts), seconds: text.split('\n').filter((line) => line.startsWith('#EXTINF')) }
}

test('AV1 and HEVC renditions are added to a playable video, and encoded again after a source replacement', async () => {
  const { id } = await upload(api(), tenant.organisationId, `${sources.url}/small.mp4`)
  const before = await waitUntilSettled(api(), id)
  const hashes = async ({ uri }: VideoRecord) =>
    Promise.all([uri.http['h264_100'], uri.http['h264_1200'], uri.poster_frame].map((url) => fetchHash(url ?? '')))
  const hashesBefore = await hashes(before)
  const used = await usedBytes()

  const results = [await apply(before.media_id, 21), await apply(before.media_id, 11)]
  const jobIds = results.map(({ status, headers }) => {
    expect(status).toBe(200)
    return headers.get('x-job-id')
  })
  for (const [index, key] of ['av1_250', 'hevc_300'].entries()) {
    const job = await waitForJob(jobIds[index] ?? null)
    expect(job).toMatchObject({
      action: 'add rendition',
      state: 'ok',
      video_id: id,
      renditions: [{ key, state: 'ok', width: 320, height: 180 }],
    })
  }

  const after = await read(id)
  const { av1_250: av1 = '', hevc_300: hevc = '', ...otherUrls } = after.uri.http
  expect(otherUrls).toEqual(before.uri.http)
  expect({ ...after.uri, http: {} }).toEqual({ ...before.uri, http: {} })
  expect(after.status).toEqual(before.status)
  expect(await hashes(after)).toEqual(hashesBefore)
  expect([await probeCodec(av1), await probeCodec(hevc)]).toEqual(['av1', 'hevc'])
  expect(await usedBytes()).toBeGreaterThan(used + (await fetchBytes(av1)).length + (await fetchBytes(hevc)).length)
  const media = await api().get<{ encoded_filename: string[] }>(`/media/${before.media_id}`)
  expect(media.body.encoded_filename).toEqual(expect.arrayContaining(['h264_100.mp4', 'av1_250.mp4', 'hevc_300.mp4']))

  // Delivery checks the files of a video every two seconds.
  const variants = await waitFor(async () => {
    const variants = await fetchVariants(after.uri.hls)
    return variants.length === 8 ? variants : undefined
  })
  const ordinary = variants.find(({ url }) => url.includes('/h264_250/'))
  const { seconds } = await fetchParts(ordinary?.url ?? '')
  for (const [pattern, codec] of [
    [/CODECS="av01\.0\.\d\dM\.08,mp4a\.40\.2"/, 'av1'],
    [/CODECS="hvc1\.1\.6\.L\d+\.90,mp4a\.40\.2"/, 'hevc'],
  ] as const) {
    const variant = variants.find(({ tag }) => pattern.test(tag))
    expect(variant?.tag).toContain('AUDIO="audio_64"')
    const parts = await fetchParts(variant?.url ?? '')
    expect(parts.seconds).toEqual(seconds)
    const file = join(folder, 'variant.mp4')
    await writeFile(file, parts.file)
    expect((await ffprobe(['-show_streams', file])).streams).toMatchObject([{ codec_name: codec, width: 320, height: 180 }])
  }

  const repeated = await apply(before.media_id, 21)
  expect([repeated.status, repeated.headers.get('x-job-id')]).toEqual([200, null])

  const replaced = await api().put(`/media/${before.media_id}`, { uri: `${sources.url}/other.mp4` })
  await waitForJob(replaced.headers.get('x-job-id'))
  const renewed = await waitFor(
    async () => {
      const video = await read(id)
      return video.uri.http['av1_250'] && video.uri.http['hevc_300'] ? video : undefined
    },
    { timeout: 120_000, describe: 'the renditions of the new source' },
  )
  expect(renewed.uri.http['av1_250']).not.toBe(av1)
  expect(await probeCodec(renewed.uri.http['av1_250'] ?? '')).toBe('av1')
  // A running player still gets the files of the previous set.
  expect(await fetchHash(av1)).toMatch(/^[0-9a-f]{64}$/)

  expect((await platform.system.delete(`/media?media_id=${before.media_id}&user_id=${tenant.userId}`)).status).toBe(200)
  expect(await usedBytes()).toBe(0)
}, 400_000)
