import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { CaptionLine } from '@vitascope/captions'
import { createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createPlaybackPolicyStore } from '../playback-policy/playback-policy-store.ts'
import type { CaptionFields } from './caption.ts'
import { type CaptionStore, createCaptionStore, type NewCaption } from './caption-store.ts'

let catalogue: CatalogueDatabase
let captions: CaptionStore
let mediaId: string
let videoId: string

beforeAll(async () => {
  catalogue = await catalogueDatabase()
  captions = createCaptionStore(catalogue.db)
})
afterAll(() => catalogue.close())
beforeEach(async () => {
  const played = await catalogue.play({ captionsShowOnLoad: 'de' })
  mediaId = played.mediaId
  videoId = played.videoId
})

const line = (beginMs: number, text: string): CaptionLine => ({ beginMs, endMs: beginMs + 500, text })
const LINES = [line(0, 'Good <i>evening</i>'), line(1_000, 'two\nlines \u{1f600} \\ "q" \u2028')]
const buildCaption = (more: Partial<NewCaption> = {}): NewCaption => ({
  title: 'English',
  language: 'en',
  userId: '7',
  lines: LINES,
  ...more,
})
const create = (more: Partial<NewCaption> = {}, scope: string | null = '1', call = createCall()) =>
  captions.create({ scope, mediaId }, buildCaption(more), call)
const update = (captionId: string, fields: Partial<CaptionFields>, lines?: CaptionLine[], scope: string | null = '1') =>
  captions.update({ scope, captionId }, { change: (current) => ({ ...current, ...fields }), userId: '8', lines })
const listCaptions = async () => (await catalogue.videos.find('1', videoId))?.captions
const readTexts = async (captionId: string) => (await captions.read({ scope: '1', captionId }))?.lines.map(({ text }) => text)

