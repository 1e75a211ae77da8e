import { expect, test } from '@jest/globals'
import { createStandstillCheck, type WatchedVideo } from './keep-moving.ts'

const buffer = (...ranges: [start: number, end: number][]): TimeRanges => ({
  length: ranges.length,
  start: (range) => ranges[range]?.[0] ?? 0,
  end: (range) => ranges[range]?.[1] ?? 0,
})
const stillVideo = (changes: Partial<WatchedVideo> = {}): WatchedVideo => ({
  ...{ buffered: buffer([0, 90]), currentTime: 6, ended: false, error: null, paused: false, seeking: false },
  ...changes,
})
const checkTimes = (video: WatchedVideo, count: number) => {
  const check = createStandstillCheck(video)
  return Array.from({ length: count }, check)
}

test('a video that does not move although media are buffered is detected by the fourth check, and again after three more', () => {
  expect(checkTimes(stillVideo(), 7)).toEqual([false, false, false, true, false, false, true])
})

test('a video that moves is not detected', () => {
  const video = { ...stillVideo() }
  const check = createStandstillCheck(video)
  for (let second = 0; second < 10; second++) {
    video.currentTime += 1
    expect(check()).toBe(false)
  }
})

test.each<[string, Partial<WatchedVideo>]>([
  ['is paused', { paused: true }],
  ['has ended', { ended: true }],
  ['seeks', { seeking: true }],
  ['has no media after its position', { buffered: buffer([0, 6.5]) }],
  ['has only later media', { buffered: buffer([0, 5], [7, 20]) }],
])('a video that %s is not detected', (_, changes) => {
  expect(checkTimes(stillVideo(changes), 8)).not.toContain(true)
})
