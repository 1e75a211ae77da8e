import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { serviceCall } from '@vitascope/grpc'
import { withCommitDeadline } from './commit-deadline.ts'

const createCall = (ms: number) => ({ ...serviceCall('test', 'r'), deadline: new Date(Date.now() + ms) })

test('a write before the deadline, or without one, is not aborted', async () => {
  expect(await withCommitDeadline(createCall(60_000), async ({ signal }) => signal.aborted)).toBe(false)
  expect(await withCommitDeadline(serviceCall('test', 'r'), async ({ signal }) => signal.aborted)).toBe(false)
})

test('a write that takes too long is aborted with the reason before the deadline of its caller', async () => {
  const call = createCall(1_200)
  const late = withCommitDeadline(call, async ({ signal }) => {
    await once(signal, 'abort')
    expect(Date.now()).toBeLessThan(call.deadline.getTime())
    signal.throwIfAborted()
  })
  await expect(late).rejects.toMatchObject({ kind: 'unavailable', reason: 'DEADLINE_EXCEEDED' })
})
