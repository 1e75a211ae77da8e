import { expect, test } from '@jest/globals'
import { isPlainAddress, parseSender } from './mail-address.ts'

test.each([
  ['Vitascope <no-reply@example.org>', { email: 'no-reply@example.org', name: 'Vitascope' }],
  ['no-reply@localhost', { email: 'no-reply@localhost', name: '' }],
  [' <a@b> ', { email: 'a@b', name: '' }],
  ['a@b, c@d', undefined],
  ['A <a@b> <c@d>', undefined],
  ['A <a@b>\r\nBcc: <c@d>', undefined],
  ['without-at', undefined],
])('parses %j as a sender', (text, expected) => {
  expect(parseSender(text)).toEqual(expected)
})

test.each(['a b@c', 'a@b@c', '<a@b>', 'a@b\n', 'a@b,c@d', '"a"@b', `${'a'.repeat(253)}@b`])('%j is not a plain address', (text) => {
  expect(isPlainAddress(text)).toBe(false)
})
