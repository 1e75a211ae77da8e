import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Fixture, NounRows } from '../support/table-row.ts'

interface Download extends Record<string, unknown> {
  url: string
  filename: string
  bytes: number | null
  expires: string
}

const SRT = '1\n00:00:00,500 --> 00:00:01,500\nGood evening\n'

const create = async (fixture: Fixture, payload: Record<string, unknown>, path = 'download') => {
  const { video_id } = await fixture.playing()
  const { status, body } = await fixture.clients.uploader.post<Download>(`/video/${video_id}/${path}`, payload)
  expect([status, body]).toEqual([201, expect.anything()])
  return body
}
const save = async (url: string) => {
  const response = await fetch(url)
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, disposition: response.headers.get('content-disposition'), bytes }
}
const countDownloads = async ({ clients, owner, playing }: Fixture) => {
  const { video_id } = await playing()
  const path = `/analytics/downloads/${owner.organisationId}/video/${video_id}`
  const { status, body } = await clients.uploader.get<Record<'original' | 'mp4' | 'audio' | 'caption', number> & { days: object[] }>(path)
  expect(status).toBe(200)
  return body
}
const listRejectedReportCalls = (path: string, { owner, otherTenant }: Fixture) => [
  { method: 'GET', path: path.replace('ORGANISATION', otherTenant.organisationId), status: 403, code: 'foreign_organisation' },
  { method: 'GET', path: `${path.replace('ORGANISATION', owner.organisationId)}?date_start=x`, status: 400, fields: ['date_start'] },
  { caller: 'system' as const, method: 'GET', path: path.replace('ORGANISATION', '999999'), status: 404 },
  { caller: 'guest' as const, method: 'GET', path: path.replace('ORGANISATION', owner.organisationId), status: 401 },
]
const listRejectedDownloadCalls = (call: { method: string; path: string }, payload: Record<string, unknown>) => [
  { ...call, payload: { ...payload, expires_in: 0 }, status: 400, fields: ['expires_in'] },
  { ...call, payload: { ...payload, expires_in: 86_401, ip: '300.1.1.1' }, status: 400, fields: ['expires_in', 'ip'] },
  { ...call, payload: { ...payload, extra: 1 }, status: 400, fields: ['extra'] },
  { ...call, payload, caller: 'otherTenant' as const, status: 404, code: 'video_not_found' },
  { ...call, payload, caller: 'guest' as const, status: 401 },
  { ...call, path: call.path.replace(/\d+/, '999999'), payload, status: 404, code: 'video_not_found' },
]