describe('captions', () => {
  test('are returned as stored, with line ids in order', async () => {
    const captionId = await create()
    const stored = await captions.read({ scope: '1', captionId })
    expect(stored?.caption).toEqual({
      captionId,
      mediaId,
      organisationId: '1',
      title: 'English',
      language: 'en',
      revision: 0,
      createdByUserId: '7',
      lastModifiedByUserId: '7',
      createTime: expect.any(Date),
      updateTime: expect.any(Date),
    })
    expect(stored?.lines).toEqual(LINES.map((line) => ({ ...line, captionLineId: expect.stringMatching(/^\d+$/) })))
    const ids = stored?.lines.map(({ captionLineId }) => Number(captionLineId)) ?? []
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    const [row] = await catalogue.db.query<{ plain_text: string }>('select plain_text from caption where caption_id = $1', [captionId])
    expect(row?.plain_text).toBe('Good evening\ntwo\nlines \u{1f600} \\ "q" \u2028\n')
  })
  test('are in the record and the playback policy of each video of their media, oldest first', async () => {
    const [first, second] = [await create(), await create({ title: 'Deutsch', language: 'de' })]
    const expected = [
      { captionId: first, title: 'English', language: 'en' },
      { captionId: second, title: 'Deutsch', language: 'de' },
    ]
    expect(await listCaptions()).toEqual(expected)
    const publish = await catalogue.media.publish({ scope: '1', mediaId }, '7', createCall())
    expect((await catalogue.videos.find('1', publish.videoId))?.captions).toEqual(expected)
    const policy = await createPlaybackPolicyStore(catalogue.db).find(videoId)
    expect(policy?.captions).toEqual([
      { captionId: first, name: 'English', language: 'en', revision: 0, showsOnLoad: false },
      { captionId: second, name: 'Deutsch', language: 'de', revision: 0, showsOnLoad: true },
    ])
  })
  test('can change their fields, their lines or both', async () => {
    const captionId = await create()
    expect(await update(captionId, { title: 'British' })).toMatchObject({ title: 'British', revision: 0, lastModifiedByUserId: '8' })
    expect(await readTexts(captionId)).toEqual(LINES.map(({ text }) => text))
    expect(await update(captionId, { language: 'en-GB' }, [line(5, 'new')])).toMatchObject({ language: 'en-GB', revision: 1 })
    expect(await readTexts(captionId)).toEqual(['new'])
    const [row] = await catalogue.db.query<{ plain_text: string }>('select plain_text from caption where caption_id = $1', [captionId])
    expect(row?.plain_text).toBe('new\n')
  })
  test('can move only to a media of their organisation', async () => {
    const captionId = await create()
    const [own, foreign] = [await catalogue.upload(), await catalogue.upload({}, { organisationId: '2' })]
    for (const scope of ['1', null]) {
      await expect(update(captionId, { mediaId: foreign.mediaId }, undefined, scope)).rejects.toMatchObject({ reason: 'MEDIA_NOT_FOUND' })
    }
    await update(captionId, { mediaId: own.mediaId })
    expect(await listCaptions()).toEqual([])
    expect((await catalogue.videos.find('1', own.videoId))?.captions).toHaveLength(1)
    await catalogue.renewSpoken()
    const spoken = await catalogue.db.query<{ media_id: string }>(
      `select media_id from caption_search where words @@ to_tsquery('simple', 'evening') and media_id in ($1, $2)`,
      [mediaId, own.mediaId],
    )
    expect(spoken).toEqual([{ media_id: own.mediaId }])
  })
  test('can be moved between two media concurrently', async () => {
    const medias = [mediaId, (await catalogue.upload()).mediaId]
    const ids = await Promise.all(Array.from({ length: 6 }, () => create()))
    const moves = Array.from({ length: 80 }, (_, n) => ({
      captionId: ids[n % ids.length] ?? '',
      to: medias[(n * 7 + Math.floor(n / 6)) % 2] ?? '',
    }))
    const outcomes: unknown[] = []
    const mover = async () => {
      for (let move = moves.pop(); move; move = moves.pop()) {
        const { captionId, to } = move
        outcomes.push(
          await update(captionId, { mediaId: to }).then(
            () => 'moved',
            (error) => error.reason ?? error,
          ),
        )
      }
    }
    await Promise.all(Array.from({ length: 12 }, mover))
    expect(outcomes).toHaveLength(80)
    expect(new Set(outcomes.filter((outcome) => outcome !== 'CAPTION_CHANGED'))).toEqual(new Set(['moved']))
  }, 60_000)
  test('are deleted with their media', async () => {
    const captionId = await create()
    await catalogue.media.remove({ scope: '1', mediaId }, { userId: '7', callerId: '7', notes: '' })
    expect(await captions.read({ scope: null, captionId })).toBeUndefined()
    expect(await catalogue.db.query('select 1 from caption_line where caption_id = $1', [captionId])).toEqual([])
  })
  test('are deleted together with their lines', async () => {
    const captionId = await create()
    await captions.remove({ scope: '1', captionId })
    expect(await catalogue.db.query('select 1 from caption_line where caption_id = $1', [captionId])).toEqual([])
  })
  test('are searchable in their first 250,000 characters, and little more text is stored for search', async () => {
    const buildLines = (count: number, last: string) => [...Array.from({ length: count }, () => line(1, 'x '.repeat(4_999))), line(2, last)]
    const captionId = await create({ lines: [line(0, 'first'), ...buildLines(20, 'within'), ...buildLines(480, 'over')] })
    await catalogue.renewSpoken()
    const searchWord = async (word: string) =>
      await catalogue.db.query(`select from caption_search where media_id = $1 and words @@ to_tsquery('simple', $2)`, [mediaId, word])
    expect([await searchWord('first'), await searchWord('within'), await searchWord('over')].map(({ length }) => length)).toEqual([1, 1, 0])
    const [row] = await catalogue.db.query<{ size: number }>('select length(plain_text) as size from caption where caption_id = $1', [
      captionId,
    ])
    expect(row?.size).toBeLessThan(520_000)
    expect(await readTexts(captionId)).toHaveLength(503)
  })
  test('are created once for one idempotency key', async () => {
    const call = createCall({ key: `caption ${mediaId}`, fingerprint: 'x' })
    expect(await captions.findCreated({ scope: '1', mediaId }, call)).toBeUndefined()
    const first = await create({}, '1', call)
    expect([await create({}, '1', call), await captions.findCreated({ scope: '1', mediaId }, call)]).toEqual([first, first])
    expect(await listCaptions()).toHaveLength(1)
    await expect(
      captions.findCreated({ scope: '1', mediaId }, createCall({ key: `caption ${mediaId}`, fingerprint: 'y' })),
    ).rejects.toMatchObject({
      reason: 'IDEMPOTENCY_MISMATCH',
    })
  })
  test('are read completely in their old or new version while their lines are replaced', async () => {
    const captionId = await create({ lines: Array.from({ length: 500 }, (_, i) => line(i, 'a0')) })
    let done = false
    const writing = (async () => {
      for (let n = 1; n <= 20; n++)
        await update(
          captionId,
          {},
          Array.from({ length: 500 }, (_, i) => line(i, `a${n}`)),
        )
    })().finally(() => {
      done = true
    })
    while (!done) {
      const read = await captions.read({ scope: '1', captionId })
      expect(read?.lines).toHaveLength(500)
      expect(new Set(read?.lines.map(({ text }) => text))).toEqual(new Set([`a${read?.caption.revision}`]))
    }
    await writing
  })
})

