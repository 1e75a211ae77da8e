import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { extendTimeout } from '@vitascope/testing'
import { createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import type { VideoFields } from './video-fields.ts'
import { createVideoPages, type VideoPages } from './video-pages.ts'
import type { VideoQuery } from './video-query.ts'

let catalogue: CatalogueDatabase
let lists: VideoPages
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  lists = createVideoPages(catalogue.db)
  await upload({ title: 'Rocket launch', tags: ['summer-2030'], description: 'Seen from the beach.' })
  await upload({ title: 'A day at the beach', description: 'With a rocket of paper, and a launch of it.', tags: ['summer-2030', 'kids'] })
  await upload({ title: 'launch_day.final-cut.MP4', mediaTitle: 'Master tape' })
  await upload({ title: 'Über Brücken', descriptionPrivate: 'not before the embargo' })
  await upload({ title: 'Rocket secrets of another tenant', tags: ['summer-2030'] }, '2')
})
afterAll(() => catalogue.close())

const upload = (fields: Partial<VideoFields>, organisationId = '1') =>
  catalogue.upload({ ...(fields.title !== undefined && { mediaTitle: fields.title }), ...fields }, { organisationId })

const createQuery = (query: string, more: Partial<VideoQuery> = {}): VideoQuery => ({
  ...{ scope: '1', order: 'relevance', descending: false, query },
  ...more,
})

async function titles(query: string, more: Partial<VideoQuery> = {}): Promise<string[]> {
  const of = createQuery(query, more)
  const { videos } = await lists.page(of, { size: 100, token: '', skip: 0 }, () => 1)
  expect(await lists.count(of)).toBe(videos.length)
  return videos.map(({ title }) => title)
}

async function caption(mediaId: string, text: string): Promise<string> {
  const [row] = await catalogue.db.query<{ caption_id: string }>(
    `insert into caption (media_id, organisation_id, title, language, created_by_user_id, last_modified_by_user_id, plain_text)
     values ($1, 1, 'English', 'en', '7', '7', $2) returning caption_id`,
    [mediaId, text],
  )
  return row?.caption_id ?? ''
}

describe('the search finds', () => {
  test.each([
    ['words of titles before words of descriptions', 'rocket', ['Rocket launch', 'A day at the beach']],
    ['all words, in any field', 'BEACH rocket', ['A day at the beach', 'Rocket launch']],
    ['a tag by its words', 'summer-2030 kids', ['A day at the beach']],
    ['words of a file name', 'final cut mp4', ['launch_day.final-cut.MP4']],
    ['the media title', 'master', ['launch_day.final-cut.MP4']],
    ['letters of any script, in any case', 'ÜBER', ['Über Brücken']],
    ['letters without accents, composed or not', 'uber bru\u0308cken', ['Über Brücken']],
    ['full-width letters', 'ｒｏｃｋｅｔ', ['Rocket launch', 'A day at the beach']],
    ['words by prefix', 'rocket lau', ['Rocket launch', 'A day at the beach']],
    ['no words by a prefix of two letters', 'ro', []],
    ['no words of other organisations by prefix', 'sec', []],
    ['nothing of the private description', 'embargo', []],
    ['nothing of other organisations', 'secrets', []],
    ['nothing if one word is missing', 'rocket submarine', []],
  ])('%s', async (_, query, expected) => {
    expect(await titles(query)).toEqual(expected)
  })
  test('videos of all organisations for the system', async () => {
    expect((await titles('rocket', { scope: null })).sort()).toEqual([
      'A day at the beach',
      'Rocket launch',
      'Rocket secrets of another tenant',
    ])
  })
  test('videos in the requested order', async () => {
    expect(await titles('launch', { order: 'title' })).toEqual(['A day at the beach', 'launch_day.final-cut.MP4', 'Rocket launch'])
    const byTime = await titles('launch', { order: 'create_time', descending: true })
    expect(byTime).toEqual(['launch_day.final-cut.MP4', 'A day at the beach', 'Rocket launch'])
  })
})

describe('typo correction', () => {
  test.each([
    ['two swapped letters', 'rocket lanuch', ['Rocket launch', 'A day at the beach']],
    ['a missing letter', 'roket', ['Rocket launch', 'A day at the beach']],
    ['an extra letter among correct words', 'rockett launch beach', ['Rocket launch', 'A day at the beach']],
    ['a wrong letter', 'Brüsken', ['Über Brücken']],
    ['numbers, which are not corrected', 'summer 2031', []],
    ['words that only another organisation has', 'secrett', []],
  ])('handles %s', async (_, query, expected) => {
    expect((await titles(query)).sort()).toEqual([...expected].sort())
  })
  test('is not applied if the exact words are found', async () => {
    await upload({ title: 'Racket sports' }, '2')
    await upload({ title: 'Rocket tennis' }, '2')
    expect(await titles('racket', { scope: '2' })).toEqual(['Racket sports'])
  })
})

