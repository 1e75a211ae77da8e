import { expect, test } from '@jest/globals'
import { readEnds } from './read-ends.ts'

const formatTime = (seconds: number) => new Date(Date.UTC(2026, 10, 23, 12) + seconds * 1_000).toISOString().replace('.000', '')

test('reports the seconds from the first deletion of a pod to its end, separately for pods of the same name', () => {
  const { line, ends } = readEnds()
  const lives = [
    { uid: 'u-1', from: 0, to: 9 },
    { uid: 'u-2', from: 400, to: 412 },
  ]
  for (const { uid, from, to } of lives) {
    line(`${uid}   videos-analytics-0   <none>           <none>   <none>   <none>`)
    line(`${uid}   videos-analytics-0   ${formatTime(from + 45)}   45       <none>   <none>`)
    line(`${uid}   videos-analytics-0   ${formatTime(from + 45)}   45       0        ${formatTime(to)}`)
    // The kubelet deletes the pod a moment after it has ended.
    line(`${uid}   videos-analytics-0   ${formatTime(to + 1)}   0        0        ${formatTime(to)}`)
  }
  line(`u-3   videos-auth-5d-x   ${formatTime(430)}   30   137   ${formatTime(430)}`)
  expect(ends()).toEqual([
    { name: 'videos-analytics-0', exitCode: 0, seconds: 9 },
    { name: 'videos-analytics-0', exitCode: 0, seconds: 12 },
    { name: 'videos-auth-5d-x', exitCode: 137, seconds: 30 },
  ])
})
