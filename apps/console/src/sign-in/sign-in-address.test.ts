import { expect, test } from '@jest/globals'
import { readProviderReturn, readSignInLink } from './sign-in-address.ts'

test.each([
  ['', undefined],
  ['#link=', undefined],
  ['#link=abc', { secret: 'abc', isFirstUser: false }],
  ['#link=abc&first', { secret: 'abc', isFirstUser: true }],
])('the address with %j has the link %j', (hash, link) => {
  expect(readSignInLink(hash)).toEqual(link)
})

test.each([
  ['', undefined],
  ['?code=a', undefined],
  ['?error=access_denied', undefined],
  ['?code=a&state=b', { response: { code: 'a', state: 'b' } }],
  ['?code=a&state=b&iss=https%3A%2F%2Fid.example', { response: { code: 'a', state: 'b', iss: 'https://id.example' } }],
  ['?error=access_denied&state=b', { error: 'access_denied' }],
])('the address with %j is the return %j of a provider', (search, expected) => {
  expect(readProviderReturn(search)).toEqual(expected)
})
