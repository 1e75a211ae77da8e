import { expect, test } from '@jest/globals'
import { languageName } from './language-name.ts'

test.each([
  ['de', 'German'],
  ['pt-BR', 'Brazilian Portuguese'],
  ['de-x-ad', 'German (de-x-ad)'],
  ['en-u-ca-gregory', 'English (en-u-ca-gregory)'],
  ['not a code', 'not a code'],
])('the language %j is named %j', (code, name) => {
  expect(languageName(code, 'en')).toBe(name)
})
