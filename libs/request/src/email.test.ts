import { expect, test } from '@jest/globals'
import { checkEmail } from './email.ts'

test.each(['a@b', 'Ann.Lee+tag@mail.example.org', 'ü@exämple.org', `${'a'.repeat(64)}@${'b'.repeat(63)}.org`])(
  '%s is an email address',
  (text) => {
    expect(checkEmail('email', text)).toEqual([])
  },
)

test.each([
  '',
  'a',
  '@b',
  'a@',
  'a b@c',
  'a@b@c',
  'a@b..c',
  'a@-b',
  'a@b.',
  'a\0@b',
  'a@b\n',
  '<a@b>',
  `a@${'b'.repeat(64)}`,
  `${'a'.repeat(64)}@${'b.'.repeat(100)}org`,
])('%j is not an email address', (text) => {
  expect(checkEmail('email', text)).toHaveLength(1)
})
