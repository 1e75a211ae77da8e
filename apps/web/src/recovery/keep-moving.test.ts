import { expect, test } from '@jest/globals'
import { createStandstillCheck, type WatchedVideo } from './keep-moving.ts'

const buffer = (...ranges: [start: number, end: number][]): TimeRanges => ({
  length: ranges.length,
  start: (range) => ranges[range]?.[0] ?? 0,
  end: (range) => ranges[range]?.[1] ?? 0,
})
const standing = (changes: Partial<WatchedVideo> = {}): WatchedVideo => ({
  ...{ buffered: buffer([0, 90]), currentTime: 6, ended: false, error: null, paused: false, seeking: false },
  ...changes,
})
const lookTimes = (video: WatchedVideo, count: number) => {
  const look = createStandstillCheck(video)
  return Array.from({ length: count }, look)
}

test('a video that does not move although media are buffered is found on the fourth look, and again after three more', () => {
  expect(lookTimes(standing(), 7)).toEqual([false, false, false, true, false, false, true])
})

test('a video that moves is not found', () => {
  const video = { ...standing() }
  const look = createStandstillCheck(video)
  for (let second = 0; second < 10; second++) {
    video.currentTime += 1
    expect(look()).toBe(false)
  }
})

test.each<[string, Partial<WatchedVideo>]>([
  ['is paused', { paused: true }],
  ['has ended', { ended: true }],
  ['seeks', { seeking: true }],
  ['has no media after its position', { buffered: buffer([0, 6.5]) }],
  ['has only later media', { buffered: buffer([0, 5], [7, 20]) }],
])('a video that %s is not found', (_, changes) => {
  expect(lookTimes(standing(changes), 8)).not.toContain(true)
})
