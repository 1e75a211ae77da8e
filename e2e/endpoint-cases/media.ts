import { expect } from '@jest/globals'
import type { NounRows } from '../support/table-row.ts'
import { waitUntilSettled } from '../support/video-steps.ts'

export const mediaRows: NounRows = {
  noun: 'media',
  rows: [
    {
      endpoint: 'GET /media/{id}',
      async works({ clients, video }) {
        const { video_id, media_id } = await video({ name: 'Read' })
        const { status, body } = await clients.uploader.get(`/media/${media_id}`)
        expect([status, body]).toMatchObject([200, { media_id, original_filename: 'none.mp4', token_required_platform: false }])
        expect((await clients.system.get(`/video/${video_id}`)).body).toMatchObject({ media_title: 'Read' })
      },
      async rejectedCalls({ video }) {
        const { media_id } = await video()
        return [
          { caller: 'otherTenant', method: 'GET', path: `/media/${media_id}`, status: 404 },
          { method: 'GET', path: '/media/7', status: 404 },
          { caller: 'guest', method: 'GET', path: `/media/${media_id}`, status: 401 },
        ]
      },
    },
    {
      endpoint: 'PUT /media/{id}',
      async works({ clients, video, sources }) {
        const { video_id, media_id } = await video()
        const data = { title: 'x'.repeat(255), gif_status: '1' }
        const { body } = await clients.uploader.put(`/media/${media_id}`, { title: data.title, gif_status: 1 })
        expect(body).toEqual({ media_id, status: { action: 'update_data', success: true, data } })
        expect((await clients.owner.get(`/video/${video_id}`)).body).toMatchObject({ media_title: data.title })
        const replaced = await clients.uploader.put(`/media/${media_id}`, { uri: `${sources.url}/none.mp4` })
        expect((await clients.owner.get(`/job/${replaced.headers.get('x-job-id')}`)).body).toMatchObject({ media_id, action: 'replace' })
        await waitUntilSettled(clients.owner, video_id)
        await clients.system.put(`/media/${media_id}`, { token_required_platform: true, original_filename: 'a.mp4' })
        expect((await clients.owner.get(`/video/${video_id}`)).body).toMatchObject({ security: { token_required_platform: true } })
      },
      async rejectedCalls({ video }) {
        const { media_id } = await video()
        const path = `/media/${media_id}`
        const bad = { title: 'x'.repeat(256), gif_status: 2, colour: 'red' }
        return [
          { method: 'PUT', path, payload: bad, status: 400, fields: ['title', 'gif_status', 'colour'] },
          { method: 'PUT', path, payload: { uri: 'https://example.org/a.mp4', title: 'X' }, status: 400, fields: ['uri'] },
          { method: 'PUT', path, payload: { uri: 'http://127.0.0.2:22/a.mp4' }, status: 400, fields: ['uri'] },
          { method: 'PUT', path, payload: { original_filename: 'a' }, status: 403, code: 'system_only' },
          { caller: 'otherTenant', method: 'PUT', path, payload: { title: 'X' }, status: 404 },
        ]
      },
    },
    {
      endpoint: 'DELETE /media',
      async works({ clients, video }) {
        const { video_id, media_id } = await video()
        const { status, body } = await clients.uploader.delete(`/media?media_id=${media_id}`)
        expect([status, body]).toMatchObject([200, { id: media_id, result: true }])
        expect((await clients.owner.get(`/video/${video_id}`)).status).toBe(404)
        expect((await clients.owner.delete(`/media?media_id=${media_id}`)).status).toBe(404)
      },
      async rejectedCalls({ video }) {
        const { media_id } = await video()
        return [
          { caller: 'otherTenant', method: 'DELETE', path: `/media?media_id=${media_id}`, status: 404 },
          { caller: 'system', method: 'DELETE', path: `/media?media_id=${media_id}`, status: 400, fields: ['user_id'] },
          { method: 'DELETE', path: '/media', status: 400, fields: ['media_id'] },
        ]
      },
    },
    {
      endpoint: 'POST /media/{media_id}/publish',
      async works({ clients, video }) {
        const first = await video({ name: 'Twice' })
        const { status, body } = await clients.uploader.post<{ video_id: string }>(`/media/${first.media_id}/publish`)
        expect([status, body]).toMatchObject([201, { media_id: first.media_id }])
        expect((await clients.owner.get(`/video/${body.video_id}`)).body).toMatchObject({ video_title: 'Twice', media_id: first.media_id })
      },
      async rejectedCalls({ video }) {
        const { media_id } = await video()
        return [
          { caller: 'otherTenant', method: 'POST', path: `/media/${media_id}/publish`, status: 404 },
          { caller: 'guest', method: 'POST', path: `/media/${media_id}/publish`, status: 401 },
        ]
      },
    },
  ],
  samples: {
    payloads: { 'PUT /media/{}': () => ({ title: 'changed' }), 'DELETE /media': (v) => ({ media_id: v['media_id'] }) },
  },
}
