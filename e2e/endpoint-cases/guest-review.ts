import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import {
  type Clip,
  createClip,
  createEntry,
  createLink,
  createVideoWithEntry,
  MISSING,
  readEntry,
  rejectedIdCalls,
} from '../support/collaborate-steps.ts'
import type { Row } from '../support/table-row.ts'

interface Review {
  video_id: string
  video_title: string
  duration: string
  player_url: string
  expires: string
  clips: Clip[]
}

const WRONG_TOKENS = ['x', 'A'.repeat(43), 'x'.repeat(500)]

/** Cases of guest links and of the reviews of guests. */
export const guestReviewRows: readonly Row[] = [
  {
    endpoint: 'PUT /collaborate/item/{collaborate_id}/link',
    async works(fixture) {
      const { clients, platform } = fixture
      const { id } = await createVideoWithEntry(fixture)
      const created = await clients.uploader.send<{ token: string; url: string; expires: string }>('PUT', `/collaborate/item/${id}/link`)
      const { token, url, expires } = created.body
      expect([created.status, created.body]).toEqual([
        200,
        { updated: id, url: `${platform.url}/console/review#${token}`, token: expect.stringMatching(/^[\w-]{43}$/), expires },
      ])
      expect(url).toContain(token)
      const days = (Date.parse(`${expires.replace(' ', 'T')}Z`) - Date.now()) / 86_400_000
      expect(days).toBeGreaterThan(13.9)
      expect(days).toBeLessThanOrEqual(14)
      expect(await readEntry(fixture, id)).toMatchObject({ guest_link_expires: expires })
      expect((await clients.guest.get(`/review/${token}`)).status).toBe(200)
      const { token: newToken } = await createLink(fixture, id, { expires_in: 60 })
      expect((await clients.guest.get(`/review/${token}`)).status).toBe(404)
      expect((await clients.guest.get(`/review/${newToken}`)).status).toBe(200)
    },
    async rejectedCalls(fixture) {
      const { id } = await createVideoWithEntry(fixture)
      const path = (one: string) => `/collaborate/item/${one}/link`
      return [
        ...rejectedIdCalls('PUT', path, id, 'collaboration_not_found'),
        ...[59, 7_776_001, 'x', 1.5, null].map((expires_in) => ({
          method: 'PUT',
          path: path(id),
          payload: { expires_in },
          status: 400,
          fields: ['expires_in'],
        })),
      ]
    },
  },
  {
    endpoint: 'DELETE /collaborate/item/{collaborate_id}/link',
    async works(fixture) {
      const { clients } = fixture
      const { id } = await createVideoWithEntry(fixture)
      const { token } = await createLink(fixture, id)
      const clip = await createClip(fixture, id)
      expect(await clients.uploader.delete(`/collaborate/item/${id}/link`)).toMatchObject({ status: 200, body: { deleted: id } })
      expect((await clients.guest.get(`/review/${token}`)).status).toBe(404)
      expect(await readEntry(fixture, id)).toMatchObject({ guest_link_expires: '', clips: [{ id: clip }] })
      expect((await clients.owner.delete(`/collaborate/item/${id}/link`)).status).toBe(200)
    },
    async rejectedCalls(fixture) {
      const { id } = await createVideoWithEntry(fixture)
      return rejectedIdCalls('DELETE', (one) => `/collaborate/item/${one}/link`, id, 'collaboration_not_found')
    },
  },
  {
    endpoint: 'GET /review/{token}',
    async works(fixture) {
      const { clients, platform } = fixture
      const { video_id, video_title, duration } = await fixture.playing()
      const { body } = await clients.owner.post<{ id: string }>(`/collaborate/${video_id}`, { email: 'guest@example.org' })
      await createClip(fixture, body.id, { comments: 'Too loud' })
      await createClip(fixture, await createEntry(fixture, video_id), { comments: 'Internal' })
      const { token, expires } = await createLink(fixture, body.id)
      const review = await clients.guest.get<Review>(`/review/${token}`)
      expect([review.status, review.body]).toEqual([
        200,
        {
          ...{ video_id, video_title, duration, email: 'guest@example.org', expires },
          player_url: expect.stringMatching(new RegExp(`^${platform.url}/player/${video_id}\\?events=0&token=`)),
          clips: [expect.objectContaining({ comments: 'Too loud', collaborate_id: body.id })],
        },
      ])
      expect(review.headers.get('cache-control')).toBe('no-store')
      // The token of the player also opens a private video.
      const playbackToken = new URL(review.body.player_url).searchParams.get('token') ?? ''
      const show = async (visibility: string) => expect((await clients.owner.patch(`/video/${video_id}`, { visibility })).status).toBe(200)
      await show('private')
      const { body: video } = await clients.owner.get<{ uri: { hls: string } }>(`/video/${video_id}`)
      const { pathname } = new URL(video.uri.hls)
      const fetchFile = async (query: string) => (await fetch(`${platform.url}${pathname}${query}`)).status
      await waitFor(async () => (await fetchFile('')) === 403, { timeout: 10_000, describe: 'the files to require a token' })
      expect(await fetchFile(`?token=${playbackToken}`)).toBe(200)
      await show('public')
    },
    async rejectedCalls() {
      return WRONG_TOKENS.map((token) => ({
        caller: 'guest' as const,
        method: 'GET',
        path: `/review/${token}`,
        status: 404,
        code: 'review_not_found',
      }))
    },
  },
  {
    endpoint: 'POST /review/{token}/clip',
    async works(fixture) {
      const { clients } = fixture
      const { id } = await createVideoWithEntry(fixture)
      const { token } = await createLink(fixture, id)
      const payload = { comments: 'Cut <b>here</b>', time_start: 3, time_start_millis: 480, time_finish: 7 }
      const created = await clients.guest.post<{ id: string; data: Clip }>(`/review/${token}/clip`, payload)
      expect([created.status, created.body]).toMatchObject([
        201,
        { data: { ...payload, title: '', type: 'video', preview: '0', resolved: '0', order: 0, collaborate_id: id } },
      ])
      expect((await readEntry(fixture, id)).clips).toEqual([created.body.data])
      expect((await clients.guest.get<Review>(`/review/${token}`)).body.clips).toEqual([created.body.data])
      const sendOnce = () =>
        clients.guest.send('POST', `/review/${token}/clip`, {
          body: new URLSearchParams({ time_start: '1', time_finish: '2' }),
          headers: { 'idempotency-key': 'a clip of a guest' },
        })
      const first = await sendOnce()
      expect(await sendOnce()).toMatchObject({ status: 201, body: first.body })
    },
    async rejectedCalls(fixture) {
      const { id } = await createVideoWithEntry(fixture)
      const { token } = await createLink(fixture, id)
      const { id: full } = await createVideoWithEntry(fixture)
      for (let count = 0; count < 200; count++) await createClip(fixture, full)
      const { token: fullToken } = await createLink(fixture, full)
      const call = { caller: 'guest' as const, method: 'POST', path: `/review/${token}/clip` }
      const good = { time_start: 0, time_finish: 1 }
      return [
        ...WRONG_TOKENS.map((wrong) => ({ ...call, path: `/review/${wrong}/clip`, payload: good, status: 404, code: 'review_not_found' })),
        { ...call, payload: {}, status: 400, fields: ['time_start', 'time_finish'] },
        { ...call, payload: { ...good, resolved: true, type: 'x', title: 'x' }, status: 400, fields: ['resolved', 'type', 'title'] },
        { ...call, payload: { ...good, comments: 'x'.repeat(2_001) }, status: 400, fields: ['comments'] },
        { ...call, payload: { time_start: 2, time_finish: 1 }, status: 400, fields: ['time_finish'] },
        { ...call, path: `/review/${fullToken}/clip`, payload: good, status: 409, code: 'clips_full' },
      ]
    },
  },
  {
    endpoint: 'DELETE /review/{token}/clip/{clip_id}',
    async works(fixture) {
      const { clients } = fixture
      const { id } = await createVideoWithEntry(fixture)
      const { token } = await createLink(fixture, id)
      const clip = await createClip(fixture, id)
      const [original_data] = (await readEntry(fixture, id)).clips
      expect(await clients.guest.delete(`/review/${token}/clip/${clip}`)).toMatchObject({
        status: 200,
        body: { deleted: clip, original_data },
      })
      expect((await readEntry(fixture, id)).clips).toEqual([])
    },
    async rejectedCalls(fixture) {
      const { id, video_id } = await createVideoWithEntry(fixture)
      const { token } = await createLink(fixture, id)
      const clipOfOtherEntry = await createClip(fixture, await createEntry(fixture, video_id))
      const clip = await createClip(fixture, id)
      const call = { caller: 'guest' as const, method: 'DELETE' }
      return [
        ...WRONG_TOKENS.map((wrong) => ({ ...call, path: `/review/${wrong}/clip/${clip}`, status: 404, code: 'review_not_found' })),
        ...[clipOfOtherEntry, MISSING, 'x'].map((wrong) => ({
          ...call,
          path: `/review/${token}/clip/${wrong}`,
          status: 404,
          code: 'clip_not_found',
        })),
      ]
    },
  },
]