describe('many similar words of another organisation', () => {
  const letters = [...'abcdefghijkl']
  /** Uploads titles with 144 words that start with `beginning`. */
  const uploadWords = async (beginning: string) => {
    for (const first of letters) await upload({ title: letters.map((second) => `${beginning}${first}${second}`).join(' ') }, '2')
  }
  test('do not hide a word that is searched by its prefix', async () => {
    await upload({ title: 'Quarzuhr' })
    expect(await titles('quar')).toEqual(['Quarzuhr'])
    await uploadWords('quar')
    expect(await titles('quar')).toEqual(['Quarzuhr'])
    expect(await titles('quarz')).toEqual(['Quarzuhr'])
    expect(await titles('quarz', { scope: '2' })).toEqual([])
  })
  test('do not hide a word that is searched with a typo', async () => {
    await upload({ title: 'Zeppelin' })
    for (const first of letters) await upload({ title: letters.map((second) => `zepelin${first}${second}`).join(' ') }, '2')
    expect(await titles('zepelin', { scope: '1' })).toEqual(['Zeppelin'])
  })
})

describe('a search with filters', () => {
  test('is limited by tag and state', async () => {
    expect(await titles('rocket', { tag: 'kids' })).toEqual(['A day at the beach'])
    expect(await titles('rocket', { tag: 'KIDS' })).toEqual([])
    expect(await titles('rocket', { state: 'ok' })).toEqual([])
    expect(await titles('rocket', { state: 'encoding' })).toHaveLength(2)
  })
  test('is limited to a folder, with and without words', async () => {
    const [folder] = await catalogue.db.query<{ folder_id: string }>(
      `insert into folder (organisation_id, name, description, created_by_user_id, last_modified_by_user_id)
       values (1, 'Clips', '', '7', '7') returning folder_id`,
    )
    await catalogue.db.query(
      `insert into folder_video (folder_id, video_id, organisation_id)
       select $1, video_id, 1 from video where title in ('Rocket launch', 'Über Brücken')`,
      [folder?.folder_id],
    )
    const folderId = folder?.folder_id ?? ''
    expect(await titles('rocket', { folderId })).toEqual(['Rocket launch'])
    expect(await titles('rocket', { folderId, scope: null })).toEqual(['Rocket launch'])
    expect(await titles('rocket', { folderId, scope: '2' })).toEqual([])
    const inFolder = async (overrides: Partial<VideoQuery>) => {
      const of: VideoQuery = { scope: '1', order: 'title', descending: false, folderId, ...overrides }
      const { videos } = await lists.page(of, { size: 100, token: '', skip: 0 }, () => 1)
      expect(await lists.count(of)).toBe(videos.length)
      return videos.map(({ title }) => title)
    }
    expect(await inFolder({})).toEqual(['Rocket launch', 'Über Brücken'])
    expect(await inFolder({ scope: null, tag: 'summer-2030' })).toEqual(['Rocket launch'])
    expect(await inFolder({ state: 'failed' })).toEqual([])
    expect(await inFolder({ scope: '2' })).toEqual([])
    expect(await inFolder({ folderId: '9007199254740991' })).toEqual([])
  })
  test('returns every match once and in order, page by page', async () => {
    for (let i = 0; i < 7; i++) await upload({ title: `Walk ${'walk '.repeat(i % 3)}number ${i}`, tags: i % 2 ? ['odd'] : [] })
    for (const more of [{}, { order: 'title' }, { order: 'create_time', descending: true }, { tag: 'odd' }] as Partial<VideoQuery>[]) {
      const of = createQuery('walk', more)
      const { videos: all } = await lists.page(of, { size: 100, token: '', skip: 0 }, () => 1)
      const videoIds: string[] = []
      let token = ''
      do {
        const page = await lists.page(of, { size: 2, token, skip: 0 }, () => 1)
        videoIds.push(...page.videos.map(({ videoId }) => videoId))
        token = page.nextPageToken
      } while (token !== '')
      expect(videoIds).toEqual(all.map(({ videoId }) => videoId))
      expect((await lists.page(of, { size: 2, token: '', skip: 2 }, () => 1)).videos).toEqual(all.slice(2, 4))
    }
  })
})

