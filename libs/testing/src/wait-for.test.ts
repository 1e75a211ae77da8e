import { expect, test } from '@jest/globals'
import { waitFor } from './wait-for.ts'

test('returns the last value of the condition', async () => {
  const seen = [false, undefined, 'there']
  expect(await waitFor(() => seen.shift(), { interval: 1 })).toBe('there')
})

test('checks again if the condition throws', async () => {
  let looks = 0
  const result = await waitFor(
    async () => {
      looks += 1
      if (looks < 3) throw new Error('not yet')
      return looks
    },
    { interval: 1 },
  )
  expect(result).toBe(3)
})

test('reports what it waited for, and why the last check failed', async () => {
  let state = 'waiting'
  const waiting = waitFor(
    () => {
      state = 'encoding'
      throw new Error('no such video')
    },
    { timeout: 30, interval: 1, describe: () => `the video to be ok (it is ${state})` },
  )
  await expect(waiting).rejects.toThrow('waited 0.12 s for the video to be ok (it is encoding); the last check failed: no such video')
})
