import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Call, Principal } from '@vitascope/grpc'
import { buildOrganisation } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createPlaybackPolicyStore } from '../playback-policy/playback-policy-store.ts'
import { checkAddress, createFindAllowedIps } from './address-check.ts'
import { ipAllowlistHandlers } from './ip-allowlist-rpc.ts'

let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  await catalogue.organisations.apply(buildOrganisation({ organisationId: '3', allowedIps: ['192.0.2.0/24', '2001:db8::/32'] }))
})
afterAll(() => catalogue.close())

const toCall = (principal: Principal): Call => ({ principal, requestId: 'r', signal: new AbortController().signal })
const user = (userType: 'standard' | 'system') => toCall({ kind: 'user', keyId: '3', userId: '7', organisationId: '1', userType })
const check = (address: string, videoIds: string[], call = user('system')) =>
  ipAllowlistHandlers(createFindAllowedIps(catalogue.db)).checkAddress({ address, videoIds }, call)

test('the allowed IPs of the video apply, or else those of its organisation, as in delivery', async () => {
  const open = await catalogue.play()
  const own = await catalogue.play({ allowedIps: ['198.51.100.7'] })
  const organisation = await catalogue.play({}, { organisationId: '3' })
  const both = await catalogue.play({ allowedIps: ['198.51.100.7'] }, { organisationId: '3' })
  const ids = [open, own, organisation, both].map(({ videoId }) => videoId)
  const findAllowed = async (address: string) => {
    const { pass, fail } = await check(address, ids)
    expect([...pass, ...fail].sort()).toEqual([...ids].sort())
    return pass
  }
  expect(await findAllowed('203.0.113.1')).toEqual([open.videoId])
  expect(await findAllowed('198.51.100.7')).toEqual([open.videoId, own.videoId, both.videoId])
  expect(await findAllowed('::ffff:198.51.100.7')).toEqual([open.videoId, own.videoId, both.videoId])
  expect(await findAllowed('192.0.2.9')).toEqual([open.videoId, organisation.videoId])
  expect(await findAllowed('2001:DB8:0::9')).toEqual([open.videoId, organisation.videoId])
  const rules = createPlaybackPolicyStore(catalogue.db)
  const find = await createFindAllowedIps(catalogue.db)(ids)
  for (const id of ids) expect(find.get(id)).toEqual((await rules.find(id))?.allowedIps)
})

test('unknown ids fail once each, in the order of the request', async () => {
  const { videoId } = await catalogue.upload()
  const ids = ['8123456789012345678', videoId, 'x', '0', videoId, `1'--`, '8123456789012345678', '99999999999999999999']
  expect(await check('192.0.2.1', ids)).toEqual({
    pass: [videoId],
    fail: ['8123456789012345678', 'x', '0', `1'--`, '99999999999999999999'],
  })
})

test('invalid allowed IPs admit no address', async () => {
  const result = await checkAddress(async () => new Map([['1', ['nonsense']]]), { address: '192.0.2.1', videoIds: ['1'] })
  expect(result).toEqual({ pass: [], fail: ['1'] })
})

test('only system users may check an address, for at most 1,000 videos', async () => {
  await expect(check('192.0.2.1', [], user('standard'))).rejects.toMatchObject({ reason: 'SYSTEM_ONLY' })
  await expect(check('192.0.2.1', [], toCall({ kind: 'guest' }))).rejects.toMatchObject({ reason: 'KEY_REQUIRED' })
  for (const address of ['', '192.0.2', '0x7f.0.0.1', 'fe80::1%eth0']) {
    await expect(check(address, ['1'])).rejects.toMatchObject({ fields: [{ field: 'address' }] })
  }
  const ids = Array.from({ length: 1_001 }, (_, i) => String(i + 1))
  await expect(check('192.0.2.1', ids)).rejects.toMatchObject({ fields: [{ field: 'video_ids' }] })
  expect((await check('192.0.2.1', ids.slice(1))).fail).toHaveLength(1_000)
})
