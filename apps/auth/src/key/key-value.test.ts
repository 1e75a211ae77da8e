import { expect, test } from '@jest/globals'
import { hasConfiguredKeyForm, isKeyValue, makeKeyValue } from './key-value.ts'

test('generated keys are unique and have the expected format', () => {
  const keys = Array.from({ length: 500 }, makeKeyValue)
  expect(new Set(keys).size).toBe(500)
  for (const key of keys) {
    expect(key).toMatch(/^vs_[0-9A-Za-z]{38}$/)
    expect(isKeyValue(key)).toBe(true)
  }
})

test('changing any single character invalidates the key', () => {
  const key = makeKeyValue()
  for (let i = 3; i < key.length; i++) {
    const other = key[i] === 'a' ? 'b' : 'a'
    expect(isKeyValue(key.slice(0, i) + other + key.slice(i + 1))).toBe(false)
  }
})

test.each(['', 'vs_', 'x', `vs_${'0'.repeat(38)}!`, `VS_${makeKeyValue().slice(3)}`, `${makeKeyValue()}\n`, 'vs_'.repeat(30_000)])(
  'malformed value %# is not a key',
  (text) => {
    expect(isKeyValue(text)).toBe(false)
  },
)

test.each([
  ['a'.repeat(19), false],
  ['a'.repeat(20), true],
  ['aA0_-'.repeat(25), true],
  ['a'.repeat(129), false],
  ['a b'.repeat(10), false],
])('%s is allowed as the configured key: %s', (text, right) => {
  expect(hasConfiguredKeyForm(text)).toBe(right)
})