export const downloadRows: NounRows = {
  noun: 'download',
  rows: [
    {
      endpoint: 'POST /video/{video_id}/download',
      async works(fixture) {
        const video = await fixture.playing()
        const [key = '', address = ''] = Object.entries(video.uri.http).find(([name]) => name.startsWith('h264_')) ?? []
        // Delivery may still apply the protection of an earlier test.
        await waitFor(async () => (await fetch(address, { method: 'HEAD' })).status === 200, { describe: 'the file to be public' })
        const file = await create(fixture, { file: key, expires_in: 60, ip: '127.0.0.1' })
        const saved = await save(file.url)
        const played = Buffer.from(await (await fetch(address)).arrayBuffer())
        expect([saved.status, saved.bytes.equals(played), file.bytes]).toEqual([200, true, played.length])
        expect(file.filename).toBe(`${video.video_title}.mp4`)
        expect(saved.disposition).toBe(`attachment; filename=${file.filename}`)
        const path = `/video/${video.video_id}`
        await fixture.clients.uploader.patch(path, { video_title: 'clip.mp4' })
        expect((await create(fixture, { file: key })).filename).toBe('clip.mp4')
        await fixture.clients.uploader.patch(path, { video_title: video.video_title })
        const audio = await create(fixture, { file: 'audio' })
        expect((await save(audio.url)).bytes.equals(Buffer.from(await (await fetch(video.uri.audio)).arrayBuffer()))).toBe(true)
        // The token is valid for this file only, and not for the address of another viewer.
        const token = /~([^/]+)\//.exec(file.url)?.[1]
        const other = await fetch(`${video.uri.hls}?token=${token}`)
        expect([other.status, await other.json()]).toMatchObject([403, { code: 'token_wrong_kind' }])
        const foreign = await create(fixture, { file: key, ip: '203.0.113.9' })
        expect((await save(foreign.url)).status).toBe(401)
        const captions = { media_id: video.media_id, title: 'English', language: 'en', content: SRT, format: 'srt' }
        const { status, body } = await fixture.clients.uploader.post<{ caption_id: string }[]>('/caption', captions)
        expect(status).toBe(200)
        const archive = await create(fixture, { file: 'captions' })
        await waitFor(async () => (await save(archive.url)).bytes.includes('en.vtt'), { describe: 'the captions to be in the archive' })
        expect(archive.filename).toBe(`${video.video_title}.captions.zip`)
        await fixture.clients.uploader.delete(`/caption/${body[0]?.caption_id}`)
        await waitFor(async () => (await countDownloads(fixture)).mp4 > 0, { describe: 'the download to be counted' })
        const part = await fetch(file.url, { headers: { range: 'bytes=2-5' } })
        expect([part.status, Buffer.from(await part.arrayBuffer()).equals(played.subarray(2, 6))]).toEqual([206, true])
      },
      async rejectedCalls(fixture) {
        const { video_id } = await fixture.playing()
        const { video_id: failed } = await fixture.video()
        const call = { method: 'POST', path: `/video/${video_id}/download` }
        return [
          { ...call, payload: {}, status: 400, fields: ['file'] },
          { ...call, payload: { file: 'f'.repeat(101) }, status: 400, fields: ['file'] },
          { ...call, payload: { file: 'caption' }, status: 400, fields: ['caption_id'] },
          { ...call, payload: { file: 'audio', caption_id: '7' }, status: 400, fields: ['caption_id'] },
          { ...call, payload: { file: 'caption', caption_id: '999999' }, status: 404, code: 'file_not_found' },
          { ...call, payload: { file: 'captions', caption_id: '7' }, status: 400, fields: ['caption_id'] },
          { ...call, payload: { file: 'captions' }, path: `/video/${failed}/download`, status: 404, code: 'file_not_found' },
          { ...call, payload: { file: 'h264_9999' }, status: 404, code: 'file_not_found' },
          { ...call, payload: { file: 'audio' }, path: `/video/${failed}/download`, status: 404, code: 'file_not_found' },
          ...listRejectedDownloadCalls(call, { file: 'audio' }),
        ]
      },
    },
    {
      endpoint: 'POST /video/{video_id}/download/original',
      async works(fixture) {
        const original = await create(fixture, {}, 'download/original')
        const saved = await save(original.url)
        expect([saved.status, saved.bytes.length]).toEqual([200, original.bytes])
        expect(saved.disposition).toBe(`attachment; filename=${original.filename}`)
        // The uploaded file is an MP4 file.
        expect(saved.bytes.subarray(4, 8).toString('latin1')).toBe('ftyp')
      },
      async rejectedCalls(fixture) {
        const { video_id } = await fixture.playing()
        const { video_id: failed } = await fixture.video()
        const call = { method: 'POST', path: `/video/${video_id}/download/original` }
        return [
          { ...call, payload: {}, path: `/video/${failed}/download/original`, status: 404, code: 'file_not_found' },
          ...listRejectedDownloadCalls(call, {}),
        ]
      },
    },
    {
      endpoint: 'GET /analytics/downloads/{organisation_id}',
      async works(fixture) {
        const { clients, owner } = fixture
        const before = await countDownloads(fixture)
        const original = await create(fixture, {}, 'download/original')
        for (const range of [undefined, 'bytes=0-1', 'bytes=2-3']) {
          await (await fetch(original.url, { headers: range === undefined ? {} : { range } })).arrayBuffer()
        }
        await waitFor(async () => (await countDownloads(fixture)).original >= before.original + 2, {
          describe: 'two downloads to be counted',
        })
        const { body } = await clients.system.get(`/analytics/downloads/${owner.organisationId}`)
        const { original: originals, mp4, days } = await countDownloads(fixture)
        expect(body).toMatchObject({ organisation_id: owner.organisationId, original: originals, mp4, days })
        const past = await clients.owner.get(`/analytics/downloads/${owner.organisationId}?date_end=2020-01-01`)
        expect(past.body).toMatchObject({ original: 0, mp4: 0, days: [], date_end: '2020-01-01' })
      },
      rejectedCalls: async (fixture) => listRejectedReportCalls('/analytics/downloads/ORGANISATION', fixture),
    },
    {
      endpoint: 'GET /analytics/downloads/{organisation_id}/video/{video_id}',
      async works(fixture) {
        const { clients, owner } = fixture
        const { video_id } = await fixture.playing()
        const before = await countDownloads(fixture)
        await save((await create(fixture, { file: 'audio' })).url)
        // Downloads of earlier tests may be counted meanwhile.
        await waitFor(async () => (await countDownloads(fixture)).audio > before.audio, { describe: 'the download to be counted' })
        const { body } = await clients.owner.get(`/analytics/downloads/${owner.organisationId}/video/999999`)
        expect(body).toMatchObject({ video_id: '999999', original: 0, mp4: 0, audio: 0, caption: 0, days: [] })
        expect(await countDownloads(fixture)).toMatchObject({ video_id, organisation_id: owner.organisationId })
      },
      rejectedCalls: async (fixture) => listRejectedReportCalls('/analytics/downloads/ORGANISATION/video/7', fixture),
    },
  ],
  samples: {
    payloads: {
      'POST /video/{}/download': () => ({ file: 'h264_100' }),
      'POST /video/{}/download/original': () => ({}),
    },
  },
}
