import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { buildOrganisation, createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import type { ThemeFields } from './theme.ts'
import { createThemeStore, type ThemeStore } from './theme-store.ts'

let catalogue: CatalogueDatabase
let themes: ThemeStore
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  themes = createThemeStore(catalogue.db)
})
afterAll(() => catalogue.close())

const colours = {
  backgroundColour: '#000000',
  textColour: '#000001',
  iconColour: '#000002',
  controlBarColour: '#000003',
  overlayTextColour: '#000004',
  overlayBackgroundColour: '#000005',
  overlayLinkColour: '',
}
const fields: ThemeFields = { title: `"'; drop table theme;-- \u2028`, skin: 'flat', ...colours }
const make = (organisationId = '1', more: Partial<ThemeFields> = {}) =>
  themes.create({ organisationId, userId: '7', fields: { ...fields, ...more } }, createCall())

const forgeToken = (values: string[]) => Buffer.from(JSON.stringify(values)).toString('base64url')
const badToken = { kind: 'invalid', fields: [{ field: 'page_token' }] }

test('a theme is returned as stored and as changed', async () => {
  const theme = await make()
  expect(theme).toEqual({ themeId: expect.stringMatching(/^\d+$/), organisationId: '1', updateTime: expect.any(Date), ...fields })
  const key = { scope: '1', themeId: theme.themeId }
  expect(await themes.find(key)).toEqual(theme)
  const changed = await themes.update(key, '8', (current) => ({ ...current, skin: undefined, overlayLinkColour: '#ABCDEF' }))
  expect(changed).toEqual({ ...theme, updateTime: changed.updateTime, skin: undefined, overlayLinkColour: '#ABCDEF' })
  expect(changed.updateTime.getTime()).toBeGreaterThan(theme.updateTime.getTime())
  expect(await themes.find(key)).toEqual(changed)
})

test('a theme of another organisation is not found', async () => {
  const { themeId } = await make()
  const key = { scope: '2', themeId }
  const expectedError = { kind: 'not_found', reason: 'THEME_NOT_FOUND', message: `no theme ${themeId}` }
  expect(await themes.find(key)).toBeUndefined()
  await expect(themes.update(key, '8', (current) => current)).rejects.toMatchObject(expectedError)
  await expect(themes.remove(key)).rejects.toMatchObject(expectedError)
  expect(await themes.find({ scope: null, themeId })).toMatchObject({ themeId })
})

test('a list pages in the order of creation, within its organisation', async () => {
  await catalogue.organisations.apply(buildOrganisation({ organisationId: '3' }))
  for (const title of ['a', 'b', 'c', 'd']) await make('3', { title })
  const first = await themes.list('3', { size: 2, token: '', skip: 1 })
  expect(first.themes.map(({ title }) => title)).toEqual(['b', 'c'])
  const second = await themes.list('3', { size: 2, token: first.nextPageToken, skip: 0 })
  expect([second.themes.map(({ title }) => title), second.nextPageToken]).toEqual([['d'], ''])
  for (const values of [['x'], ['0'], ['-1'], ['1', '2'], ['9223372036854775808']]) {
    await expect(themes.list('3', { size: 2, token: forgeToken(values), skip: 0 })).rejects.toMatchObject(badToken)
  }
})

describe('videos', () => {
  test('with a theme are listed oldest first, and have none after its deletion', async () => {
    const theme = await make()
    const { themeId } = theme
    const ids: string[] = []
    for (const title of ['a', 'b', 'c']) ids.push((await catalogue.upload({ title, themeId })).videoId)
    await catalogue.upload()
    const first = await themes.listVideos(theme, { size: 2, token: '', skip: 0 })
    const second = await themes.listVideos(theme, { size: 2, token: first.nextPageToken, skip: 0 })
    const all = [...first.videos, ...second.videos]
    expect(all.map(({ title }) => title)).toEqual(['a', 'b', 'c'])
    expect(all.map(({ videoId }) => videoId)).toEqual(ids)
    expect(second.nextPageToken).toBe('')
    for (const values of [['x', '1'], ['-1', '1'], ['1', 'x'], ['1', '0'], ['1'], ['9999999999999999', '1']]) {
      await expect(themes.listVideos(theme, { size: 2, token: forgeToken(values), skip: 0 })).rejects.toMatchObject(badToken)
    }
    await themes.remove({ scope: '1', themeId })
    await expect(themes.remove({ scope: '1', themeId })).rejects.toMatchObject({ reason: 'THEME_NOT_FOUND' })
    for (const videoId of ids) expect(await catalogue.videos.find('1', videoId)).toMatchObject({ themeId: '' })
  })
  test('have their own theme, or else the default theme of their organisation', async () => {
    const organisation = (revision: number, defaultThemeId: string) =>
      catalogue.organisations.apply({ ...buildOrganisation({ organisationId: '6', revision }), defaultThemeId })
    await organisation(1, '')
    const [own, usual, foreign] = [await make('6'), await make('6'), await make('1')]
    const { videoId } = await catalogue.upload({ themeId: own.themeId }, { organisationId: '6' })
    const plain = await catalogue.upload({}, { organisationId: '6' })
    expect(await themes.findOfVideo(videoId)).toEqual(own)
    expect(await themes.findOfVideo(plain.videoId)).toBeUndefined()
    await organisation(2, usual.themeId)
    expect(await themes.findOfVideo(videoId)).toEqual(own)
    expect(await themes.findOfVideo(plain.videoId)).toEqual(usual)
    const expectedError = {
      kind: 'failed_precondition',
      reason: 'THEME_IN_USE',
      message: expect.stringContaining('another default_theme_id'),
    }
    await expect(themes.remove({ scope: null, themeId: usual.themeId })).rejects.toMatchObject(expectedError)
    await organisation(3, foreign.themeId)
    expect(await themes.findOfVideo(plain.videoId)).toBeUndefined()
    expect(await themes.findOfVideo('8123456789012345678')).toBeUndefined()
    await themes.remove({ scope: null, themeId: usual.themeId })
  })
  test('cannot have an unknown theme or one of another organisation', async () => {
    const { videoId } = await catalogue.upload()
    for (const themeId of ['999999', (await make('2')).themeId]) {
      const update = catalogue.videos.update({ scope: '1', videoId }, '8', (current) => ({ ...current, themeId, title: 'X' }))
      await expect(update).rejects.toMatchObject({ kind: 'not_found', reason: 'THEME_NOT_FOUND' })
      await expect(catalogue.upload({ themeId })).rejects.toMatchObject({ reason: 'THEME_NOT_FOUND' })
    }
    expect(await catalogue.videos.find('1', videoId)).toMatchObject({ themeId: '', title: 'Launch' })
  })
})
