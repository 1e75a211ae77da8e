import { expect, test } from '@jest/globals'
import { intersect, mergeIntervals } from './intervals.ts'
import { createPartsRecorder, type PartsRecorder } from './watched-parts.ts'

/**
 * Plays from one second to another in steps of a quarter of a second, like the `timeupdate` events
 * of browsers.
 */
function play(recorder: PartsRecorder, from: number, to: number) {
  recorder.begin(from)
  for (let at = from; at <= to; at += 0.25) recorder.advance(at, 1)
  recorder.stop()
}

test('continuous playback is one part, which is returned once', () => {
  const recorder = createPartsRecorder()
  play(recorder, 0, 12.5)
  expect(recorder.takeParts()).toEqual({ watched: [[0, 12.5]], rewatched: [] })
  expect(recorder.takeParts()).toEqual({ watched: [], rewatched: [] })
})

test('a seek is not counted as playback in either direction', () => {
  const recorder = createPartsRecorder()
  play(recorder, 0, 2)
  play(recorder, 8, 9)
  recorder.begin(20)
  recorder.advance(20.5, 1)
  recorder.advance(40, 1)
  recorder.advance(40.5, 1)
  recorder.advance(30, 1)
  recorder.advance(30.25, 1)
  expect(recorder.takeParts().watched).toEqual([
    [0, 2],
    [8, 9],
    [20, 20.5],
    [30, 30.25],
    [40, 40.5],
  ])
})

test('repeated playback is counted as rewatched, including parts of earlier reports', () => {
  const recorder = createPartsRecorder()
  play(recorder, 0, 4)
  play(recorder, 3, 5)
  expect(recorder.takeParts()).toEqual({ watched: [[0, 5]], rewatched: [[3, 4]] })
  play(recorder, 1, 2)
  play(recorder, 1, 2)
  play(recorder, 4.5, 6)
  expect(recorder.takeParts()).toEqual({
    watched: [
      [1, 2],
      [4.5, 6],
    ],
    rewatched: [
      [1, 2],
      [4.5, 5],
    ],
  })
})

test('playback that continues after a pause is not counted as rewatched', () => {
  const recorder = createPartsRecorder()
  for (const [from, to] of [
    [0, 1],
    [1, 2],
    [2, 3],
  ] as const) {
    play(recorder, from, to)
    expect(recorder.takeParts()).toEqual({ watched: [[from, to]], rewatched: [] })
  }
})

test('a paused video is not counted as playback', () => {
  const recorder = createPartsRecorder()
  recorder.advance(5, 10)
  recorder.begin(1)
  expect(recorder.isPlaying).toBe(true)
  recorder.advance(1, 1)
  recorder.stop()
  recorder.advance(1.5, 1)
  expect([recorder.isPlaying, recorder.takeParts()]).toEqual([false, { watched: [], rewatched: [] }])
})

test('random playback reports exactly the quarters of a second that were played, and those played again', () => {
  let seed = 1
  const random = (limit: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % limit
  }
  const listQuarters = (parts: readonly (readonly [number, number])[]) => {
    const quarters = new Set<number>()
    for (const [from, to] of parts) for (let at = from; at < to; at += 0.25) quarters.add(at)
    return [...quarters].toSorted((a, b) => a - b)
  }
  for (let run = 0; run < 50; run++) {
    const recorder = createPartsRecorder()
    const playCounts = new Map<number, number>()
    for (let step = 0; step < 10; step++) {
      const from = random(80) / 4
      const to = from + random(40) / 4
      for (let at = from; at < to; at += 0.25) playCounts.set(at, (playCounts.get(at) ?? 0) + 1)
      play(recorder, from, to)
    }
    const { watched, rewatched } = recorder.takeParts()
    expect(listQuarters(watched)).toEqual([...playCounts.keys()].toSorted((a, b) => a - b))
    expect(listQuarters(rewatched)).toEqual(
      [...playCounts]
        .filter(([, n]) => n > 1)
        .map(([at]) => at)
        .toSorted((a, b) => a - b),
    )
  }
})

test('adjacent parts are merged, and empty parts are removed', () => {
  expect(
    mergeIntervals([
      [4, 5],
      [1, 2],
      [2, 3],
      [7, 7],
      [4.5, 4.75],
    ]),
  ).toEqual([
    [1, 3],
    [4, 5],
  ])
  expect(
    intersect(
      [2, 8],
      [
        [0, 3],
        [4, 5],
        [8, 9],
      ],
    ),
  ).toEqual([
    [2, 3],
    [4, 5],
  ])
})
