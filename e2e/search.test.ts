import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { extendTimeout, waitFor } from '@vitascope/testing'
import type { Api } from './support/api.ts'
import { type Platform, startPlatform } from './support/platform.ts'
import { upload, type VideoRecord } from './support/video-steps.ts'

let fixture: Platform
const ids: Record<string, string> = {}
beforeAll(async () => {
  fixture = await startPlatform()
  for (const [name, more] of Object.entries({
    'Rocket launch': { description: 'Seen from the beach', tags: ['summer-2030'] },
    'A day at the beach': { description: 'With a rocket of paper, and a launch of it', tags: ['kids', 'summer-2030'] },
    'Evening news': { description: 'All that happened', description_private: 'Not before the embargo' },
  })) {
    ids[name] = (await fixture.video({ name, ...more })).video_id
  }
  const { id } = await upload(fixture.clients.otherTenant, fixture.otherTenant.organisationId, `${fixture.sources.url}/none.mp4`, {
    name: 'Rocket secrets',
  })
  ids['Rocket secrets'] = id
}, 120_000)
afterAll(() => fixture?.close())

interface List {
  start: number
  total_num_of_records: number
  videos: VideoRecord[]
  errors?: { field: string; message: string }[]
}

const call = (query: Record<string, string>, api: Api = fixture.clients.uploader) => api.get<List>(`/video?${new URLSearchParams(query)}`)

async function titles(query: Record<string, string>, api?: Api): Promise<string[]> {
  const { status, body } = await call(query, api)
  expect(status).toBe(200)
  expect(body.total_num_of_records).toBe(body.videos.length)
  return body.videos.map((video) => video['video_title' as keyof VideoRecord] as string)
}

describe('q', () => {
  test.each([
    ['rocket', ['Rocket launch', 'A day at the beach']],
    ['LAUNCH beach', ['A day at the beach', 'Rocket launch']],
    ['summer-2030 kids', ['A day at the beach']],
    ['rocket lanuch', ['Rocket launch', 'A day at the beach']],
    ['evning', ['Evening news']],
    ['embargo', []],
    ['secrets', []],
    ['submarine', []],
  ])('finds the video for %s', async (q, expected) => {
    expect((await titles({ q })).toSorted()).toEqual([...expected].toSorted())
  })
  test('lists the best match first, unless another order is requested', async () => {
    expect(await titles({ q: 'rocket' })).toEqual(['Rocket launch', 'A day at the beach'])
    expect(await titles({ q: 'rocket', sort_by: 'name' })).toEqual(['A day at the beach', 'Rocket launch'])
    expect(await titles({ q: 'rocket', sort_by: 'date_created', sort_order: 'descending' })).toEqual([
      'A day at the beach',
      'Rocket launch',
    ])
  })
  test('matches videos of the own organisation, and all videos for a system key', async () => {
    expect(await titles({ q: 'secrets' }, fixture.clients.otherTenant)).toEqual(['Rocket secrets'])
    expect(await titles({ q: 'rocket' }, fixture.clients.system)).toHaveLength(3)
    expect(await titles({ q: 'rocket', organisation_id: fixture.otherTenant.organisationId }, fixture.clients.system)).toEqual([
      'Rocket secrets',
    ])
    expect((await call({ q: 'rocket', organisation_id: fixture.otherTenant.organisationId })).status).toBe(403)
    expect((await call({ q: 'rocket' }, fixture.clients.guest)).status).toBe(401)
  })
  test('matches words of captions until they are deleted', async () => {
    const { body } = await fixture.clients.owner.get<VideoRecord>(`/video/${ids['Evening news']}`)
    const content = 'WEBVTT\n\n00:00.000 --> 00:01.000\nThe <b>harbour</b> was quiet\n'
    const caption = { media_id: body.media_id, title: 'English', language: 'en', content, format: 'vtt' }
    const response = await fixture.clients.owner.post<{ caption_id?: string; id?: string }>('/caption', caption)
    expect(response.status).toBeLessThan(300)
    await waitFor(async () => (await titles({ q: 'harbour quiet' })).includes('Evening news'), { describe: 'the captions to be found' })
    expect(await titles({ q: 'harbour quiet' })).toEqual(['Evening news'])
    expect(await titles({ q: 'harbour news' })).toEqual(['Evening news'])
    expect(await titles({ q: 'harbour' }, fixture.clients.otherTenant)).toEqual([])
    const captions = await fixture.clients.owner.get<{ captions: { data: { caption_id: string }[] } }>(`/video/${ids['Evening news']}`)
    await fixture.clients.owner.delete(`/caption/${captions.body.captions.data[0]?.caption_id}`)
    await waitFor(async () => (await titles({ q: 'harbour' })).length === 0, { describe: 'the captions to be found no more' })
  })
  test.each([
    ["'; drop table video; --"],
    ["') or true --"],
    ['\\'],
    ["a' & !b | c:* <-> d"],
    ['%'],
    ['@1'],
    ['((((a+)+)+)+)$'],
    ['!!!'],
    ['x'.repeat(200)],
    ['a '.repeat(100)],
    ['🚀'.repeat(200)],
    ["rocket'||pg_sleep(5)||'"],
  ])('%s is safe', async (q) => {
    const started = performance.now()
    const { status, body } = await call({ q })
    expect([status, body.videos.filter(({ organisation_id }) => organisation_id !== fixture.owner.organisationId)]).toEqual([200, []])
    expect(performance.now() - started).toBeLessThan(extendTimeout(5_000))
  })
  test('has at most 200 characters, and at least one', async () => {
    for (const q of ['x'.repeat(201), '', '  ', 'a\0b']) {
      const { status, body } = await call({ q })
      expect(status).toBe(400)
      if (!q.includes('\0')) expect(body.errors?.map(({ field }) => field)).toEqual(['q'])
    }
  })
})

