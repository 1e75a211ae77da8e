import { expect, test } from '@jest/globals'
import { parseMasterKeys } from './master-keys.ts'
import { ROTATION_STEPS, rotateKeys } from './rotate-keys.ts'
import { makeTokenKeys, parseTokenKeys } from './token-keys.ts'

const SECRET = 'a secret of this test, long enough'

test('a file with one secret is rotated to a new key in three steps', () => {
  const added = rotateKeys(`${SECRET}\n`, 'lines', 'add')
  expect(parseMasterKeys(added).map(({ version }) => version)).toEqual([1, 2])
  expect(parseMasterKeys(added)[0]).toEqual({ version: 1, secret: SECRET })
  const used = rotateKeys(added, 'lines', 'use')
  expect(parseMasterKeys(used)).toEqual(parseMasterKeys(added).toReversed())
  const removed = rotateKeys(used, 'lines', 'remove')
  expect(parseMasterKeys(removed)).toEqual([parseMasterKeys(used)[0]])
  expect(parseMasterKeys(rotateKeys(removed, 'lines', 'add')).map(({ version }) => version)).toEqual([2, 3])
})

test('token keys are rotated in the same steps', () => {
  const first = makeTokenKeys()
  const kids = (text: string) => parseTokenKeys(text).map(({ kid }) => kid)
  const added = rotateKeys(first, 'tokens', 'add')
  expect(kids(added)).toEqual([kids(first)[0], expect.any(String)])
  const used = rotateKeys(added, 'tokens', 'use')
  expect(kids(used)).toEqual(kids(added).toReversed())
  expect(kids(rotateKeys(used, 'tokens', 'remove'))).toEqual(kids(used).slice(0, 1))
})

test.each(['lines', 'tokens'] as const)('a step of %s that would leave the platform without a valid file is rejected', (format) => {
  const one = format === 'lines' ? SECRET : makeTokenKeys()
  for (const step of ['use', 'remove'] as const) expect(() => rotateKeys(one, format, step)).toThrow('there is one key')
  for (const step of ROTATION_STEPS) expect(() => rotateKeys('short', format, step)).toThrow()
  let text = one
  for (let keys = 1; keys < 8; keys++) text = rotateKeys(text, format, 'add')
  expect(() => rotateKeys(text, format, 'add')).toThrow('8 keys')
})