describe('the search index', () => {
  test('follows changes of titles, tags, descriptions and media titles, and deleted videos', async () => {
    const { videoId, mediaId } = await upload({ title: 'Meteor' })
    const change = (fields: Partial<VideoFields>) =>
      catalogue.videos.update({ scope: '1', videoId }, '7', (current) => ({ ...current, ...fields }))
    await change({ title: 'Comet', description: 'icy', tags: ['night'], mediaTitle: 'Reel' })
    expect(await titles('meteor', { order: 'title' })).toEqual([])
    for (const word of ['comet', 'icy', 'night', 'reel']) expect(await titles(word)).toEqual(['Comet'])
    expect(await titles('comet', { tag: 'night' })).toEqual(['Comet'])
    await catalogue.media.update({ scope: '1', mediaId }, (current) => ({ ...current, title: 'Spool' }))
    expect(await titles('spool')).toEqual(['Comet'])
    expect(await titles('reel')).toEqual([])
    await catalogue.media.remove({ scope: '1', mediaId }, { userId: '7', callerId: '7', notes: '' })
    expect(await titles('comet')).toEqual([])
  })
  test('contains the words of captions, for all videos of the media', async () => {
    const { mediaId } = await upload({ title: 'Spoken' })
    const captionId = await caption(mediaId, 'ignition sequence start')
    await catalogue.renewSpoken()
    expect(await titles('ignition spoken')).toEqual(['Spoken'])
    await catalogue.media.publish({ scope: '1', mediaId }, '7', createCall())
    expect(await titles('ignition')).toEqual(['Spoken', 'Spoken'])
    await catalogue.db.query(`update caption set plain_text = 'liftoff' where caption_id = $1`, [captionId])
    await catalogue.renewSpoken()
    expect(await titles('ignition')).toEqual([])
    expect(await titles('liftoff')).toEqual(['Spoken', 'Spoken'])
    const other = await upload({ title: 'Other' })
    await catalogue.db.query('update caption set media_id = $2 where caption_id = $1', [captionId, other.mediaId])
    await catalogue.renewSpoken()
    expect(await titles('liftoff')).toEqual(['Other'])
    await catalogue.db.query('delete from caption where caption_id = $1', [captionId])
    await catalogue.renewSpoken()
    expect(await titles('liftoff')).toEqual([])
  })
  test('combines caption and video words, within the organisation, state, tag and folder', async () => {
    const { mediaId } = await upload({ title: 'Harbour quiet', tags: ['port'] })
    await caption(mediaId, 'ships and gulls at the quay')
    await upload({ title: 'Harbour of ships' })
    await catalogue.renewSpoken()
    expect(await titles('harbour ships', { order: 'title' })).toEqual(['Harbour of ships', 'Harbour quiet'])
    expect(await titles('quay gulls')).toEqual(['Harbour quiet'])
    expect(await titles('quay harbour gulls quiet')).toEqual(['Harbour quiet'])
    expect(await titles('quay harbor gulls')).toEqual(['Harbour quiet'])
    for (const query of ['quay gulls', 'quay harbour']) {
      expect(await titles(query, { scope: null })).toEqual(['Harbour quiet'])
      expect(await titles(query, { scope: '2' })).toEqual([])
      expect(await titles(query, { tag: 'port', state: 'encoding' })).toEqual(['Harbour quiet'])
      expect(await titles(query, { tag: 'sea' })).toEqual([])
      expect(await titles(query, { state: 'ok' })).toEqual([])
    }
    expect(await titles('quay submarine')).toEqual([])
    expect(await titles(`~${mediaId} harbour`)).toEqual([])
  })
  test('contains captions that change while several indexers run', async () => {
    const medias = await Promise.all(Array.from({ length: 3 }, () => upload({ title: 'Together' })))
    for (let round = 0; round < 10; round++) {
      const changes = medias.map(({ mediaId }) => caption(mediaId, `moment${round}`))
      await Promise.all([...changes, catalogue.renewSpoken(), catalogue.renewSpoken()])
    }
    // A run that meets the lock of another run leaves the media to the next run.
    await catalogue.renewSpoken()
    for (let round = 0; round < 10; round++) expect(await titles(`moment${round}`)).toHaveLength(3)
    expect(await catalogue.db.query('select from caption_change')).toEqual([])
  })
  test('omits the captions of media that were deleted before indexing', async () => {
    const { mediaId } = await upload({ title: 'Short' })
    await caption(mediaId, 'vanishing')
    await catalogue.media.remove({ scope: '1', mediaId }, { userId: '7', callerId: '7', notes: '' })
    await catalogue.renewSpoken()
    expect(await catalogue.db.query('select from caption_search where media_id = $1', [mediaId])).toEqual([])
    expect(await catalogue.db.query('select from caption_change')).toEqual([])
  })
  test('does not block writers of captions, titles and videos of the same media', async () => {
    const { mediaId, videoId } = await upload({ title: 'Busy' })
    await caption(mediaId, 'first')
    await catalogue.renewSpoken()
    await catalogue.db.transaction(async (tx) => {
      await caption(mediaId, 'second')
      await tx.query('select update_caption_search($1)', [mediaId])
      await caption(mediaId, 'third')
      await catalogue.videos.update({ scope: '1', videoId }, '7', (current) => ({ ...current, title: 'Busier', mediaTitle: 'Busier' }))
      await catalogue.media.publish({ scope: '1', mediaId }, '7', createCall())
      // A concurrent run skips a media that is locked.
      expect(await catalogue.db.query('select update_caption_search($1) as renewed', [mediaId])).toEqual([{ renewed: false }])
    })
    expect(await titles('second')).toHaveLength(2)
    await catalogue.renewSpoken()
    expect(await titles('third')).toHaveLength(2)
  })
  test('contains captions of the maximum length with only distinct words', async () => {
    const { mediaId } = await upload({ title: 'Endless' })
    const words = Array.from({ length: 800_000 }, (_, index) =>
      String.fromCodePoint(0x4e00 + (index % 20_000), 0x4e00 + Math.floor(index / 20_000)),
    )
    for (let part = 0; part < 4; part++) await caption(mediaId, words.slice(part * 200_000, (part + 1) * 200_000).join(' '))
    await catalogue.renewSpoken()
    expect(await titles(words[0] ?? '')).toEqual(['Endless'])
    expect(await titles(words[80_000] ?? '')).toEqual(['Endless'])
    // Search reads words up to 250,000 characters in total.
    expect(await titles(words[90_000] ?? '')).toEqual([])
  })
})

