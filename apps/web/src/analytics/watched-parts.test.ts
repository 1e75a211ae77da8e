import { expect, test } from '@jest/globals'
import { intersect, union } from './intervals.ts'
import { recordWatchedParts, type WatchedParts } from './watched-parts.ts'

/**
 * Plays from one second to another in steps of a quarter of a second, like the `timeupdate` events
 * of browsers.
 */
function play(parts: WatchedParts, from: number, to: number) {
  parts.begin(from)
  for (let at = from; at <= to; at += 0.25) parts.advance(at, 1)
  parts.stop()
}

test('continuous playback is one part, which is returned once', () => {
  const parts = recordWatchedParts()
  play(parts, 0, 12.5)
  expect(parts.take()).toEqual({ watched: [[0, 12.5]], rewatched: [] })
  expect(parts.take()).toEqual({ watched: [], rewatched: [] })
})

test('a seek is not counted as playback in either direction', () => {
  const parts = recordWatchedParts()
  play(parts, 0, 2)
  play(parts, 8, 9)
  parts.begin(20)
  parts.advance(20.5, 1)
  parts.advance(40, 1)
  parts.advance(40.5, 1)
  parts.advance(30, 1)
  parts.advance(30.25, 1)
  expect(parts.take().watched).toEqual([
    [0, 2],
    [8, 9],
    [20, 20.5],
    [30, 30.25],
    [40, 40.5],
  ])
})

test('repeated playback is counted as rewatched, including parts of earlier reports', () => {
  const parts = recordWatchedParts()
  play(parts, 0, 4)
  play(parts, 3, 5)
  expect(parts.take()).toEqual({ watched: [[0, 5]], rewatched: [[3, 4]] })
  play(parts, 1, 2)
  play(parts, 1, 2)
  play(parts, 4.5, 6)
  expect(parts.take()).toEqual({
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
  const parts = recordWatchedParts()
  for (const [from, to] of [
    [0, 1],
    [1, 2],
    [2, 3],
  ] as const) {
    play(parts, from, to)
    expect(parts.take()).toEqual({ watched: [[from, to]], rewatched: [] })
  }
})

test('a paused video is not counted as playback', () => {
  const parts = recordWatchedParts()
  parts.advance(5, 10)
  parts.begin(1)
  expect(parts.isPlaying).toBe(true)
  parts.advance(1, 1)
  parts.stop()
  parts.advance(1.5, 1)
  expect([parts.isPlaying, parts.take()]).toEqual([false, { watched: [], rewatched: [] }])
})

test('random playback reports exactly the quarters of a second that were played, and those played again', () => {
  let seed = 1
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const quarters = (parts: readonly (readonly [number, number])[]) => {
    const found = new Set<number>()
    for (const [from, to] of parts) for (let at = from; at < to; at += 0.25) found.add(at)
    return [...found].toSorted((a, b) => a - b)
  }
  for (let run = 0; run < 50; run++) {
    const parts = recordWatchedParts()
    const times = new Map<number, number>()
    for (let step = 0; step < 10; step++) {
      const from = random(80) / 4
      const to = from + random(40) / 4
      for (let at = from; at < to; at += 0.25) times.set(at, (times.get(at) ?? 0) + 1)
      play(parts, from, to)
    }
    const { watched, rewatched } = parts.take()
    expect(quarters(watched)).toEqual([...times.keys()].toSorted((a, b) => a - b))
    expect(quarters(rewatched)).toEqual(
      [...times]
        .filter(([, n]) => n > 1)
        .map(([at]) => at)
        .toSorted((a, b) => a - b),
    )
  }
})

test('adjacent parts are merged, and empty parts are dropped', () => {
  expect(
    union([
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
