import { expect, test } from '@jest/globals'
import { canBeTypo, isTypoOf } from './fuzzy-match.ts'

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
])('%s is a possible typo of %s', (written, target) => {
  expect(isTypoOf(written, target)).toBe(true)
  expect(isTypoOf(target, written)).toBe(true)
})

test.each([
  ['lunhc', 'launch'],
  ['launch', 'brunch'],
  ['intrdxutin', 'introduction'],
  ['tape', 'ta'],
  ['', 'launch'],
])('%s is not a typo of %s', (written, target) => {
  expect(isTypoOf(written, target)).toBe(false)
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
])('whether %s can be a typo is %s', (word, may) => {
  expect(canBeTypo(word)).toBe(may)
})
