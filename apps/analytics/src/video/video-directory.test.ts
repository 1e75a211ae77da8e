import { expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { testLog } from '@vitascope/testing'
import { createVideoDirectory } from './video-directory.ts'

/** More than the directory caches. */
const MANY = 200_100
const A_CALL = 1_000

/**
 * Creates a directory on a catalogue in which the duration of a video in seconds is its id, and ids
 * that start with 9 do not exist.
 */
function directory() {
  const scene = { away: false, asked: [] as string[], at: 1_000_000, stored: new Map<string, number>() }
  const videos = createVideoDirectory({
    catalogue: {
      async listVideoSummaries({ videoIds = [] }) {
        if (scene.away) throw new DomainError('unavailable', 'CATALOGUE_AWAY', 'the catalogue is away')
        scene.asked.push(...videoIds)
        const there = videoIds.filter((videoId) => !videoId.startsWith('9'))
        return {
          summaries: there.map((videoId) => ({
            videoId,
            organisationId: '1',
            durationSeconds: Number(videoId),
            texts: undefined,
            languages: [],
          })),
        }
      },
    },
    store: {
      find: async (ids) =>
        ids.flatMap((videoId) => {
          const durationMs = scene.stored.get(videoId)
          return durationMs === undefined ? [] : [{ videoId, organisationId: '1', durationMs }]
        }),
      findTexts: async () => new Map(),
      save: async () => {},
    },
    log: testLog,
    now: () => scene.at,
  })
  return { scene, videos }
}
const ids = (first: number, count: number) => Array.from({ length: count }, (_, nth) => String(first + nth))
async function askAll(videos: ReturnType<typeof directory>['videos'], all: readonly string[]): Promise<void> {
  for (let at = 0; at < all.length; at += A_CALL) await videos.standing(all.slice(at, at + A_CALL))
}

test('what a call knows when it begins it knows at its end, however many others are learned meanwhile', async () => {
  const { videos } = directory()
  await videos.standing(['7'])
  await askAll(videos, ids(100, 199_999))
  const others = ids(500_000, 100)
  const found = await videos.standing(['7', ...others])
  expect(found.get('7')).toEqual({ videoId: '7', organisationId: '1', durationMs: 7_000, languages: [] })
  expect(found.size).toBe(101)
})

test('what is learned for a call it has, also when so much more is learned with it that it is forgotten at once', async () => {
  const { scene, videos } = directory()
  const all = ids(1_000_000, MANY).map((id) => `1${id}`)
  expect((await videos.standing(all)).size).toBe(MANY)
  scene.away = true
  scene.at += 60_000
  // The first ids were evicted from memory but are stored in the database.
  scene.stored = new Map([[all[0] ?? '', 5_000]])
  expect((await videos.standing(all.slice(0, 1))).get(all[0] ?? '')?.durationMs).toBe(5_000)
})

test('unknown ids displace no video, and are requested again a second later', async () => {
  const { scene, videos } = directory()
  await videos.standing(['7'])
  await askAll(videos, ids(900_000_000, MANY))
  scene.asked = []
  expect([...(await videos.standing(['7', '999'])).keys()]).toEqual(['7'])
  expect(scene.asked).toEqual(['999'])
  await videos.standing(['7', '999'])
  expect(scene.asked).toEqual(['999'])
  scene.at += 1_000
  await videos.standing(['7', '999'])
  expect(scene.asked).toEqual(['999', '999'])
  scene.away = true
  scene.at += 60_000
  expect((await videos.standing(['7'])).has('7')).toBe(true)
  await expect(videos.standing(['7', '999'])).rejects.toMatchObject({ reason: 'VIDEO_UNCHECKED' })
})

test('a video that is gone is known no longer', async () => {
  const { scene, videos } = directory()
  scene.stored = new Map([['9', 9_000]])
  scene.away = true
  expect((await videos.standing(['9'])).has('9')).toBe(true)
  scene.away = false
  scene.at += 1_000
  expect((await videos.standing(['9'])).has('9')).toBe(false)
  expect((await videos.standing(['9'])).has('9')).toBe(false)
  expect((await videos.ever(['9'])).has('9')).toBe(true)
})
