import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { Clip } from '@vitascope/proto/collaboration/v1/clip'
import { as, by, openFixture, repeatable } from './test-collaboration.ts'

let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())
beforeEach(() => {
  fixture.dependencies.requests.splice(0)
})

const user = as('uploader')
const guest = by({ kind: 'guest' })
const times = { timeStart: 1, timeFinish: 2, timeStartMillis: 480, type: 'video' }
const ended = { kind: 'not_found', reason: 'REVIEW_NOT_FOUND' }

async function createReview(seconds = 3_600) {
  const { entries, guestReviews } = fixture.clients
  const videoId = fixture.createVideo()
  const { entry } = await entries.createEntry({ videoId, userId: '', email: 'guest@example.org' }, user)
  const collaborationId = entry?.collaborationId ?? ''
  const { token, expireTime } = await guestReviews.setGuestLink({ collaborationId, expiresInSeconds: seconds }, user)
  return { videoId, collaborationId, token, expireTime }
}
const read = (token: string) => fixture.clients.guestReviews.getGuestReview({ token }, guest)
const addClip = (token: string, more: Partial<Clip> = {}, call = guest) =>
  fixture.clients.guestReviews.createGuestClip({ token, clip: Clip.fromPartial({ ...times, ...more }) }, call)
const removeClip = (token: string, clipId: string) => fixture.clients.guestReviews.deleteGuestClip({ token, clipId }, guest)

test('a guest watches the video of its link, and adds and deletes clips of its entry', async () => {
  const { videoId, collaborationId, token, expireTime } = await createReview()
  const { clip } = await addClip(token, { comments: 'Too loud', collaborationId: '1', title: 'ignored' })
  expect(clip).toMatchObject({ collaborationId, comments: 'Too loud', title: '', timeStartMillis: 480 })
  const review = await read(token)
  expect(review).toMatchObject({ expireTime, durationSeconds: 12.48, playbackToken: `token-of-${videoId}` })
  expect(review.entry).toMatchObject({
    collaborationId,
    videoId,
    email: 'guest@example.org',
    clips: [clip],
    guestLinkExpireTime: expireTime,
  })
  expect((await removeClip(token, clip?.clipId ?? '')).clip).toEqual(clip)
  expect((await read(token)).entry?.clips).toEqual([])
})

test('the token for the video is valid for 4 hours, and not longer than the link', async () => {
  const lifetime = () => Number(fixture.dependencies.requests.find(({ method }) => method === 'token')?.ids[1])
  await read((await createReview(7_776_000)).token)
  expect(lifetime()).toBe(14_400)
  fixture.dependencies.requests.splice(0)
  await read((await createReview(60)).token)
  expect(lifetime()).toBeGreaterThan(50)
  expect(lifetime()).toBeLessThanOrEqual(60)
})

test('a repeated request adds one clip', async () => {
  const { token } = await createReview()
  const call = { ...guest, ...repeatable('a clip of a guest') }
  const [first, second] = [await addClip(token, {}, call), await addClip(token, {}, call)]
  expect(second).toEqual(first)
  expect((await read(token)).entry?.clips).toHaveLength(1)
})

test('clips of other entries of the video are neither shown nor deleted', async () => {
  const { videoId, token } = await createReview()
  const { entry } = await fixture.clients.entries.createEntry({ videoId, userId: fixture.createUser(), email: '' }, user)
  const { clip } = await fixture.clients.clips.createClip({ clip: Clip.fromPartial({ ...entry, ...times }) }, user)
  expect((await read(token)).entry?.clips).toEqual([])
  await expect(removeClip(token, clip?.clipId ?? '')).rejects.toMatchObject({ reason: 'CLIP_NOT_FOUND' })
  await expect(removeClip(token, 'x')).rejects.toMatchObject({ reason: 'CLIP_NOT_FOUND' })
})

test.each([
  ['it was replaced', ({ collaborationId }) => fixture.clients.guestReviews.setGuestLink({ collaborationId, expiresInSeconds: 60 }, user)],
  ['it was ended', ({ collaborationId }) => fixture.clients.guestReviews.deleteGuestLink({ collaborationId }, user)],
  ['its entry was deleted', ({ collaborationId }) => fixture.clients.entries.deleteEntry({ collaborationId }, user)],
  ['its video was deleted', async ({ videoId }) => fixture.dependencies.videos.delete(videoId)],
  [
    'its time is over',
    ({ collaborationId }) => fixture.db.query('update guest_link set expire_time = now() where entry_id = $1', [collaborationId]),
  ],
] satisfies [string, (review: Awaited<ReturnType<typeof createReview>>) => Promise<unknown>][])(
  'a link is rejected after %s',
  async (_, end) => {
    const review = await createReview()
    await read(review.token)
    await end(review)
    await expect(read(review.token)).rejects.toMatchObject(ended)
    await expect(addClip(review.token)).rejects.toMatchObject(ended)
  },
)

test('links are created and ended only by users of the organisation, for a minute to 90 days', async () => {
  const { collaborationId, token } = await createReview()
  const { guestReviews } = fixture.clients
  for (const [call, reason] of [
    [as('standard', '2'), 'COLLABORATION_NOT_FOUND'],
    [guest, 'KEY_REQUIRED'],
  ] as const) {
    await expect(guestReviews.setGuestLink({ collaborationId, expiresInSeconds: 60 }, call)).rejects.toMatchObject({ reason })
    await expect(guestReviews.deleteGuestLink({ collaborationId }, call)).rejects.toMatchObject({ reason })
  }
  for (const expiresInSeconds of [0, 59, 7_776_001]) {
    await expect(guestReviews.setGuestLink({ collaborationId, expiresInSeconds }, user)).rejects.toMatchObject({
      fields: [{ field: 'expires_in_seconds' }],
    })
  }
  expect((await read(token)).entry).toMatchObject({ collaborationId })
})

test.each(['', 'x', 'A'.repeat(43), 'é'.repeat(43)])('the token %p is rejected', async (token) => {
  await expect(read(token)).rejects.toMatchObject(ended)
})

test('the token is not stored', async () => {
  const { collaborationId, token } = await createReview()
  const rows = await fixture.db.query<Record<string, unknown>>('select * from guest_link where entry_id = $1', [collaborationId])
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows.map((row) => ({ ...row, token_hash: String(row['token_hash']) })))).not.toContain(token)
})
