import { afterEach, expect, test } from '@jest/globals'
import { testLog, waitFor } from '@vitascope/testing'
import { webhookEventProblems } from '@vitascope/testing/webhook-events'
import { createThrottleReports, type ThrottleEvent, type ThrottleReports } from './throttle-reports.ts'

let reports: ThrottleReports | undefined
afterEach(() => reports?.close())

function start(addEvent: (event: ThrottleEvent) => Promise<void>, eventEveryMs = 600_000) {
  const findOrganisation = async (videoId: string) => (videoId === '2' ? undefined : '7')
  reports = createThrottleReports({ findOrganisation, addEvent, log: testLog, reportEveryMs: 50, eventEveryMs })
  return reports
}

test('rejected requests for a video are one event with their number', async () => {
  const events: ThrottleEvent[] = []
  const { note } = start(async (event) => {
    events.push(event)
  })
  for (const url of [
    '/delivery/1/v1/a.mp4',
    '/delivery/1/v1~x.y.z/a.mp4?x=1',
    '/delivery/2/v1/a.mp4',
    '/delivery/presentation/1/v1/a',
    '/player/1',
    '/x',
  ])
    note(url)
  await waitFor(() => events.length > 0, { describe: 'the event' })
  expect(events).toEqual([
    {
      eventId: expect.stringMatching(/^delivery-throttled-1-\d+$/),
      type: 'delivery.throttled',
      organisationId: '7',
      objectKey: 'delivery:1',
      dataJson: '{"organisation_id":"7","video_id":"1","rejected_requests":2,"reasons":[{"reason":"address","rejected_requests":2}]}',
    },
  ])
  const [{ type, dataJson } = {} as ThrottleEvent] = events
  expect(webhookEventProblems({ type, timestamp: new Date().toISOString(), data: JSON.parse(dataJson) })).toEqual([])
})

test('requests that are rejected after the event of an interval are part of the next event', async () => {
  const events: ThrottleEvent[] = []
  const { note } = start(async (event) => {
    events.push(event)
  }, 500)
  const countReported = () =>
    events.reduce((sum, { dataJson }) => sum + (JSON.parse(dataJson) as { rejected_requests: number }).rejected_requests, 0)
  for (let reported = 1; reported <= 3; reported++) {
    note('/delivery/1/v1/a.mp4')
    await waitFor(() => countReported() === reported, { describe: `${reported} reported requests` })
  }
  // The catalogue stores an event id once.
  expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(events.length)
})

test('counts that cannot be reported are part of the next report', async () => {
  const events: ThrottleEvent[] = []
  let calls = 0
  const { note } = start(async (event) => {
    calls++
    if (calls === 1) throw new Error('the catalogue of this test is down')
    events.push(event)
  })
  for (const id of ['1', '1', '3']) note(`/delivery/${id}/v1/a.mp4`)
  await waitFor(() => calls >= 1, { describe: 'the failed call' })
  note('/delivery/1/v1/a.mp4')
  await waitFor(() => events.length === 2, { describe: 'the event of each video' })
  expect(events.map(({ dataJson }) => JSON.parse(dataJson) as object)).toEqual([
    expect.objectContaining({ video_id: '1', rejected_requests: 3 }),
    expect.objectContaining({ video_id: '3', rejected_requests: 1 }),
  ])
})

test('the event has the reasons, and at most 20 sites by name', async () => {
  const events: ThrottleEvent[] = []
  const { add } = start(async (event) => {
    events.push(event)
  })
  for (const reason of ['token', 'video', 'crawlers', 'video'] as const) add('1', reason)
  for (let nth = 0; nth < 30; nth++) add('1', { site: `site${nth}.example` })
  await waitFor(() => events.length > 0, { describe: 'the event' })
  const [{ type, dataJson } = {} as ThrottleEvent] = events
  const data = JSON.parse(dataJson) as {
    rejected_requests: number
    reasons: { reason: string; site?: string; rejected_requests: number }[]
  }
  expect(webhookEventProblems({ type, timestamp: new Date().toISOString(), data })).toEqual([])
  expect(data.rejected_requests).toBe(34)
  const sites = data.reasons.filter(({ reason }) => reason === 'site')
  expect([sites.length, sites[0]]).toEqual([18, { reason: 'site', rejected_requests: 13 }])
  expect(data.reasons.find(({ reason }) => reason === 'video')?.rejected_requests).toBe(2)
})
