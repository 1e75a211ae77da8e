import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Api } from '../support/api.ts'
import { makePicture, probePicture } from '../support/pictures.ts'
import type { NounRows, RejectedCall } from '../support/table-row.ts'
import { upload, type VideoRecord, waitUntilSettled } from '../support/video-steps.ts'

interface PosterAnswer extends Record<string, unknown> {
  video_id: string
  poster: { status: string; code: number; reason: string }
  poster_frame: string
  thumbnail: string
}
type OwnRecord = VideoRecord & { poster: PosterAnswer['poster'] | null }

const OK = { status: 'ok', code: 0, reason: '' }
const load = async (url: string) => probePicture(Buffer.from(await (await fetch(url)).arrayBuffer()))

/** Waits until the picture is converted, which a busy machine may do after the response. Returns the record. */
const waitForPoster = async (api: Api, videoId: string) => {
  const read = async () => (await api.get<OwnRecord>(`/video/${videoId}`)).body
  await waitFor(async () => (await read()).poster?.status === 'ok', { timeout: 60_000, describe: 'the picture to be converted' })
  return read()
}

/** Calls of both methods that are rejected for the same reasons. */
const commonRejections = (method: string, video_id: string, payload?: unknown): RejectedCall[] => [
  { caller: 'otherTenant', method, path: `/video/${video_id}/poster`, payload, status: 404, code: 'video_not_found' },
  { caller: 'guest', method, path: `/video/${video_id}/poster`, payload, status: 401 },
  { method, path: '/video/999999/poster', payload, status: 404, code: 'video_not_found' },
  { method, path: '/video/x/poster', payload, status: 404 },
]

export const posterRows: NounRows = {
  noun: 'poster',
  rows: [
    {
      endpoint: 'PUT /video/{video_id}/poster',
      async works({ clients, playing, sources }) {
        const { video_id, uri } = await playing()
        const path = `/video/${video_id}/poster`
        const picture = await makePicture('png', 'red')
        const sent = await clients.uploader.send<PosterAnswer>('PUT', path, {
          body: new Uint8Array(picture),
          headers: { 'content-type': 'image/png' },
        })
        const urls = { poster_frame: expect.any(String), thumbnail: expect.any(String) }
        expect([sent.status, sent.body]).toEqual([202, { video_id, poster: expect.anything(), ...urls }])
        const record = await waitForPoster(clients.owner, video_id)
        expect([await load(record.uri.poster_frame), await load(record.uri.thumbnail)]).toEqual([
          { size: 'mjpeg,1280,720', rgb: [3, 0, 0] },
          { size: 'mjpeg,426,240', rgb: [3, 0, 0] },
        ])
        expect([record.poster, record.uri.all_thumbnails]).toEqual([OK, uri.all_thumbnails])
        const guest = (await clients.guest.get<OwnRecord>(`/video/${video_id}`)).body
        expect([guest.poster, guest.uri.poster_frame]).toEqual([undefined, record.uri.poster_frame])

        const blue = await makePicture('webp', 'blue', '320x180')
        sources.setHandler('/poster', (_, response) => response.end(blue))
        expect((await clients.system.put(path, { url: `${sources.url}/poster` })).status).toBe(202)
        const fetched = await waitForPoster(clients.owner, video_id)
        expect(await load(fetched.uri.poster_frame)).toEqual({ size: 'mjpeg,320,180', rgb: [0, 0, 3] })
        expect(fetched.uri.poster_frame).not.toBe(record.uri.poster_frame)

        expect((await clients.owner.put(path, { time: 1 })).status).toBe(202)
        const frame = await waitForPoster(clients.owner, video_id)
        expect((await load(frame.uri.poster_frame)).size).toBe((await load(uri.poster_frame)).size)
        expect((await clients.owner.delete(path)).status).toBe(200)
      },
      async rejectedCalls(fixture) {
        const { clients, otherTenant, sources } = fixture
        const { video_id } = await fixture.video()
        const { video_id: playing } = await fixture.playing()
        const path = `/video/${video_id}/poster`
        const foreign = await upload(clients.otherTenant, otherTenant.organisationId, `${sources.url}/none.mp4`)
        await waitUntilSettled(clients.otherTenant, foreign.id)
        return [
          ...commonRejections('PUT', video_id, { time: 0 }),
          { method: 'PUT', path: `/video/${foreign.id}/poster`, payload: { time: 0 }, status: 404, code: 'video_not_found' },
          { method: 'PUT', path, payload: {}, status: 400, fields: ['url'] },
          { method: 'PUT', path, payload: { url: 'https://example.org/a.png', time: 1 }, status: 400, fields: ['url'] },
          { method: 'PUT', path, payload: { url: 'http://10.0.0.1/a.png' }, status: 400, fields: ['url'] },
          { method: 'PUT', path, payload: { url: 'file:///etc/passwd' }, status: 400, fields: ['url'] },
          { method: 'PUT', path, payload: { time: -1 }, status: 400, fields: ['time'] },
          { method: 'PUT', path, payload: { time: 604_801 }, status: 400, fields: ['time'] },
          { method: 'PUT', path, payload: { time: 0, extra: 1 }, status: 400, fields: ['extra'] },
          { method: 'PUT', path, payload: { time: 0 }, status: 409, code: 'video_not_ready' },
          { method: 'PUT', path: `/video/${playing}/poster`, payload: { time: 604_800 }, status: 400, fields: ['time'] },
        ]
      },
    },
    {
      endpoint: 'DELETE /video/{video_id}/poster',
      async works({ clients, playing }) {
        const { video_id, uri } = await playing()
        const path = `/video/${video_id}/poster`
        await clients.owner.put(path, { time: 2 })
        expect((await waitForPoster(clients.owner, video_id)).uri.poster_frame).not.toBe(uri.poster_frame)
        expect(await clients.uploader.delete(path)).toMatchObject({ status: 200, body: { video_id, deleted: true } })
        const after = (await clients.owner.get<OwnRecord>(`/video/${video_id}`)).body
        expect([after.poster, after.uri]).toEqual([null, uri])
        expect((await clients.owner.delete(path)).status).toBe(200)
      },
      rejectedCalls: async ({ video }) => commonRejections('DELETE', (await video()).video_id),
    },
  ],
  samples: { payloads: { 'PUT /video/{}/poster': () => ({ time: 0 }) } },
}
