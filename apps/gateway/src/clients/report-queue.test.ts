// Faults: R10
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { type Call, serviceCall } from '@vitascope/grpc'
import { createReportQueue } from './report-queue.ts'

/** Reports that run until the test ends them. */
function controlledReports(bounds = { concurrency: 2, maxQueuedPerOrganisation: 3, deadlineMs: 60_000 }) {
  const { run } = createReportQueue(bounds)
  const reading: string[] = []
  const finish = new Map<string, () => void>()
  const request = (name: string, call: Call = serviceCall('test', name)) =>
    run(name.slice(0, 1), call, async () => {
      reading.push(name)
      await new Promise<void>((resolve) => finish.set(name, resolve))
      return name
    })
  const end = async (name: string) => {
    finish.get(name)?.()
    for (let turns = 0; turns < 5; turns++) await turn()
    return reading
  }
  return { request, end, reading }
}

test('one report of an organisation is read at a time, two in all, in the order of the requests', async () => {
  const { request, end, reading } = controlledReports()
  const requests = ['a1', 'a2', 'b1', 'c1', 'a3'].map((name) => request(name))
  await turn()
  expect(reading).toEqual(['a1', 'b1'])
  expect(await end('b1')).toEqual(['a1', 'b1', 'c1'])
  expect(await end('a1')).toEqual(['a1', 'b1', 'c1', 'a2'])
  await end('c1')
  expect(await end('a2')).toEqual(['a1', 'b1', 'c1', 'a2', 'a3'])
  await end('a3')
  expect(await Promise.all(requests)).toEqual(['a1', 'a2', 'b1', 'c1', 'a3'])
})

test('an organisation with too many waiting reports is rejected at once, others are not', async () => {
  const { request, end } = controlledReports({ concurrency: 1, maxQueuedPerOrganisation: 1, deadlineMs: 60_000 })
  const requests = [request('a1'), request('a2')]
  await expect(request('a3')).rejects.toMatchObject({ kind: 'exhausted', reason: 'TOO_MANY_REPORTS', retryAfter: 1 })
  requests.push(request('b1'))
  for (const name of ['a1', 'b1', 'a2']) await end(name)
  expect(await Promise.all(requests)).toEqual(['a1', 'a2', 'b1'])
})

test('a client that disconnects while its report waits frees its slot', async () => {
  const { request, end } = controlledReports({ concurrency: 1, maxQueuedPerOrganisation: 1, deadlineMs: 60_000 })
  const first = request('a1')
  const disconnect = new AbortController()
  const disconnected = request('a2', serviceCall('test', 'r', disconnect.signal))
  disconnect.abort(new Error('client disconnected'))
  await expect(disconnected).rejects.toThrow('client disconnected')
  const third = request('a3')
  expect(await end('a1')).toEqual(['a1', 'a3'])
  await end('a3')
  expect(await Promise.all([first, third])).toEqual(['a1', 'a3'])
})

test('a report that waits too long is rejected, and a report that fails frees its slot', async () => {
  const { run } = createReportQueue({ concurrency: 1, maxQueuedPerOrganisation: 1, deadlineMs: 20 })
  let release = () => {}
  const first = run('a', serviceCall('test', 'r'), async () => {
    await new Promise<void>((resolve) => {
      release = resolve
    })
    throw new Error('it failed')
  })
  await expect(run('a', serviceCall('test', 'r'), async () => 1)).rejects.toMatchObject({ reason: 'DEADLINE_EXCEEDED' })
  release()
  await expect(first).rejects.toThrow('it failed')
  expect(await run('a', serviceCall('test', 'r'), async () => 2)).toBe(2)
})

test('the call of a report has a deadline that includes its time in the queue', async () => {
  const deadlineMs = 60_000
  const { run } = createReportQueue({ concurrency: 1, maxQueuedPerOrganisation: 1, deadlineMs })
  const requestedMs = Date.now()
  const deadline = await run('a', serviceCall('test', 'r'), async (call) => call.deadline?.getTime())
  expect(deadline).toBeGreaterThanOrEqual(requestedMs + deadlineMs)
  expect(deadline).toBeLessThanOrEqual(Date.now() + deadlineMs)
})
