import { expect, test } from '@jest/globals'
import { createKeyBox, sameBytes } from './key-box.ts'

const box = createKeyBox('a master key of this test, long enough')
const bound = Buffer.from('row 1')

test('what was sealed opens again, and no two sealings are alike', () => {
  const one = box.seal(Buffer.from('secret'), bound)
  const two = box.seal(Buffer.from('secret'), bound)
  expect(one.equals(two)).toBe(false)
  expect(box.open(one, bound).toString()).toBe('secret')
  expect(box.open(two, bound).toString()).toBe('secret')
})

test('it does not open changed, in another row, or under another master key', () => {
  const sealed = box.seal(Buffer.from('secret'), bound)
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed)
    changed[i] = (changed[i] ?? 0) ^ 1
    expect(() => box.open(changed, bound)).toThrow()
  }
  expect(() => box.open(sealed, Buffer.from('row 2'))).toThrow()
  expect(() => createKeyBox('another master key, long enough too').open(sealed, bound)).toThrow()
})

test('a look-up is the same each time, and another under another master key', () => {
  const other = createKeyBox('another master key, long enough too')
  expect(sameBytes(box.lookup('a'), box.lookup('a'))).toBe(true)
  expect(sameBytes(box.lookup('a'), box.lookup('b'))).toBe(false)
  expect(sameBytes(box.lookup('a'), other.lookup('a'))).toBe(false)
  expect(sameBytes(box.check, other.check)).toBe(false)
})
