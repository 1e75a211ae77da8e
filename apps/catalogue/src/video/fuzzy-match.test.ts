import { expect, test } from '@jest/globals'
import { isTypoOf, mayBeTypo } from './fuzzy-match.ts'

test.each([
  ['launch', 'launch'],
  ['lanuch', 'launch'],
  ['lauch', 'launch'],
  ['launcch', 'launch'],
  ['kaunch', 'launch'],
  ['introdcution', 'introduction'],
  ['intrduxtion', 'introduction'],
  ['начло', 'начало'],
  ['🚀🚀🚀🌍', '🚀🚀🚀🚀'],
])('%s may mean %s', (written, meant) => {
  expect(isTypoOf(written, meant)).toBe(true)
  expect(isTypoOf(meant, written)).toBe(true)
})

test.each([
  ['lunhc', 'launch'],
  ['launch', 'brunch'],
  ['intrdxutin', 'introduction'],
  ['tape', 'ta'],
  ['', 'launch'],
])('%s does not mean %s', (written, meant) => {
  expect(isTypoOf(written, meant)).toBe(false)
})

test.each([
  ['rocket', true],
  ['tape', true],
  ['the', false],
  ['2030', false],
  ['mp4s', false],
  ['٢٠٣٠', false],
  ['a'.repeat(40), true],
  ['a'.repeat(41), false],
])('whether %s may be a typo: %s', (word, may) => {
  expect(mayBeTypo(word)).toBe(may)
})
