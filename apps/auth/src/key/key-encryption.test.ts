import { expect, test } from '@jest/globals'
import { fixedMasterKeys } from '@vitascope/security'
import { createKeyCipher, sameBytes } from './key-encryption.ts'

const box = createKeyCipher(fixedMasterKeys('a master key of this test, long enough'))
const bound = Buffer.from('row 1')

test('sealed values can be opened, and sealing the same value twice gives different bytes', () => {
  const one = box.seal(Buffer.from('secret'), bound)
  const two = box.seal(Buffer.from('secret'), bound)
  expect(one.equals(two)).toBe(false)
  expect(box.open(one, bound).toString()).toBe('secret')
  expect(box.open(two, bound).toString()).toBe('secret')
})

test('opening fails for changed bytes, another row and another master key', () => {
  const sealed = box.seal(Buffer.from('secret'), bound)
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed)
    changed[i] = (changed[i] ?? 0) ^ 1
    expect(() => box.open(changed, bound)).toThrow()
  }
  expect(() => box.open(sealed, Buffer.from('row 2'))).toThrow()
  expect(() => createKeyCipher(fixedMasterKeys('another master key, long enough too')).open(sealed, bound)).toThrow()
})

test('the lookup hash of a key is stable, and differs under another master key', () => {
  const other = createKeyCipher(fixedMasterKeys('another master key, long enough too'))
  expect(sameBytes(box.lookup('a'), box.lookup('a'))).toBe(true)
  expect(sameBytes(box.lookup('a'), box.lookup('b'))).toBe(false)
  expect(sameBytes(box.lookup('a'), other.lookup('a'))).toBe(false)
  expect(sameBytes(box.check(), other.check())).toBe(false)
})

test('values and hashes of an older master key in the file are found, and new ones use the first master key', () => {
  const secrets = ['the first master key of this test, long', 'the second master key of this test, long']
  const before = createKeyCipher(fixedMasterKeys(`${secrets[0]}`))
  const both = createKeyCipher(fixedMasterKeys(`2:${secrets[1]}\n1:${secrets[0]}`))
  const after = createKeyCipher(fixedMasterKeys(`2:${secrets[1]}`))
  const bound = Buffer.from('row 1')
  const [old, fresh] = [before.seal(Buffer.from('a value'), bound), both.seal(Buffer.from('a value'), bound)]
  expect(both.open(old, bound).toString()).toBe('a value')
  expect(after.open(fresh, bound).toString()).toBe('a value')
  expect(() => after.open(old, bound)).toThrow('version 1 of the master key, which is missing')
  expect([old.subarray(0, 1), fresh.subarray(0, 3)]).toEqual([before.prefix(), after.prefix()])
  expect(both.lookups('a')).toEqual([after.lookup('a'), before.lookup('a')])
  expect(both.checks()).toEqual([after.check(), before.check()])
})
