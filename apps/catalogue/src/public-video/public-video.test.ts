import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { NO_COUNTRIES } from '@vitascope/country'
import { type Call, serviceCall } from '@vitascope/grpc'
import { PlaybackRule } from '@vitascope/proto/catalogue/v1/playback_rules'
import { ListPublicVideosRequest } from '@vitascope/proto/catalogue/v1/public_video'
import { buildOrganisation } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createPlaybackRulesStore } from '../playback-rules/playback-rules-store.ts'
import type { VideoFields } from '../video/video-fields.ts'
import { createVideoPages } from '../video/video-pages.ts'
import { createOpenVideosStore } from './open-videos-store.ts'
import { publicVideoHandlers } from './public-video-rpc.ts'

let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  for (const organisationId of ['5', '6', '7', '8', '9']) await catalogue.organisations.apply(buildOrganisation({ organisationId }))
})
afterAll(() => catalogue.close())

const list = (fields: Partial<ListPublicVideosRequest>, call: Call = serviceCall('gateway', 'r')) => {
  const parts = { lists: createVideoPages(catalogue.db), openVideos: createOpenVideosStore(catalogue.db), countries: NO_COUNTRIES }
  const handlers = publicVideoHandlers({ ...parts, publicUrl: 'https://video.example.org' })
  return handlers.listPublicVideos(ListPublicVideosRequest.fromPartial({ address: '192.0.2.1', ...fields }), call)
}
const listTitles = async (fields: Partial<ListPublicVideosRequest>) => (await list(fields)).videos?.map(({ title }) => title)
const play = (title: string, organisationId: string, fields: Partial<VideoFields> = {}) =>
  catalogue.play({ title, ...fields }, { organisationId })

describe('the list of public videos', () => {
  test('has what a page shows of a video, and no other fields', async () => {
    const { videoId } = await play('Launch', '5', { descriptionPrivate: 'secret' })
    await catalogue.upload({ title: 'Still encoding' }, { organisationId: '5' })
    expect(await list({ organisationId: '5' })).toEqual({
      videos: [
        { videoId, title: 'Launch', durationSeconds: 12.48, deliveryVersion: expect.stringMatching(/./), thumbnailPath: 'thumbnail.jpg' },
      ],
      nextPageToken: '',
    })
  })

  test('is for services only, and has limits', async () => {
    const caller = (principal: Call['principal']) => ({ ...serviceCall('gateway', 'r'), principal })
    const system = { kind: 'user', keyId: '3', userId: '7', organisationId: '5', userType: 'system' } as const
    for (const principal of [system, { kind: 'guest' } as const])
      await expect(list({ organisationId: '5' }, caller(principal))).rejects.toMatchObject({ reason: 'SERVICE_ONLY' })
    await expect(list({ organisationId: '5', pageSize: 25 })).rejects.toMatchObject({ fields: [{ field: 'page_size' }] })
    await expect(list({ organisationId: '5', query: 'x'.repeat(201) })).rejects.toMatchObject({ fields: [{ field: 'query' }] })
    await expect(list({ organisationId: '5', pageToken: 'x' })).rejects.toMatchObject({ reason: 'INVALID_INPUT' })
    for (const organisationId of ['', 'x', '999999']) expect(await list({ organisationId })).toEqual({ videos: [], nextPageToken: '' })
  })

  test('continues after videos that are not listed, and checks at most 240 per call', async () => {
    await play('The oldest', '6')
    for (let nth = 0; nth < 30; nth++) await play(`Private ${nth}`, '6', { visibility: 'private' })
    await play('The newest', '6')
    const first = await list({ organisationId: '6', pageSize: 2 })
    // Each of the 10 reads has at most 2 rows, and after the first one at most 1.
    expect([first.videos?.map(({ title }) => title), first.nextPageToken]).toEqual([['The newest'], expect.stringMatching(/./)])
    const titles: string[] = []
    for (let token = first.nextPageToken ?? ''; token !== ''; ) {
      const page = await list({ organisationId: '6', pageSize: 2, pageToken: token })
      titles.push(...(page.videos ?? []).map(({ title = '' }) => title))
      token = page.nextPageToken ?? ''
    }
    expect(titles).toEqual(['The oldest'])
    expect(await listTitles({ organisationId: '6' })).toEqual(['The newest', 'The oldest'])
  }, 60_000)

  test('applies playback rules to the viewer and to the page of the platform', async () => {
    const rules = createPlaybackRulesStore(catalogue.db)
    const allow = async (title: string, when: Record<string, unknown>) => {
      const { videoId } = await play(title, '7')
      await rules.set({ videoId, scope: '7' }, { defaultDecision: 'deny', rules: [PlaybackRule.fromPartial({ allows: true, when })] })
    }
    await allow('For a network', { cidr: ['198.51.100.0/24'] })
    await allow('On another site', { domain: ['example.com'] })
    await allow('On this site', { domain: ['video.example.org'] })
    await allow('Later', { from: new Date('2999-01-01') })
    await allow('Pages without files', { kind: ['page'] })
    expect(await listTitles({ organisationId: '7' })).toEqual(['On this site'])
    expect(await listTitles({ organisationId: '7', address: '198.51.100.7' })).toEqual(['On this site', 'For a network'])
  })

  test('is empty for an inactive organisation, and for one that restricts addresses', async () => {
    await play('Launch', '8')
    await play('Launch', '9')
    expect(await listTitles({ organisationId: '8' })).toEqual(['Launch'])
    await catalogue.organisations.apply(buildOrganisation({ organisationId: '8', revision: 2, active: false }))
    await catalogue.organisations.apply(buildOrganisation({ organisationId: '9', revision: 2, allowedIps: ['192.0.2.0/24'] }))
    expect([await listTitles({ organisationId: '8' }), await listTitles({ organisationId: '9' })]).toEqual([[], []])
  })
})
