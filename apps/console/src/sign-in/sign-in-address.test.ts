import { expect, test } from '@jest/globals'
import { readProviderResponse, readSignInLink } from './sign-in-address.ts'

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
  ['?code=a&state=b', { code: 'a', state: 'b' }],
  ['?code=a&state=b&iss=https%3A%2F%2Fid.example', { code: 'a', state: 'b', iss: 'https://id.example' }],
])('the address with %j has the response %j', (search, response) => {
  expect(readProviderResponse(search)).toEqual(response)
})
