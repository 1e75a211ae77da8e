import { expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { testLog } from '@vitascope/testing'
import { createVideoDirectory } from './video-directory.ts'

/** More videos than the directory caches. Its limit is 200,000. */
const MANY = 200_100
const IDS_PER_CALL = 1_000

/**
 * Creates a directory that reads from a fake catalogue, and the state that controls it. In this
 * catalogue, the id of a video is its duration in seconds, and no ids that start with 9 exist.
 */
function directory() {
  const state = {
    isUnavailable: false,
    /** Ids that the directory has requested from the catalogue. */
    requested: [] as string[],
    nowMs: 1_000_000,
    /** Durations in milliseconds of the videos in the database, by id. */
    stored: new Map<string, number>(),
  }
  const videos = createVideoDirectory({
    catalogue: {
      async listVideoSummaries({ videoIds = [] }) {
        if (state.isUnavailable) throw new DomainError('unavailable', 'CATALOGUE_UNAVAILABLE', 'the catalogue is unavailable')
        state.requested.push(...videoIds)
        const existingIds = videoIds.filter((videoId) => !videoId.startsWith('9'))
        return {
          summaries: existingIds.map((videoId) => ({
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
          const durationMs = state.stored.get(videoId)
          return durationMs === undefined ? [] : [{ videoId, organisationId: '1', durationMs }]
        }),
      findTexts: async () => new Map(),
      save: async () => {},
    },
    log: testLog,
    now: () => state.nowMs,
  })
  return { state, videos }
}
const ids = (first: number, count: number) => Array.from({ length: count }, (_, nth) => String(first + nth))
async function requestAll(videos: ReturnType<typeof directory>['videos'], all: readonly string[]): Promise<void> {
  for (let at = 0; at < all.length; at += IDS_PER_CALL) await videos.findExisting(all.slice(at, at + IDS_PER_CALL))
}

test('a cached video is returned even if other videos of the same call evict it', async () => {
  const { videos } = directory()
  await videos.findExisting(['7'])
  // With video 7, these videos fill the cache.
  await requestAll(videos, ids(100, 199_999))
  const others = ids(500_000, 100)
  const existingVideos = await videos.findExisting(['7', ...others])
  expect(existingVideos.get('7')).toEqual({ videoId: '7', organisationId: '1', durationMs: 7_000, languages: [] })
  expect(existingVideos.size).toBe(101)
})

test('videos of one call are all returned and stored, even if they exceed the cache', async () => {
  const { state, videos } = directory()
  const all = ids(1_000_000, MANY).map((id) => `1${id}`)
  expect((await videos.findExisting(all)).size).toBe(MANY)
  state.isUnavailable = true
  state.nowMs += 60_000
  // The first ids were evicted from memory but are stored in the database.
  state.stored = new Map([[all[0] ?? '', 5_000]])
  expect((await videos.findExisting(all.slice(0, 1))).get(all[0] ?? '')?.durationMs).toBe(5_000)
})

test('unknown ids evict no video, and are requested again after a second', async () => {
  const { state, videos } = directory()
  await videos.findExisting(['7'])
  await requestAll(videos, ids(900_000_000, MANY))
  state.requested = []
  expect([...(await videos.findExisting(['7', '999'])).keys()]).toEqual(['7'])
  expect(state.requested).toEqual(['999'])
  await videos.findExisting(['7', '999'])
  expect(state.requested).toEqual(['999'])
  state.nowMs += 1_000
  await videos.findExisting(['7', '999'])
  expect(state.requested).toEqual(['999', '999'])
  state.isUnavailable = true
  state.nowMs += 60_000
  expect((await videos.findExisting(['7'])).has('7')).toBe(true)
  await expect(videos.findExisting(['7', '999'])).rejects.toMatchObject({ reason: 'VIDEO_UNCHECKED' })
})

test('a deleted video is found only by a search that includes deleted videos', async () => {
  const { state, videos } = directory()
  state.stored = new Map([['9', 9_000]])
  state.isUnavailable = true
  expect((await videos.findExisting(['9'])).has('9')).toBe(true)
  state.isUnavailable = false
  state.nowMs += 1_000
  expect((await videos.findExisting(['9'])).has('9')).toBe(false)
  expect((await videos.findExisting(['9'])).has('9')).toBe(false)
  expect((await videos.findIncludingDeleted(['9'])).has('9')).toBe(true)
})
