import { expect, test } from '@jest/globals'
import { planStoryboard, storyboardVtt } from './storyboard.ts'

function planned(seconds: number, size = { width: 1280, height: 720 }) {
  const storyboard = planStoryboard({
    video: {
      streamIndex: 0,
      frameRate: { numerator: 25, denominator: 1 },
      frames: seconds * 25,
      sourceFrames: seconds * 25,
      groupFrames: 50,
      keySeconds: 0,
      holdSeconds: 1,
      deinterlace: false,
      limitRange: false,
      toneMap: false,
      assumeColours: false,
    },
    renditions: [{ key: 'h264_250', label: 250, video: { ...size, kbps: 1, profile: 'high' } }],
    images: [{ key: 'poster', atSeconds: 0, shortSide: 720 }],
  })
  if (!storyboard) throw new Error('no storyboard was planned')
  return storyboard
}

test.each([
  ['one second', 1, 1, 1, 1, 1],
  ['seven seconds', 7, 4, 1, 1, 4],
  ['a minute', 60, 30, 2, 1, 5],
  ['200 s, the longest video with a tile every two seconds', 200, 100, 4, 1, 5],
  ['201 s', 201, 51, 3, 2, 5],
  ['ten hours', 36_000, 100, 4, 180, 5],
])('plans the tiles of %s', (_, seconds, tiles, sprites, groupsPerTile, columns) => {
  const storyboard = planned(seconds)
  expect([storyboard.tiles, storyboard.sprites.length, storyboard.groupsPerTile, storyboard.columns]).toEqual([
    tiles,
    sprites,
    groupsPerTile,
    columns,
  ])
})

test.each([
  ['wide', { width: 1280, height: 720 }, [160, 90]],
  ['tall', { width: 720, height: 1280 }, [90, 160]],
  ['of extreme shape', { width: 4000, height: 100 }, [360, 10]],
])('a tile has the expected size if the picture is %s', (_, size, [width, height]) => {
  expect(planned(10, size).tile).toEqual({ width, height })
})

test('the cues cover the complete duration without gaps', () => {
  const storyboard = planned(3_725)
  const cues = storyboardVtt(storyboard, 3_725.4).split('\n\n').slice(1)
  const times = cues.map((cue) => cue.split('\n')[0]?.split(' --> '))
  expect(times).toHaveLength(storyboard.tiles)
  for (const [index, time] of times.entries()) if (index > 0) expect(time?.[0]).toBe(times[index - 1]?.[1])
  expect(times.at(-1)?.[1]).toBe('01:02:05.400')
  expect(new Set(cues.map((cue) => cue.split('\n')[1])).size).toBe(cues.length)
})

test('audio-only sources have no storyboard', () => {
  expect(
    planStoryboard({ renditions: [{ key: 'h264_100', label: 100 }], images: [{ key: 'poster', atSeconds: 0, shortSide: 720 }] }),
  ).toBeUndefined()
})