describe('a query is safe with', () => {
  test.each([
    ['no word', '!!! --- ()'],
    ['white space', ' \t\u00a0'],
    ['query operators', `'a' & !'b' | c:* <-> d`],
    ['an unfinished quote', `rocket'`],
    ['backslashes', String.raw`\'; drop table video; --`],
    ['the marker of an organisation', '@2'],
    ['the marker of a tag', '#summer-2030'],
    ['wildcards', '% _ *'],
    ['a regular expression', '(a+)+$'.repeat(30)],
    ['one long word', 'x'.repeat(200)],
    ['a hundred words', 'q '.repeat(100)],
    ['a hundred different words', Array.from({ length: 66 }, (_, i) => `z${String.fromCodePoint(97 + (i % 26))}`).join(' ')],
    ['emoji', '🚀'.repeat(100)],
    ['direction marks', '\u202erocket\u202c\u200b'],
    ['an SQL sleep', `rocket'||pg_sleep(5)||'`],
  ])('%s', async (_, query) => {
    const started = performance.now()
    for (const title of await titles(query)) expect(title).not.toContain('another tenant')
    expect(performance.now() - started).toBeLessThan(extendTimeout(5_000))
  })
  test('a tag that looks like the marker of an organisation', async () => {
    await upload({ title: 'Marked', tags: ['@1', `'`, '\\'] }, '2')
    expect(await titles('marked')).toEqual([])
    for (const tag of ['@1', `'`, '\\']) expect(await titles('marked', { scope: '2', tag })).toEqual(['Marked'])
  })
})

test('a limited number of matches is ranked and counted', async () => {
  const { mediaId } = await upload({ title: 'Bulk' })
  for (let from = 1; from < 10_050; from += 201) {
    await catalogue.db.query(
      `insert into video select (jsonb_populate_record(v, jsonb_build_object('video_id', 1000000 + g, 'title', 'Crowd ' || g))).*
       from video v, generate_series($2::int, $2 + 200) g where v.media_id = $1 and v.title = 'Bulk'`,
      [mediaId, from],
    )
  }
  expect(await lists.count(createQuery('crowd'))).toBe(1_000)
  expect(await lists.count({ ...createQuery(''), query: undefined, order: 'title' })).toBeGreaterThan(10_050)
  const { videos } = await lists.page(createQuery('crowd'), { size: 20, token: '', skip: 990 }, () => 1)
  expect(videos).toHaveLength(10)
  // In a large scope, the newest videos are searched first, and all if the newest have too few
  // matches.
  const large = createVideoPages(catalogue.db, 1)
  expect(await large.count(createQuery('crowd'))).toBe(1_000)
  const newest = await large.page(createQuery('crowd'), { size: 20, token: '', skip: 990 }, () => 1)
  expect(newest.videos).toHaveLength(10)
  for (const query of ['crowd 17', 'rocket', 'rocket lanuch', 'crwd']) {
    const [first, second] = await Promise.all(
      [lists, large].map((of) => of.page(createQuery(query), { size: 20, token: '', skip: 0 }, () => 1)),
    )
    if (query !== 'crwd') expect(second?.videos).toEqual(first?.videos)
    expect(await large.count(createQuery(query))).toBe(await lists.count(createQuery(query)))
  }
}, 300_000)
