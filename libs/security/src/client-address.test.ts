// Faults: K16
import type { IncomingMessage } from 'node:http'
import { expect, test } from '@jest/globals'
import { parseAddressRules } from './address-rules.ts'
import { clientAddress } from './client-address.ts'

const trusted = parseAddressRules(['10.0.0.0/8', '2001:db8:1::/48']).rules ?? []
const from = (remoteAddress: string, forwarded?: string | string[]) =>
  ({ socket: { remoteAddress }, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage

test.each([
  ['no proxy', '198.51.100.7', undefined, '198.51.100.7'],
  ['a mapped address', '::ffff:198.51.100.7', undefined, '198.51.100.7'],
  ['a forged header without a proxy', '198.51.100.7', '203.0.113.1', '198.51.100.7'],
  ['one proxy', '10.1.1.1', '203.0.113.1', '203.0.113.1'],
  ['one proxy and a forged entry', '10.1.1.1', '1.1.1.1, 203.0.113.1', '203.0.113.1'],
  ['one proxy and a forged proxy entry', '10.1.1.1', '10.9.9.9, 203.0.113.1', '203.0.113.1'],
  ['two proxies', '10.1.1.1', '203.0.113.1, 10.2.2.2', '203.0.113.1'],
  ['two proxies and a forged entry', '10.1.1.1', '1.1.1.1, 203.0.113.1, 10.2.2.2', '203.0.113.1'],
  ['two headers', '10.1.1.1', ['1.1.1.1', '203.0.113.1'], '203.0.113.1'],
  ['only proxies', '10.1.1.1', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
  ['a proxy without a header', '10.1.1.1', undefined, '10.1.1.1'],
  ['an empty header', '10.1.1.1', '', '10.1.1.1'],
  ['junk', '10.1.1.1', 'unknown', '10.1.1.1'],
  ['junk before an address', '10.1.1.1', 'junk, 203.0.113.1', '203.0.113.1'],
  ['junk after an address', '10.1.1.1', '203.0.113.1, junk', '10.1.1.1'],
  ['an address with a port', '10.1.1.1', '203.0.113.1:443', '10.1.1.1'],
  ['another notation', '10.1.1.1', '0313.0.113.1', '10.1.1.1'],
  ['IPv6', '2001:db8:1::5', '2001:db8:2:0:0:0:0:7', '2001:db8:2::7'],
  ['a forged mapped address', '10.1.1.1', '::ffff:203.0.113.1', '203.0.113.1'],
  ['a thousand hops', '10.1.1.1', `${'1.1.1.1, '.repeat(1_000)}203.0.113.1`, '203.0.113.1'],
])('returns the client address for %s', (_, peer, forwarded, address) => {
  expect(clientAddress(from(peer, forwarded), trusted)).toBe(address)
})

test('without trusted proxies the header is ignored', () => {
  expect(clientAddress(from('10.1.1.1', '203.0.113.1'), [])).toBe('10.1.1.1')
})
