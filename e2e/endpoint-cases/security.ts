import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Fixture, NounRows } from '../support/table-row.ts'

interface Check extends Record<string, unknown> {
  ip: string
  pass: string[]
  fail: string[]
}

const works = (path: string) => async (fixture: Fixture) => {
  const { clients, owner, playing, video } = fixture
  const open = (await video()).video_id
  const { video_id: bound, uri } = await playing()
  const ids = [open, bound]
  const check = async (address: string) => {
    const { status, body } = await clients.system.get<Check>(`${path}/${address}/?object_ids=${[...ids, '999999', 'x'].join(',')}`)
    expect([status, body.fail.slice(-2)]).toEqual([200, ['999999', 'x']])
    return { ip: body.ip, pass: body.pass, fail: body.fail.slice(0, -2) }
  }
  expect(await check('::ffff:192.0.2.7')).toEqual({ ip: '192.0.2.7', pass: ids, fail: [] })

  // Delivery applies the same rules to the address of this test, which is a loopback address.
  const restrict = (allowed_ips: string[]) => clients.owner.patch(`/video/${bound}`, { security: { allowed_ips } })
  await restrict(['192.0.2.0/24', '2001:db8::/32'])
  expect(await check('192.0.2.7')).toEqual({ ip: '192.0.2.7', pass: ids, fail: [] })
  expect(await check('2001:DB8:0::1')).toEqual({ ip: '2001:db8::1', pass: ids, fail: [] })
  expect(await check('127.0.0.1')).toEqual({ ip: '127.0.0.1', pass: [open], fail: [bound] })
  await waitFor(async () => (await fetch(uri.poster_frame)).status !== 200, { describe: 'delivery to reject' })
  await restrict(['127.0.0.0/8', '::1'])
  expect(await check('127.0.0.1')).toEqual({ ip: '127.0.0.1', pass: ids, fail: [] })

  // The rules of the organisation apply to videos without rules.
  const bind = async (allowed_ips: string[], fail: string[]) => {
    await clients.system.put(`/organisation/${owner.organisationId}`, { allowed_ips })
    await waitFor(async () => (await check('127.0.0.1')).fail.join() === fail.join(), { describe: 'the rules to reach the catalogue' })
  }
  await bind(['198.51.100.1'], [open])
  expect((await clients.guest.get(`/video/${open}`)).body).toMatchObject({ security: { is_ip_restricted: true } })
  await bind([], [])
  await restrict([])
  expect((await clients.guest.get(`/video/${bound}`)).body).toMatchObject({ security: { is_ip_restricted: false } })
}

const createRejectedCalls = (path: string) => async () => {
  const ids = '?object_ids=1'
  const get = { caller: 'system' as const, method: 'GET', status: 400 }
  return [
    ...['192.0.2', '0x7f.0.0.1', '300.1.1.1', 'fe80::1%25eth0', 'x'].map((address) => ({
      ...get,
      path: `${path}/${address}/${ids}`,
      fields: ['ip_address'],
    })),
    { ...get, path: `${path}/192.0.2.7`, fields: ['object_ids'] },
    { ...get, path: `${path}/192.0.2.7/?object_ids=`, fields: ['object_ids'] },
    { ...get, path: `${path}/192.0.2.7/?object_ids=${'1,'.repeat(1_001)}`, fields: ['object_ids'] },
    { ...get, path: `${path}/192.0.2.7/?object_ids=1,,2`, fields: ['object_ids'] },
    { method: 'GET', path: `${path}/192.0.2.7/${ids}`, status: 403, code: 'system_only' },
    { caller: 'guest' as const, method: 'GET', path: `${path}/192.0.2.7/${ids}`, status: 401 },
  ]
}

export const securityRows: NounRows = {
  noun: 'security',
  rows: [
    { endpoint: 'GET /security/ip/{ip_address}', works: works('/security/ip'), rejectedCalls: createRejectedCalls('/security/ip') },
    { endpoint: 'GET /security/{ip_address}', works: works('/security'), rejectedCalls: createRejectedCalls('/security') },
  ],
  samples: { payloads: {}, make: async () => ({ ip_address: '192.0.2.7' }) },
}
