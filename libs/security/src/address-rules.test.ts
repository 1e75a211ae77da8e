import { expect, test } from '@jest/globals'
import { normaliseAddress } from './address.ts'
import { isAddressAllowed, parseAddressRules } from './address-rules.ts'

test.each([
  ['192.0.2.7', ['192.0.2.7'], true],
  ['192.0.2.8', ['192.0.2.7'], false],
  ['192.0.2.8', ['10.0.0.0/8', '192.0.2.0/24'], true],
  ['192.0.3.8', ['10.0.0.0/8', '192.0.2.0/24'], false],
  ['192.0.2.8', ['192.0.2.77/24'], true],
  ['::ffff:192.0.2.8', ['192.0.2.0/24'], true],
  ['::ffff:c000:0208', ['192.0.2.0/24'], true],
  ['192.0.2.8', ['::ffff:192.0.2.0/120'], true],
  ['192.0.3.8', ['::ffff:192.0.2.0/120'], false],
  ['2001:db8::1', ['2001:db8::/32'], true],
  ['2001:DB8:0:0::1', ['2001:db8::1'], true],
  ['2001:db9::1', ['2001:db8::/32'], false],
  ['1.2.3.4', ['0.0.0.0/0'], true],
  ['2001:db8::1', ['0.0.0.0/0'], false],
  ['1.2.3.4', ['::/0'], false],
  ['not an address', ['0.0.0.0/0', '::/0'], false],
  ['fe80::1%eth0', ['::/0'], false],
  ['not an address', [], true],
])('address %s with the rules %j: %p', (address, texts, allowed) => {
  expect(isAddressAllowed(address, parseAddressRules(texts).rules ?? [])).toBe(allowed)
})

test('rules are normalised to one notation', () => {
  const { rules } = parseAddressRules([' 192.0.2.77/24 ', '2001:DB8::0001', '::ffff:10.0.0.0/104'])
  expect(rules?.map((rule) => rule.text)).toEqual(['192.0.2.0/24', '2001:db8::1/128', '10.0.0.0/8'])
})

test('every invalid rule is reported', () => {
  const texts = [
    '192.0.2.1',
    '192.0.2',
    '192.0.2.1/33',
    '010.0.0.1',
    '0x7f.0.0.1',
    '::1/129',
    '::ffff:1.2.3.4/95',
    '1.2.3.4/-1',
    '1.2.3.4/',
    '1.2.3.4/08',
    '',
    'a',
  ]
  const { errors } = parseAddressRules(texts, 'security.allowed_ips')
  expect(errors?.map((error) => error.field)).toEqual(texts.slice(1).map((_, i) => `security.allowed_ips[${i + 1}]`))
})

test.each([
  ['::FFFF:1.2.3.4', '1.2.3.4'],
  ['1.2.3.4', '1.2.3.4'],
  ['2001:0db8:0:0:0:0:0:1', '2001:db8::1'],
  ['127.1', undefined],
  ['2130706433', undefined],
  ['fe80::1%eth0', undefined],
])('%s is the same address as %s', (text, address) => {
  expect(normaliseAddress(text)).toBe(address)
})
