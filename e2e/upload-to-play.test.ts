// Faults: C27
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { ffmpeg, ffprobe, hashFrames, makeBadSources, makePortrait, makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const RENDITION_KEYS = ['h264_100', 'h264_250', 'h264_360', 'h264_500', 'h264_800', 'h264_1200']
const ALIASES = {
  m4v_256: 'h264_250',
  m4v_1024: 'h264_1200',
  mobile_360: 'h264_360',
  vp6_100: 'h264_100',
  vp6_250: 'h264_250',
  vp6_500: 'h264_500',
  vp6_800: 'h264_800',
  vp6_1200: 'h264_1200',
}

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  platform = await startTestPlatform({ VITASCOPE_SOURCE_MAX_BYTES: String(20 * 1024 * 1024) })
  tenant = await createTenant(platform.system)
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

const uploadSource = (name: string, fields = {}) =>
  upload(platform.withKey(tenant.key), tenant.organisationId, `${sources.url}/${name}`, fields)
const uploadAndWait = async (name: string) => waitUntilSettled(platform.withKey(tenant.key), (await uploadSource(name)).id)
const fetchFile = async (url: string, name: string) => {
  const response = await fetch(url)
  expect(response.status).toBe(200)
  const file = join(folder, name)
  await writeFile(file, Buffer.from(await response.arrayBuffer()))
  return file
}

describe('a 12 s source of 720p with sound', () => {
  let video: VideoRecord
  beforeAll(async () => {
    await makeSource(folder, 'good.mp4')
    const accepted = await uploadSource('good.mp4', { name: 'Launch', tags: ['keynote'] })
    expect(accepted).toMatchObject({ action: 'new video', status: { status: 'encoding', progress: 5, code: 2 } })
    video = await waitUntilSettled(platform.withKey(tenant.key), accepted.id, 120_000)
  }, 150_000)

  test('has every rendition under every key, the images and the playlist in its record', () => {
    expect(video).toMatchObject({ video_title: 'Launch', tags: ['keynote'], status: { status: 'ok', progress: 100, code: 2000 } })
    expect(Math.abs(Number(video.duration) - 12)).toBeLessThan(0.2)
    expect(Object.keys(video.uri.http).sort()).toEqual([...RENDITION_KEYS, ...Object.keys(ALIASES)].sort())
    for (const [alias, key] of Object.entries(ALIASES)) expect(video.uri.http[alias]).toBe(video.uri.http[key])
    expect(Object.keys(video.uri.all_thumbnails)).toEqual(['25', '50', '75'])
  })

  test.each(RENDITION_KEYS)('%s is H.264 and AAC with the expected bit rate, size and duration', async (key) => {
    const file = await fetchFile(video.uri.http[key] ?? '', `${key}.mp4`)
    const { streams, format } = await ffprobe(['-show_streams', '-show_format', file])
    const [picture, sound] = streams
    expect([picture?.codec_name, sound?.codec_name, picture?.pix_fmt, sound?.channels]).toEqual(['h264', 'aac', 'yuv420p', 2])
    expect(picture?.width).toBeLessThanOrEqual(1280)
    expect(picture?.height).toBeLessThanOrEqual(720)
    expect(((picture?.width ?? 1) % 2) + ((picture?.height ?? 1) % 2)).toBe(0)
    expect(Number(format.bit_rate)).toBeLessThanOrEqual(Number(key.slice(5)) * 1_100)
    expect(Math.abs(Number(format.duration) - 12)).toBeLessThan(0.2)
    const head = (await readFile(file)).toString('latin1')
    expect(head.indexOf('moov')).toBeLessThan(head.indexOf('mdat'))
  })

  test('has key frames every 2 s at the same times in all renditions', async () => {
    const times = await Promise.all(
      RENDITION_KEYS.map(async (key) => {
        const { packets } = await ffprobe(['-select_streams', 'v:0', '-show_entries', 'packet=pts_time,flags', join(folder, `${key}.mp4`)])
        return packets?.filter((p) => p.flags.startsWith('K')).map((p) => Number(p.pts_time).toFixed(2))
      }),
    )
    expect(times[0]).toEqual(['0.00', '2.00', '4.00', '6.00', '8.00', '10.00'])
    for (const other of times) expect(other).toEqual(times[0])
  })

  test('h264_360 is of the Baseline profile', async () => {
    const { streams } = await ffprobe(['-show_streams', join(folder, 'h264_360.mp4')])
    expect(streams[0]?.profile).toMatch(/Baseline/)
  })

  test('decodes as HLS without errors in every variant and in its audio', async () => {
    const master = await (await fetch(video.uri.hls)).text()
    const variants = master.split('\n').filter((line) => /^[^#].*\.m3u8$/.test(line))
    const sound = [...master.matchAll(/^#EXT-X-MEDIA:TYPE=AUDIO.*URI="([^"]+)"/gm)].map(([, uri = '']) => uri)
    expect(variants.length).toBeGreaterThanOrEqual(RENDITION_KEYS.length)
    expect(sound).toEqual(['audio_32', 'audio_64', 'audio_128'].map((name) => `${name}/index.m3u8`))
    // Each playlist is decoded separately, because ffmpeg 8 reports errors of variants that it
    // stops reading.
    for (const playlist of [...variants, ...sound]) {
      expect(await ffmpeg(['-xerror', '-i', new URL(playlist, video.uri.hls).href, '-f', 'null', '-'])).toBe('')
    }
  }, 60_000)

  test('has images', async () => {
    for (const [name, url] of Object.entries({
      poster: video.uri.poster_frame,
      thumbnail: video.uri.thumbnail,
      ...video.uri.all_thumbnails,
    })) {
      const { streams } = await ffprobe(['-show_streams', await fetchFile(url, `${name}.jpg`)])
      expect(streams[0]?.codec_name).toBe('mjpeg')
    }
  })

  test('has a storyboard, an audio file and a preview', async () => {
    const { storyboard, audio, preview } = video.uri
    const cues = await readFile(await fetchFile(storyboard, 'storyboard.vtt'), 'utf8')
    expect(cues.split('\n\n').slice(1)).toHaveLength(6)
    const sprite = /^storyboard-1\.jpg(?=#xywh=0,0,160,90)/m.exec(cues)?.[0] ?? ''
    const { streams } = await ffprobe(['-show_streams', await fetchFile(new URL(sprite, storyboard).href, 'sprite.jpg')])
    expect([streams[0]?.width, streams[0]?.height]).toEqual([800, 180])
    const sound = await ffprobe(['-show_streams', '-show_format', await fetchFile(audio, 'sound.m4a')])
    expect(sound.streams.map((stream) => stream.codec_name)).toEqual(['aac'])
    expect(Math.abs(Number(sound.format.duration) - 12)).toBeLessThan(0.2)

    const api = platform.withKey(tenant.key)
    const fetchPreviewUrl = async () => (await api.get<VideoRecord>(`/video/${video.video_id}`)).body.uri.preview
    expect(preview).toBe('')
    await api.put(`/media/${video.media_id}`, { gif_status: 1 })
    expect((await readFile(await fetchFile(await fetchPreviewUrl(), 'preview.gif'))).toString('latin1', 0, 6)).toBe('GIF89a')
    await api.put(`/media/${video.media_id}`, { gif_status: 0 })
    expect(await fetchPreviewUrl()).toBe('')
  })

  test('keeps playing while a replacement encodes, and then plays the new one', async () => {
    await makeSource(folder, 'other.mp4')
    const api = platform.withKey(tenant.key)
    const replaced = await api.post<{ job_id: string; action: string }>('/video/upload', {
      url: `${sources.url}/other.mp4`,
      organisation_id: tenant.organisationId,
      media_id: video.media_id,
    })
    expect(replaced.body).toMatchObject({ action: 'replace', status: { status: 'encoding' } })
    const during = (await api.get<VideoRecord>(`/video/${video.video_id}`)).body
    expect((await fetch(during.uri.http['h264_100'] ?? '', { method: 'HEAD' })).status).toBe(200)
    const after = await waitUntilSettled(api, video.video_id)
    expect(Number(after.duration)).toBeCloseTo(4, 0)
    expect(after.uri.hls).not.toBe(video.uri.hls)
    expect((await api.get<{ state: string }>(`/job/${replaced.body.job_id}`)).body.state).toBe('ok')
  }, 90_000)

  test('keeps playing when a replacement fails', async () => {
    const api = platform.withKey(tenant.key)
    const before = (await api.get<VideoRecord>(`/video/${video.video_id}`)).body
    const replaced = await api.put<{ status: { action: string } }>(`/media/${video.media_id}`, { uri: `${sources.url}/none.mp4` })
    expect(replaced.body.status).toMatchObject({ action: 'replace_video', success: true })
    const after = await waitUntilSettled(api, video.video_id)
    expect([after.status, after.uri.hls]).toEqual([{ status: 'ok', progress: 100, code: 2000 }, before.uri.hls])
  }, 90_000)
})

test('progress of a 60 s source grows through at least ten values', async () => {
  await makeSource(folder, 'minute.mp4')
  const values = new Set<number>()
  let last = 0
  const video = await waitUntilSettled(platform.withKey(tenant.key), (await uploadSource('minute.mp4')).id, 120_000, ({ status }) => {
    expect(status.progress).toBeGreaterThanOrEqual(last)
    last = status.progress
    values.add(status.progress)
  })
  expect(video.status.status).toBe('ok')
  expect(values.size).toBeGreaterThanOrEqual(10)
}, 150_000)

describe('a source', () => {
  test('as large as its largest rendition, with a low bit rate, becomes playable', async () => {
    await makeSource(folder, 'copied.mp4')
    const video = await uploadAndWait('copied.mp4')
    expect(video.status).toEqual({ status: 'ok', progress: 100, code: 2000 })
    const mp4 = await fetchFile(video.uri.http['h264_1200'] ?? '', 'downloaded.mp4')
    expect((await hashFrames(mp4)).match(/^0,/gm)).toHaveLength(360)
  }, 60_000)
  test('that is audio-only becomes renditions without video', async () => {
    await makeSource(folder, 'audio-only.mp3')
    const video = await uploadAndWait('audio-only.mp3')
    expect(video.status).toEqual({ status: 'ok', progress: 100, code: 2000 })
    const { streams } = await ffprobe(['-show_streams', await fetchFile(video.uri.http['h264_500'] ?? '', 'sound.mp4')])
    expect(streams.map((s) => s.codec_name)).toEqual(['aac'])
  }, 60_000)
  test('that is video-only becomes renditions without audio', async () => {
    await makeSource(folder, 'video-only.mp4')
    const video = await uploadAndWait('video-only.mp4')
    expect(video.status.code).toBe(2000)
    const { streams } = await ffprobe(['-show_streams', await fetchFile(video.uri.http['h264_500'] ?? '', 'mute.mp4')])
    expect(streams.map((s) => s.codec_name)).toEqual(['h264'])
  }, 60_000)
  test('with rotation metadata is encoded upright', async () => {
    const video = await uploadAndWait(await makePortrait(folder))
    const { streams } = await ffprobe(['-show_streams', await fetchFile(video.uri.http['h264_1200'] ?? '', 'upright.mp4')])
    expect([streams[0]?.width, streams[0]?.height]).toEqual([180, 320])
  }, 60_000)
  test.each(['odd-size.mkv', 'variable-rate.mkv'] as const)(
    'such as %s is encoded with even sizes and a constant frame rate',
    async (kind) => {
      await makeSource(folder, kind)
      const video = await uploadAndWait(kind)
      expect(video.status.code).toBe(2000)
      const { streams, packets } = await ffprobe([
        '-show_streams',
        '-show_packets',
        '-select_streams',
        'v:0',
        await fetchFile(video.uri.http['h264_800'] ?? '', `${kind}.mp4`),
      ])
      expect([(streams[0]?.width ?? 1) % 2, (streams[0]?.height ?? 1) % 2]).toEqual([0, 0])
      const times = (packets ?? []).map((p) => Number(p.pts_time)).sort((a, b) => a - b)
      const steps = times.slice(1).map((time, i) => (time - (times[i] ?? 0)).toFixed(2))
      expect(new Set(steps).size).toBeLessThanOrEqual(2)
    },
    60_000,
  )
})

describe('rejected sources', () => {
  beforeAll(async () => {
    await makeBadSources(folder)
    sources.setHandler('/endless.mp4', (_, response) => {
      response.writeHead(200)
      const writeMore = () => response.writable && response.write(Buffer.alloc(64 * 1024), writeMore)
      writeMore()
    })
    sources.setHandler('/inside.mp4', (_, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
    )
    sources.setHandler('/loop.mp4', (_, response) => response.writeHead(302, { location: '/loop.mp4' }).end())
    sources.setHandler('/huge.mp4', (_, response) => response.writeHead(200, { 'content-length': String(10 * 1024 ** 4) }).write('x'))
  })
  test.each([
    ['none.mp4', 4001],
    ['loop.mp4', 4001],
    ['text.mp4', 4002],
    ['playlist.mp4', 4002],
    ['truncated.mp4', 4002],
    ['endless.mp4', 4003],
    ['huge.mp4', 4003],
    ['inside.mp4', 4004],
  ])(
    '%s fails its video with code %i',
    async (name, code) => {
      const accepted = await uploadSource(name)
      const api = platform.withKey(tenant.key)
      const video = await waitUntilSettled(api, accepted.id, 60_000)
      expect(video.status).toMatchObject({ status: 'failed', code })
      const job = await api.get<{ state: string; error: unknown }>(`/job/${accepted.job_id}`)
      expect(job.body).toMatchObject({ state: 'failed', error: { code } })
    },
    70_000,
  )
})

test('a cancelled job fails the video with 4005, and its work ends', async () => {
  const api = platform.withKey(tenant.key)
  const accepted = await uploadSource('minute.mp4')
  const cancelled = await api.delete<{ state: string }>(`/job/${accepted.job_id}`)
  expect([cancelled.status, cancelled.body.state]).toEqual([202, 'cancelled'])
  expect((await waitUntilSettled(api, accepted.id)).status).toMatchObject({ status: 'failed', code: 4005 })
}, 60_000)

test('an upload that is repeated with its idempotency key is one upload', async () => {
  const api = platform.withKey(tenant.key)
  const payload = { url: `${sources.url}/small.mp4`, organisation_id: tenant.organisationId }
  const key = { 'idempotency-key': 'once-and-once-only' }
  const [first, second] = [await api.post('/video/upload', payload, key), await api.post('/video/upload', payload, key)]
  expect(second.body).toEqual(first.body)
  expect((await api.post('/video/upload', { ...payload, name: 'Another' }, key)).status).toBe(422)
})