describe('a media', () => {
  test('accepts 100 captions under concurrent requests', async () => {
    const some = { lines: LINES.slice(0, 1) }
    for (let n = 0; n < 90; n++) await create(some)
    const results = await Promise.allSettled(Array.from({ length: 25 }, () => create(some)))
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.reason] : []))
    expect(errors).toEqual(Array(15).fill('CAPTIONS_FULL'))
    expect(await listCaptions()).toHaveLength(100)
    const other = await catalogue.upload()
    const captionId = await captions.create({ scope: '1', mediaId: other.mediaId }, buildCaption(), createCall())
    await expect(update(captionId, { mediaId })).rejects.toMatchObject({ reason: 'CAPTIONS_FULL' })
  })
  test('of another organisation is not found', async () => {
    await expect(create({}, '2')).rejects.toMatchObject({ reason: 'MEDIA_NOT_FOUND' })
    await expect(captions.findCreated({ scope: '2', mediaId }, createCall())).rejects.toMatchObject({ reason: 'MEDIA_NOT_FOUND' })
    await expect(captions.create({ scope: '1', mediaId: '7' }, buildCaption(), createCall())).rejects.toMatchObject({
      reason: 'MEDIA_NOT_FOUND',
    })
    const captionId = await create({}, null)
    expect((await captions.find({ scope: null, captionId }))?.organisationId).toBe('1')
  })
})

test('captions of another organisation are not found', async () => {
  const captionId = await create()
  for (const key of [
    { scope: '2', captionId },
    { scope: '1', captionId: '999999999' },
  ]) {
    expect(await captions.find(key)).toBeUndefined()
    expect(await captions.read(key)).toBeUndefined()
    await expect(update(key.captionId, {}, undefined, key.scope)).rejects.toMatchObject({ reason: 'CAPTION_NOT_FOUND' })
    await expect(captions.remove(key)).rejects.toMatchObject({ reason: 'CAPTION_NOT_FOUND' })
  }
  await captions.remove({ scope: '1', captionId })
  await expect(captions.remove({ scope: '1', captionId })).rejects.toMatchObject({ reason: 'CAPTION_NOT_FOUND' })
  expect(await listCaptions()).toEqual([])
})

test('20,000 lines are stored and read', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => line(i * 10, `line ${i}`))
  const captionId = await create({ lines })
  expect(await readTexts(captionId)).toEqual(lines.map(({ text }) => text))
})
