import { afterEach, expect, test } from '@jest/globals'
import type { AddEventRequest } from '@vitascope/proto/catalogue/v1/event'
import { testLog, waitFor } from '@vitascope/testing'
import type { DeliveryPolicy } from '../src/delivery-policy.ts'
import { createThrottleReports, type ThrottleReports } from '../src/throttle-reports.ts'

let reports: ThrottleReports | undefined
afterEach(() => reports?.close())

function start(addEvent: (event: AddEventRequest) => Promise<object>) {
  const policies = { get: async ({ id }: { id: string }) => (id === '1' ? ({ organisationId: '7' } as DeliveryPolicy) : undefined) }
  reports = createThrottleReports({ policies, events: { addEvent }, log: testLog, reportEveryMs: 50 })
  return reports
}

test('rejected requests for a video are one event with their number', async () => {
  const events: AddEventRequest[] = []
  const { note } = start(async (event) => {
    events.push(event)
    return {}
  })
  for (const url of [
    '/delivery/1/v1/a.mp4',
    '/delivery/1/v1~x.y.z/a.mp4?x=1',
    '/delivery/2/v1/a.mp4',
    '/delivery/presentation/1/v1/a',
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
      dataJson: '{"organisation_id":"7","video_id":"1","rejected_requests":2}',
    },
  ])
  note('/delivery/1/v1/a.mp4')
  await waitFor(() => events.length > 1, { describe: 'the next report' })
  // The catalogue stores an event id once.
  expect(events[1]?.eventId.split('-').slice(0, 3)).toEqual(events[0]?.eventId.split('-').slice(0, 3))
})

test('a catalogue that is unavailable does not stop later reports', async () => {
  let calls = 0
  const { note } = start(async () => {
    calls++
    throw new Error('the catalogue of this test is down')
  })
  note('/delivery/1/v1/a.mp4')
  await waitFor(() => calls === 1, { describe: 'the failed call' })
  note('/delivery/1/v1/a.mp4')
  await waitFor(() => calls === 2, { describe: 'the next call' })
})
