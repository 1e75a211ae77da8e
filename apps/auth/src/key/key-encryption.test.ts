import { expect, test } from '@jest/globals'
import { fixedMasterKeys } from '@vitascope/security'
import { createKeyCipher, sameBytes } from './key-encryption.ts'

const cipher = createKeyCipher(fixedMasterKeys('a master key of this test, long enough'))
const bound = Buffer.from('row 1')

test('sealed values can be opened, and sealing the same value twice gives different bytes', () => {
  const one = cipher.seal(Buffer.from('secret'), bound)
  const two = cipher.seal(Buffer.from('secret'), bound)
  expect(one.equals(two)).toBe(false)
  expect(cipher.open(one, bound).toString()).toBe('secret')
  expect(cipher.open(two, bound).toString()).toBe('secret')
})

test('opening fails for changed bytes, another row and another master key', () => {
  const sealed = cipher.seal(Buffer.from('secret'), bound)
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed)
    changed[i] = (changed[i] ?? 0) ^ 1
    expect(() => cipher.open(changed, bound)).toThrow()
  }
  expect(() => cipher.open(sealed, Buffer.from('row 2'))).toThrow()
  expect(() => createKeyCipher(fixedMasterKeys('another master key, long enough too')).open(sealed, bound)).toThrow()
})

test('the lookup hash of a key is stable, and differs under another master key', () => {
  const other = createKeyCipher(fixedMasterKeys('another master key, long enough too'))
  expect(sameBytes(cipher.hash('a'), cipher.hash('a'))).toBe(true)
  expect(sameBytes(cipher.hash('a'), cipher.hash('b'))).toBe(false)
  expect(sameBytes(cipher.hash('a'), other.hash('a'))).toBe(false)
  expect(sameBytes(cipher.check(), other.check())).toBe(false)
})

test('values and hashes of an older master key in the file stay usable, and new ones use the first master key', () => {
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
  expect(both.lookups('a')).toEqual([after.hash('a'), before.hash('a')])
  expect(both.checks()).toEqual([after.check(), before.check()])
})
