import { afterEach, expect, test } from '@jest/globals'
import { type ReportPlaybackSessionsRequest, PlaybackSessionState as State } from '@vitascope/proto/catalogue/v1/playback_session'
import { createMetrics } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { createSessionTracker, type SessionTracker } from '../src/session-tracker.ts'

let tracker: SessionTracker | undefined
afterEach(() => tracker?.close())

const request = { videoId: '1', tokenId: 'one', maxSessions: 1, address: '192.0.2.7', userAgent: 'a' }

function start(respond: (request: ReportPlaybackSessionsRequest) => State[]) {
  const reports: ReportPlaybackSessionsRequest[] = []
  const client = {
    reportPlaybackSessions(sent: ReportPlaybackSessionsRequest) {
      reports.push(sent)
      return Promise.resolve().then(() => ({ states: respond(sent) }))
    },
  }
  tracker = createSessionTracker({ client, log: testLog, metrics: createMetrics('test') })
  return { check: tracker.check, reports }
}

test('a session is rejected from the report in which the catalogue rejects it, and admitted again later', async () => {
  let second: State = State.PLAYBACK_SESSION_STATE_TOO_MANY
  const { check } = start(({ sessions }) =>
    sessions.map(({ userAgent }) => (userAgent === 'a' ? State.PLAYBACK_SESSION_STATE_ACTIVE : second)),
  )
  expect([check(request), check({ ...request, userAgent: 'b' })]).toEqual([undefined, undefined])
  await waitFor(() => check({ ...request, userAgent: 'b' }) === 'too_many_sessions', { describe: 'the second session to be rejected' })
  expect(check(request)).toBeUndefined()
  second = State.PLAYBACK_SESSION_STATE_ENDED
  await waitFor(() => check({ ...request, userAgent: 'b' }) === 'session_ended', { describe: 'the second session to end' })
  second = State.PLAYBACK_SESSION_STATE_ACTIVE
  await waitFor(() => check({ ...request, userAgent: 'b' }) === undefined, { describe: 'the second session to continue' })
})

test('sessions are admitted while the catalogue is unavailable, and reported later with the age of their first request', async () => {
  let isDown = true
  const { check, reports } = start(({ sessions }) => {
    if (isDown) throw new Error('the catalogue of this test is down')
    return sessions.map(() => State.PLAYBACK_SESSION_STATE_TOO_MANY)
  })
  const firstRequest = performance.now()
  expect(check(request)).toBeUndefined()
  await waitFor(() => reports.length > 0, { describe: 'a failed report' })
  isDown = false
  await waitFor(() => reports.length === 2, { describe: 'the next report' })
  expect(performance.now() - firstRequest - (reports[1]?.sessions[0]?.firstRequestAgeMs ?? 0)).toBeLessThan(1_000)
  await waitFor(() => check(request) === 'too_many_sessions', { describe: 'the session to be rejected' })
})

test('only sessions with requests are reported, in calls of at most 1,000', async () => {
  const { check, reports } = start(({ sessions }) => sessions.map(() => State.PLAYBACK_SESSION_STATE_ACTIVE))
  for (let index = 0; index < 1_500; index++) check({ ...request, userAgent: `${index}` })
  await waitFor(() => reports.flatMap(({ sessions }) => sessions).length === 1_500, { describe: 'all sessions to be reported' })
  expect(reports.map(({ sessions }) => sessions.length)).toEqual([1_000, 500])
  check(request)
  await waitFor(() => reports.length === 3, { describe: 'the next report' })
  expect(reports[2]?.sessions).toMatchObject([{ videoId: '1', tokenId: 'one', maxSessions: 1, address: '192.0.2.7', userAgent: 'a' }])
})

test('the report states how long ago each session made its first request', async () => {
  const { check, reports } = start(({ sessions }) => sessions.map(() => State.PLAYBACK_SESSION_STATE_ACTIVE))
  const began = performance.now()
  check(request)
  await waitFor(() => performance.now() - began > 50, { describe: '50 ms to pass' })
  check({ ...request, userAgent: 'b' })
  check(request)
  await waitFor(() => reports.length === 1, { describe: 'the report' })
  const [first, second] = reports[0]?.sessions ?? []
  expect((first?.firstRequestAgeMs ?? 0) - (second?.firstRequestAgeMs ?? 0)).toBeGreaterThanOrEqual(49)
})
