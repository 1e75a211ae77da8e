import { expect, test } from '@jest/globals'
import { makeTokenKeys, parseTokenKeys } from './token-keys.ts'

const secret = Buffer.alloc(32, 'secret').toString('base64url')

test('a generated file can be read back, and each file has a different key', () => {
  const [one, two] = [makeTokenKeys(), makeTokenKeys()]
  expect(parseTokenKeys(one)).toHaveLength(1)
  expect(one).not.toBe(two)
  expect(JSON.stringify(parseTokenKeys(one))).not.toContain(JSON.parse(one)[0].secret)
})

test.each([
  ['invalid JSON', `[{"kid":"a","secret":"${secret}"`],
  ['no array', '{}'],
  ['no keys', '[]'],
  ['a key that is not an object', '[null]'],
  ['a key without kid', `[{"secret":"${secret}"}]`],
  ['a kid with a space', `[{"kid":"a b","secret":"${secret}"}]`],
  ['a short secret', `[{"kid":"a","secret":"${secret.slice(4)}"}]`],
  ['a secret with padding', `[{"kid":"a","secret":"${secret}="}]`],
  ['a secret that is no text', '[{"kid":"a","secret":1}]'],
  ['a kid twice', JSON.stringify([1, 2].map(() => ({ kid: 'a', secret })))],
  ['too many keys', JSON.stringify(Array.from({ length: 9 }, (_, i) => ({ kid: `k${i}`, secret })))],
])('a file with %s is rejected, and the error does not contain the secret', (_, text) => {
  let message = ''
  try {
    parseTokenKeys(text)
  } catch (error) {
    message = String(error)
  }
  expect(message).toMatch(/^Error: token keys: /)
  expect(message).not.toContain(secret.slice(4, 12))
})
