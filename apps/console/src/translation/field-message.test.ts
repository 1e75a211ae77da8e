import { afterEach, expect, test } from '@jest/globals'
import { setFieldRules, translateFieldMessage } from './field-message.ts'
import { fieldRules } from './german/field-rules.ts'

afterEach(() => setFieldRules([]))

test.each([
  ['must not be blank', 'darf nicht leer sein'],
  ['must be a language code such as en or pt-BR', 'muss ein Sprachkürzel wie en oder pt-BR sein'],
  ['must have at most 255 characters', 'darf höchstens 255 Zeichen haben'],
  ['must be one of: public, unlisted, private', 'muss einer dieser Werte sein: public, unlisted, private'],
  ['must have no white space; join words by hyphens', 'darf kein Leerzeichen enthalten; verbinden Sie Wörter mit Bindestrichen'],
  ['something that no rule knows', 'something that no rule knows'],
])('%s', (message, german) => {
  expect(translateFieldMessage(message)).toBe(message)
  setFieldRules(fieldRules)
  expect(translateFieldMessage(message)).toBe(german)
})