test('filters are combined with AND', async () => {
  const { body } = await fixture.clients.owner.post<{ created: string }>('/folder', {
    organisation_id: fixture.owner.organisationId,
    name: 'Clips',
  })
  const folder_id = body.created
  for (const title of ['Rocket launch', 'Evening news']) await fixture.clients.owner.post(`/folder/${folder_id}/video/${ids[title]}/add`)
  expect(await titles({ folder_id, sort_by: 'name' })).toEqual(['Evening news', 'Rocket launch'])
  expect(await titles({ folder_id, q: 'rocket' })).toEqual(['Rocket launch'])
  expect(await titles({ folder_id, tag: 'summer-2030', status: 'failed' })).toEqual(['Rocket launch'])
  expect(await titles({ folder_id, tag: 'kids' })).toEqual([])
  expect(await titles({ folder_id, status: 'ok' })).toEqual([])
  expect(await titles({ q: 'rocket', tag: 'kids', status: 'failed' })).toEqual(['A day at the beach'])
  const missing = { status: 404, body: { code: 'folder_not_found' } }
  expect(await call({ folder_id }, fixture.clients.otherTenant)).toMatchObject(missing)
  expect(await call({ folder_id: '9007199254740991' })).toMatchObject(missing)
  expect((await call({ folder_id: 'x' })).body.errors?.map(({ field }) => field)).toEqual(['folder_id'])
})

describe('pages', () => {
  const walk = async (path: string, getVideos: (body: unknown) => VideoRecord[]): Promise<string[]> => {
    const ids: string[] = []
    for (let next = path, pages = 0; next !== '' && pages < 20; pages++) {
      const { status, body, headers } = await fixture.clients.owner.get<unknown>(next)
      expect(status).toBe(200)
      ids.push(...getVideos(body).map(({ video_id }) => video_id))
      next = /<[^>]*\/v2([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? ''
    }
    return ids
  }
  const listOwnIds = async () => (await call({ limit: '20' })).body.videos.map(({ video_id }) => video_id)

  test.each(['', '&sort_by=name', '&sort_order=descending', '&q=rocket', '&tag=summer-2030', '&status=failed'])(
    'are linked by Link headers, %s',
    async (more) => {
      const { body } = await fixture.clients.owner.get<List>(`/video?limit=20${more}`)
      const whole = body.videos.map(({ video_id }) => video_id)
      expect(whole.length).toBeGreaterThan(1)
      expect(await walk(`/video?limit=1${more}`, (page) => (page as List).videos)).toEqual(whole)
    },
  )
  test('of an organisation are linked as well', async () => {
    const endpointPath = `/video/organisation/${fixture.owner.organisationId}/date_created/asc`
    expect(await walk(`${endpointPath}?limit=1`, (page) => page as VideoRecord[])).toEqual(await listOwnIds())
  })
  test('start at 10,000 at most, and the error names the cursor', async () => {
    expect((await call({ start: '10000' })).body.videos).toEqual([])
    for (const path of ['/video?', `/video/organisation/${fixture.owner.organisationId}?`]) {
      const { status, body } = await fixture.clients.owner.get<List>(`${path}start=10001`)
      expect(status).toBe(400)
      expect(body.errors).toEqual([{ field: 'start', message: expect.stringContaining('Link') }])
    }
  })
  test('are rejected for an invalid cursor', async () => {
    for (const cursor of ['nonsense', 'WyJhIl0', '']) {
      const { status, body } = await call({ cursor })
      expect([status, body.errors?.map(({ field }) => field)]).toEqual([400, ['cursor']])
    }
  })
})
