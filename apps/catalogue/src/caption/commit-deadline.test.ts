import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { serviceCall } from '@vitascope/grpc'
import { withCommitDeadline } from './commit-deadline.ts'

const call = (ms: number) => ({ ...serviceCall('test', 'r'), deadline: new Date(Date.now() + ms) })

test('a write that finishes before the deadline succeeds', async () => {
  expect(await withCommitDeadline(call(60_000), async ({ signal }) => signal.aborted)).toBe(false)
  expect(await withCommitDeadline(serviceCall('test', 'r'), async ({ signal }) => signal.aborted)).toBe(false)
})

test('a call that exceeds its time is aborted with the reason while the caller still waits', async () => {
  const began = call(1_200)
  const late = withCommitDeadline(began, async ({ signal }) => {
    await once(signal, 'abort')
    expect(Date.now()).toBeLessThan(began.deadline.getTime())
    signal.throwIfAborted()
  })
  await expect(late).rejects.toMatchObject({ kind: 'unavailable', reason: 'DEADLINE_EXCEEDED' })
})
