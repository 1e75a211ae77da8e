import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Fixture, NounRows } from '../support/table-row.ts'

interface Session extends Record<string, unknown> {
  session_id: string
  state: string
  user_agent: string
}

const listSessions = async ({ clients }: Fixture, videoId: string) => {
  const { status, body } = await clients.uploader.get<Session[]>(`/video/${videoId}/sessions`)
  expect(status).toBe(200)
  return body
}
const stateOf = async (fixture: Fixture, videoId: string, browser: string) =>
  (await listSessions(fixture, videoId)).find(({ user_agent }) => user_agent === browser)?.state

/** Plays the video with a limit of sessions, in the browsers, which load a file each time they are called. */
async function withLimit(
  fixture: Fixture,
  maxSessions: number,
  play: (videoId: string, load: (browser: string) => Promise<{ status: number; code: string }>) => Promise<void>,
) {
  const { clients, owner } = fixture
  const { video_id } = await fixture.playing()
  const { body: created } = await clients.owner.post<{ message: { created: string } }>(`/setting/${owner.organisationId}`, {
    max_sessions: maxSessions,
  })
  const setting_id = created.message.created
  expect((await clients.owner.patch(`/video/${video_id}`, { setting_id })).status).toBe(200)
  try {
    const load = async (browser: string) => {
      const { uri } = await fixture.playing()
      const response = await fetch(uri.hls, { headers: { 'user-agent': browser } })
      const text = await response.text()
      return { status: response.status, code: response.ok ? '' : ((JSON.parse(text) as { code: string }).code ?? '') }
    }
    // Until delivery has the limit, sessions are not counted.
    await waitFor(
      async () =>
        (await load(`first of ${maxSessions}`)).status === 200 &&
        (await stateOf(fixture, video_id, `first of ${maxSessions}`)) === 'active',
      {
        describe: 'the limit to apply',
      },
    )
    await play(video_id, load)
  } finally {
    await clients.owner.patch(`/video/${video_id}`, { setting_id: '' })
  }
}

export const playbackSessionRows: NounRows = {
  noun: 'playback-sessions',
  rows: [
    {
      endpoint: 'GET /video/{video_id}/sessions',
      async works(fixture) {
        await withLimit(fixture, 1, async (videoId, load) => {
          expect(await stateOf(fixture, videoId, 'first of 1')).toBe('active')
          await waitFor(
            async () => {
              expect((await load('first of 1')).status).toBe(200)
              return (await load('second')).code === 'too_many_sessions'
            },
            { timeout: 15_000, describe: 'the second session to be rejected' },
          )
          expect(await stateOf(fixture, videoId, 'second')).toBe('too_many')
          const [session] = await listSessions(fixture, videoId)
          expect(session).toMatchObject({
            address: '127.0.0.1',
            token_id: '',
            started: expect.any(String),
            last_request: expect.any(String),
          })
        })
      },
      async rejectedCalls(fixture) {
        const { video_id } = await fixture.playing()
        const call = { method: 'GET', path: `/video/${video_id}/sessions` }
        return [
          { ...call, caller: 'otherTenant', status: 404, code: 'video_not_found' },
          { ...call, path: '/video/999999/sessions', status: 404, code: 'video_not_found' },
          { ...call, caller: 'guest', status: 401 },
        ]
      },
    },
    {
      endpoint: 'DELETE /video/{video_id}/sessions/{session_id}',
      async works(fixture) {
        await withLimit(fixture, 5, async (videoId, load) => {
          await load('third')
          await waitFor(async () => (await stateOf(fixture, videoId, 'third')) === 'active', { describe: 'the session to be listed' })
          const { session_id = '' } = (await listSessions(fixture, videoId)).find(({ user_agent }) => user_agent === 'third') ?? {}
          const { status, body } = await fixture.clients.uploader.delete(`/video/${videoId}/sessions/${session_id}`)
          expect([status, body]).toEqual([200, { deleted: true }])
          await waitFor(async () => (await load('third')).code === 'session_ended', { timeout: 5_000, describe: 'the session to end' })
          expect((await load('fourth')).status).toBe(200)
          expect(await stateOf(fixture, videoId, 'third')).toBe('ended')
        })
      },
      async rejectedCalls(fixture) {
        const { video_id } = await fixture.playing()
        const call = { method: 'DELETE', path: `/video/${video_id}/sessions/none` }
        return [
          { ...call, status: 404, code: 'session_not_found' },
          { ...call, path: `/video/${video_id}/sessions/${'x'.repeat(65)}`, status: 400, fields: ['session_id'] },
          { ...call, caller: 'otherTenant', status: 404, code: 'video_not_found' },
          { ...call, path: '/video/999999/sessions/none', status: 404, code: 'video_not_found' },
          { ...call, caller: 'guest', status: 401 },
        ]
      },
    },
  ],
  // A session that does not exist: sessions only exist while files are loaded.
  samples: { payloads: {}, make: async () => ({ session_id: 'vb3mK0ZcX1q2H8n4TzQ5aw' }) },
}
