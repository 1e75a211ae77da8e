import { expect } from '@jest/globals'
import {
  type Clip,
  createClip,
  createEntry,
  createVideoWithEntry,
  MISSING,
  readClipOrder,
  readEntry,
  rejectedIdCalls,
} from '../support/collaborate-steps.ts'
import type { Row } from '../support/table-row.ts'

/** Cases of the clips of an entry. */
export const clipRows: readonly Row[] = [
  {
    endpoint: 'POST /collaborate/clip/{collaborate_id}/post',
    async works(fixture) {
      const { clients } = fixture
      const { id } = await createVideoWithEntry(fixture)
      const path = `/collaborate/clip/${id}/post`
      const plain = await clients.uploader.post<{ id: string; data: Clip }>(path, { time_start: 3, time_finish: '7' })
      expect([plain.status, plain.body]).toEqual([
        200,
        {
          collaborate_id: id,
          id: expect.stringMatching(/^\d+$/),
          data: {
            id: plain.body.id,
            collaborate_id: id,
            ...{ title: '', comments: '', type: 'video', preview: '0', resolved: '0', order: 0 },
            ...{ time_start: 3, time_finish: 7, time_start_millis: 0, time_finish_millis: 0 },
            date_created: expect.any(String),
          },
        },
      ])
      for (const [comments, type] of [
        [1_999, 49],
        [2_000, 50],
      ] as const) {
        const times = { time_start: 0, time_finish: 0, time_start_millis: 479, time_finish_millis: 999 }
        const fields = { comments: '📹'.repeat(comments), type: 't'.repeat(type), ...times }
        const { body } = await clients.system.post<{ data: Clip }>(path, { ...fields, preview: true, resolved: 1 })
        expect(body.data).toMatchObject({ ...fields, preview: '1', resolved: '1' })
      }
      expect((await readEntry(fixture, id)).clips).toEqual([plain.body.data, expect.anything(), expect.anything()])
      const sendOnce = () =>
        clients.owner.send('POST', path, {
          body: new URLSearchParams({ time_start: '1', time_finish: '2', preview: '1' }),
          headers: { 'idempotency-key': 'a clip' },
        })
      const first = await sendOnce()
      expect(await sendOnce()).toMatchObject({ status: 200, body: first.body })

      const { video_id, duration } = await fixture.playing()
      const timed = await createEntry(fixture, video_id)
      await createClip(fixture, timed, { time_start: Math.floor(Number(duration)), time_finish: Math.floor(Number(duration)) })

      for (let count = 4; count < 199; count++) await createClip(fixture, id)
      const raced = await Promise.all(Array.from({ length: 5 }, () => clients.owner.post(path, { time_start: 0, time_finish: 0 })))
      expect(raced.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409])
      expect((await readClipOrder(fixture, id)).map(([, order]) => order)).toEqual(Array.from({ length: 200 }, (_, place) => place))
    },
    async rejectedCalls(fixture) {
      const { id } = await createVideoWithEntry(fixture)
      const full = (await createVideoWithEntry(fixture)).id
      for (let count = 0; count < 200; count++) await createClip(fixture, full)
      const { video_id, duration } = await fixture.playing()
      const timed = await createEntry(fixture, video_id)
      const good = { time_start: 0, time_finish: 1 }
      const rejectedCall = { method: 'POST', path: `/collaborate/clip/${id}/post` }
      const past = Math.floor(Number(duration)) + 1
      return [
        ...rejectedIdCalls('POST', (one) => `/collaborate/clip/${one}/post`, id, 'collaboration_not_found', good),
        { ...rejectedCall, payload: {}, status: 400, fields: ['time_start', 'time_finish'] },
        { ...rejectedCall, payload: { time_start: 2, time_finish: 1 }, status: 400, fields: ['time_finish'] },
        { ...rejectedCall, payload: { time_start: 1, time_start_millis: 1, time_finish: 1 }, status: 400, fields: ['time_finish'] },
        {
          ...rejectedCall,
          path: `/collaborate/clip/${timed}/post`,
          payload: { time_start: 0, time_finish: past },
          status: 400,
          fields: ['time_finish'],
        },
        ...[-1, 1.5, 2_147_483_648, 'x', '', null, '1.0'].map((bad) => ({
          ...rejectedCall,
          payload: { time_start: bad, time_finish: bad },
          status: 400,
          fields: ['time_start', 'time_finish'],
        })),
        {
          ...rejectedCall,
          payload: { ...good, comments: 'x'.repeat(2_001), time_start_millis: 1_000, type: 'x'.repeat(51), preview: 2, resolved: 'x' },
          status: 400,
          fields: ['comments', 'time_start_millis', 'type', 'preview', 'resolved'],
        },
        { ...rejectedCall, payload: { ...good, type: ' ' }, status: 400, fields: ['type'] },
        { ...rejectedCall, payload: { ...good, comments: 'a\0' }, status: 400, fields: ['comments'] },
        {
          ...rejectedCall,
          payload: { ...good, id: '1', order: 5, collaborate_id: '1', date_created: '', title: 'x' },
          status: 400,
          fields: ['id', 'order', 'collaborate_id', 'date_created', 'title'],
        },
        { ...rejectedCall, path: `/collaborate/clip/${full}/post`, payload: good, status: 409, code: 'clips_full' },
      ]
    },
  },
  {
    endpoint: 'GET /collaborate/clip/{clip_id}',
    async works(fixture) {
      const { clients, uploader } = fixture
      const { id, video_id } = await createVideoWithEntry(fixture)
      const clip = await createClip(fixture, id, { comments: 'Cut here' })
      const [stored] = (await readEntry(fixture, id)).clips
      for (const api of [clients.uploader, clients.system]) {
        const { status, body } = await api.get(`/collaborate/clip/${clip}`)
        expect([status, body]).toEqual([200, { ...stored, id: clip, user_id: uploader.userId, video_id }])
      }
    },
    async rejectedCalls(fixture) {
      const { id } = await createVideoWithEntry(fixture)
      return rejectedIdCalls('GET', (one) => `/collaborate/clip/${one}`, await createClip(fixture, id), 'clip_not_found')
    },
  },
  {
    endpoint: 'PUT /collaborate/clip/{clip_id}/put',
    async works(fixture) {
      const { clients } = fixture
      const { id } = await createVideoWithEntry(fixture)
      const clip = await createClip(fixture, id)
      const [original_data] = (await readEntry(fixture, id)).clips
      const fields = { title: 'T'.repeat(255), comments: 'New', time_start: 5, time_finish: 6, type: 'audio' }
      const { status, body } = await clients.uploader.put(`/collaborate/clip/${clip}/put`, { ...fields, preview: 'true' })
      const [new_data] = (await readEntry(fixture, id)).clips
      expect([status, body]).toEqual([200, { updated: clip, original_data, new_data }])
      expect(new_data).toEqual({ ...original_data, ...fields, preview: '1' })
      const one = await clients.system.put(`/collaborate/clip/${clip}/put`, { title: 'T'.repeat(254) })
      expect(one.body).toMatchObject({ new_data: { ...new_data, title: 'T'.repeat(254) } })
      const exact = { resolved: true, time_start_millis: 480, time_finish_millis: 520 }
      expect((await clients.owner.put(`/collaborate/clip/${clip}/put`, exact)).body).toMatchObject({
        new_data: { ...exact, resolved: '1', time_start: 5, time_finish: 6 },
      })
      expect((await clients.owner.put(`/collaborate/clip/${clip}/put`, { title: '', time_start: 6 })).body).toMatchObject({
        new_data: { title: '', resolved: '1', time_start: 6, time_start_millis: 0, time_finish: 6, time_finish_millis: 520 },
      })
    },
    async rejectedCalls(fixture) {
      const { id } = await createVideoWithEntry(fixture)
      const clip = await createClip(fixture, id, { time_start: 3, time_finish: 4 })
      const { video_id, duration } = await fixture.playing()
      const timed = await createClip(fixture, await createEntry(fixture, video_id))
      const rejectedCall = { method: 'PUT', path: `/collaborate/clip/${clip}/put` }
      const past = Math.floor(Number(duration)) + 1
      return [
        ...rejectedIdCalls('PUT', (one) => `/collaborate/clip/${one}/put`, clip, 'clip_not_found', { title: 'x' }),
        { ...rejectedCall, payload: {}, status: 400, fields: ['payload'] },
        { ...rejectedCall, payload: { time_start: 5 }, status: 400, fields: ['time_start'] },
        { ...rejectedCall, payload: { time_finish: 2 }, status: 400, fields: ['time_finish'] },
        { ...rejectedCall, path: `/collaborate/clip/${timed}/put`, payload: { time_finish: past }, status: 400, fields: ['time_finish'] },
        {
          ...rejectedCall,
          payload: { title: 'x'.repeat(256), comments: 'x'.repeat(2_001), time_start: -1, time_finish: 'x', type: '', preview: 'x' },
          status: 400,
          fields: ['title', 'comments', 'time_start', 'time_finish', 'type', 'preview'],
        },
        { ...rejectedCall, payload: { order: 0, id: '1' }, status: 400, fields: ['order', 'id'] },
      ]
    },
  },
  {
    endpoint: 'DELETE /collaborate/clip/{clip_id}/delete',
    async works(fixture) {
      const { clients } = fixture
      const { id } = await createVideoWithEntry(fixture)
      const [first, second, third] = [await createClip(fixture, id), await createClip(fixture, id), await createClip(fixture, id)]
      const original_data = (await readEntry(fixture, id)).clips[1]
      const { status, body } = await clients.uploader.delete(`/collaborate/clip/${second}/delete`)
      expect([status, body]).toEqual([200, { deleted: second, original_data }])
      expect(await readClipOrder(fixture, id)).toEqual([
        [first, 0],
        [third, 1],
      ])
      expect((await clients.owner.delete(`/collaborate/clip/${second}/delete`)).status).toBe(404)
      expect((await clients.system.delete(`/collaborate/clip/${first}/delete`)).status).toBe(200)
      expect(await readClipOrder(fixture, id)).toEqual([[third, 0]])
    },
    async rejectedCalls(fixture) {
      const { id } = await createVideoWithEntry(fixture)
      return rejectedIdCalls('DELETE', (one) => `/collaborate/clip/${one}/delete`, await createClip(fixture, id), 'clip_not_found')
    },
  },
  {
    endpoint: 'PUT /collaborate/clip/{collaborate_id}/order',
    async works(fixture) {
      const { clients } = fixture
      const { id } = await createVideoWithEntry(fixture)
      const [one, two, three] = [await createClip(fixture, id), await createClip(fixture, id), await createClip(fixture, id)]
      const path = `/collaborate/clip/${id}/order`
      const original_data = (await readEntry(fixture, id)).clips
      const sent = [three, one, two]
      const body = JSON.stringify(sent.map(Number))
      const response = await clients.uploader.send('PUT', path, { body, headers: { 'content-type': 'application/json' } })
      const new_data = (await readEntry(fixture, id)).clips
      expect([response.status, response.body]).toEqual([200, { updated: id, original_data, new_data }])
      expect(new_data.map(({ id: clip, order }) => [clip, order])).toEqual(sent.map((clip, index) => [clip, index]))
      const forms: [string[], NonNullable<Parameters<typeof clients.system.send>[2]>][] = [
        [[one, two, three], { body: new URLSearchParams({ data: JSON.stringify([one, two, three]) }) }],
        [[two, one, three], { body: new URLSearchParams({ order: JSON.stringify([two, one, three]) }) }],
        [[two, three, one], { body: new URLSearchParams([two, three, one].map((clip): [string, string] => ['order', clip])) }],
        [[one, three, two], { body: JSON.stringify({ order: [one, three, two] }), headers: { 'content-type': 'application/json' } }],
      ]
      for (const [expectedOrder, init] of forms) {
        expect((await clients.system.send('PUT', path, init)).status).toBe(200)
        expect((await readClipOrder(fixture, id)).map(([clip]) => clip)).toEqual(expectedOrder)
      }
      const none = (await createVideoWithEntry(fixture)).id
      expect((await clients.owner.put(`/collaborate/clip/${none}/order`, [])).body).toEqual({
        updated: none,
        original_data: [],
        new_data: [],
      })
      const { id: lone } = await createVideoWithEntry(fixture)
      const only = await createClip(fixture, lone)
      expect((await clients.owner.put(`/collaborate/clip/${lone}/order`, { order: [only] })).status).toBe(200)
    },
    async rejectedCalls(fixture) {
      const { id, video_id } = await createVideoWithEntry(fixture)
      const [one, two] = [await createClip(fixture, id), await createClip(fixture, id)]
      const clipOfOtherEntry = await createClip(fixture, await createEntry(fixture, video_id))
      const rejectedCall = { method: 'PUT', path: `/collaborate/clip/${id}/order`, status: 400 }
      return [
        ...rejectedIdCalls('PUT', (entry) => `/collaborate/clip/${entry}/order`, id, 'collaboration_not_found', [one, two]),
        ...[[], [one], [one, one], [one, two, two], [one, two, clipOfOtherEntry], [one, clipOfOtherEntry], [one, MISSING]].map(
          (payload) => ({
            ...rejectedCall,
            payload,
            fields: ['order'],
          }),
        ),
        { ...rejectedCall, payload: [one, 'x'], fields: ['order[1]'] },
        { ...rejectedCall, payload: { order: 'x' }, fields: ['order'] },
        { ...rejectedCall, payload: { order: [one, two], position: 1 }, fields: ['position'] },
        { ...rejectedCall, payload: {}, fields: ['order'] },
        { ...rejectedCall, fields: ['order'] },
        { ...rejectedCall, payload: Array.from({ length: 201 }, (_, nth) => String(nth + 1)), fields: ['order'] },
        { ...rejectedCall, payload: Array.from({ length: 100_000 }, (_, nth) => nth + 1) },
        { ...rejectedCall, payload: { order: Array.from({ length: 10_000 }, (_, nth) => nth + 1) } },
      ]
    },
  },
]
