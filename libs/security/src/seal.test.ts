import { expect, test } from '@jest/globals'
import { fixedMasterKeys } from './master-keys.ts'
import { createSeal, deriveKey } from './seal.ts'

const plain = Buffer.from('a secret text')
const row = Buffer.from('row 1')

test('a value sealed for one purpose cannot be opened for another', () => {
  const one = createSeal(fixedMasterKeys('a master key of this test, long enough'), 'one purpose')
  const sealed = one.seal(plain, row)
  expect(one.open(sealed, row)).toEqual(plain)
  expect(sealed.toString('latin1')).not.toContain('secret')
  expect(() => createSeal(fixedMasterKeys('a master key of this test, long enough'), 'another purpose').open(sealed, row)).toThrow()
  expect(() => createSeal(fixedMasterKeys('another master key of it, long enough'), 'one purpose').open(sealed, row)).toThrow()
  expect(() => one.open(sealed, Buffer.from('row 2'))).toThrow()
  expect(() => one.open(Buffer.alloc(0), row)).toThrow('unknown format')
})

test('a derived key is the same each time, and differs between purposes', () => {
  expect(deriveKey('master', 'one')).toEqual(deriveKey('master', 'one'))
  expect(deriveKey('master', 'one')).not.toEqual(deriveKey('master', 'two'))
  expect(deriveKey('master', 'one')).toHaveLength(32)
})
