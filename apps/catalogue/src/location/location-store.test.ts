import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createPlacedVideoStore } from './placed-video-store.ts'
import { createPostcodeStore } from './postcode-store.ts'

let catalogue: CatalogueDatabase

beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
afterAll(() => catalogue.close())

test('a postcode in several countries is resolved in the requested country, or else in the first by code', async () => {
  const postcodes = createPostcodeStore(catalogue.db)
  expect(await postcodes.find('33602', undefined)).toEqual({ postcode: '33602', country: 'DE', latitude: 52.02, longitude: 8.53 })
  expect(await postcodes.find('33602', 'US')).toMatchObject({ country: 'US', latitude: 27.95 })
  expect(await postcodes.find('33602', 'FR')).toBeUndefined()
  expect(await postcodes.find('00000', undefined)).toBeUndefined()
})

describe('videos by place', () => {
  const buildLocation = (country: string, city: string) => ({
    location: { country, city, postcode: '', latitude: 1, longitude: undefined },
  })
  const page = (
    name: string,
    more: { organisationId?: string; part?: 'country' | 'city'; size?: number; token?: string; skip?: number } = {},
  ) => {
    const { organisationId = '1', part: field = 'country', size = 100, token = '', skip = 0 } = more
    return createPlacedVideoStore(catalogue.db).page({ organisationId, field, name }, { size, token, skip })
  }
  const ids = async (...args: Parameters<typeof page>) => (await page(...args)).videos.map(({ videoId }) => videoId)

  test('belong to the organisation and match in any case, oldest first', async () => {
    const first = await catalogue.upload({ title: 'First', ...buildLocation('Österreich', 'Zürich') })
    const second = await catalogue.upload(buildLocation('österreich', 'ZÜRICH'))
    await catalogue.upload(buildLocation('Österreich', 'Zürich'), { organisationId: '2' })
    await catalogue.upload(buildLocation('Austria', 'Wien'))
    await catalogue.upload({})
    const both = [first.videoId, second.videoId]
    expect(await ids('ÖSTERREICH')).toEqual(both)
    expect(await ids('zürich', { part: 'city' })).toEqual(both)
    expect(await ids('Österreich', { organisationId: '2' })).toHaveLength(1)
    expect(await ids('')).toEqual([])
    expect(await ids(`' or true --`)).toEqual([])
    expect((await page('Österreich')).videos[0]).toEqual({
      videoId: first.videoId,
      title: 'First',
      location: { country: 'Österreich', city: 'Zürich', postcode: '', latitude: 1 },
    })
  })
  test('are listed in pages without a gap', async () => {
    for (let count = 0; count < 7; count++) await catalogue.upload(buildLocation('NL', 'Delft'))
    const whole = await ids('nl')
    const read: string[] = []
    for (let token: string | undefined = ''; token !== undefined; ) {
      const { videos, nextPageToken }: Awaited<ReturnType<typeof page>> = await page('nl', { size: 3, token })
      read.push(...videos.map(({ videoId }) => videoId))
      token = nextPageToken || undefined
    }
    expect(read).toEqual(whole)
    expect(whole).toHaveLength(7)
    expect(await ids('nl', { size: 2, skip: 5 })).toEqual(whole.slice(5))
    await expect(page('nl', { token: 'x' })).rejects.toMatchObject({ kind: 'invalid' })
  })
  test.each(['country', 'city'] as const)('are found through an index of their %s', async (part) => {
    const plan = await catalogue.db.transaction(async (tx) => {
      await tx.query('set local enable_seqscan = off')
      return tx.query<{ 'QUERY PLAN': string }>(
        `explain select video_id from video where organisation_id = 1 and location is not null and lower(location ->> '${part}') = lower('x')
         and (create_time, video_id) > ('-infinity'::timestamptz, 0) order by create_time, video_id limit 10`,
      )
    })
    const text = plan.map((row) => row['QUERY PLAN']).join('\n')
    expect(text).toContain(`video_location_${part}`)
    expect(text).not.toContain('Sort')
  })
})
