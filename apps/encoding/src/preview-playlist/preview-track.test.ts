import { expect, test } from '@jest/globals'
import { previewTrack, segmentFolders, type TrackFile } from './preview-track.ts'

const file = (chunk: number, name: string, seconds = 4): TrackFile => ({
  chunk,
  prefix: `work/7/${chunk + 20}`,
  path: `k/${name}`,
  seconds,
})
const beginning = [file(0, 'init.mp4', 0), file(0, 'index.m3u8', 0), file(0, 'seg-00001.m4s')]

test('lists segments in order with their paths and the first init segment', () => {
  const track = previewTrack([file(1, 'seg-00003.m4s', 2.5), file(1, 'init.mp4', 0), file(1, 'seg-00002.m4s'), ...beginning])
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

test('segments after a gap are not listed', () => {
  expect(previewTrack([...beginning, file(2, 'seg-00004.m4s')])?.segments.map(({ number }) => number)).toEqual([1])
  expect(previewTrack([file(1, 'init.mp4', 0), file(1, 'seg-00002.m4s')])).toBeUndefined()
  expect(previewTrack([file(0, 'seg-00001.m4s')])).toBeUndefined()
  expect(previewTrack([])).toBeUndefined()
})

test('segment names get longer from segment 100,000', () => {
  const many = Array.from({ length: 100_001 }, (_, n) => file(0, `seg-${String(n + 1).padStart(5, '0')}.m4s`))
  expect(previewTrack([...beginning.slice(0, 1), ...many])?.segments.at(-1)).toMatchObject({ number: 100_001 })
})
