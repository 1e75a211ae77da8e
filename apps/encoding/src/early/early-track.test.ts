import { expect, test } from '@jest/globals'
import { earlyTrack, segmentFolders, type TrackFile } from './early-track.ts'

const file = (chunk: number, name: string, seconds = 4): TrackFile => ({
  chunk,
  prefix: `work/7/${chunk + 20}`,
  path: `k/${name}`,
  seconds,
})
const beginning = [file(0, 'init.mp4', 0), file(0, 'index.m3u8', 0), file(0, 'seg-00001.m4s')]

test('segments come in order, with where they are, and the first init', () => {
  const track = earlyTrack([file(1, 'seg-00003.m4s', 2.5), file(1, 'init.mp4', 0), file(1, 'seg-00002.m4s'), ...beginning])
  expect(track?.initObject).toBe('work/7/20/k/init.mp4')
  expect(track?.segments.map(({ number, name, seconds }) => [number, name, seconds])).toEqual([
    [1, 'seg-00001.m4s', 4],
    [2, 'seg-00002.m4s', 4],
    [3, 'seg-00003.m4s', 2.5],
  ])
  expect(segmentFolders(track?.segments ?? [])).toEqual([
    { first: 1, folder: 'work/7/20/k' },
    { first: 2, folder: 'work/7/21/k' },
  ])
})

test('what is behind a gap waits', () => {
  expect(earlyTrack([...beginning, file(2, 'seg-00004.m4s')])?.segments.map(({ number }) => number)).toEqual([1])
  expect(earlyTrack([file(1, 'init.mp4', 0), file(1, 'seg-00002.m4s')])).toBeUndefined()
  expect(earlyTrack([file(0, 'seg-00001.m4s')])).toBeUndefined()
  expect(earlyTrack([])).toBeUndefined()
})

test('from a hundred thousand segments on, names grow', () => {
  const many = Array.from({ length: 100_001 }, (_, n) => file(0, `seg-${String(n + 1).padStart(5, '0')}.m4s`))
  expect(earlyTrack([...beginning.slice(0, 1), ...many])?.segments.at(-1)).toMatchObject({ number: 100_001 })
})
