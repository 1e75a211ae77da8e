import { expect, test } from '@jest/globals'
import { toReportedLanguage } from './language.ts'

test.each([
  ['en', 'en'],
  ['EN', 'en'],
  ['pt-BR', 'pt'],
  ['deu', 'de'],
  ['yue-Hant', 'yue'],
  ['qqq', ''],
  ['und', ''],
  ['xx', ''],
  ['x-private', ''],
  ['abcdefgh', ''],
  ['123', ''],
  ['-', ''],
  ['', ''],
])('%j, which is not a language of the video, is counted as %j', (sent, counted) => {
  expect(toReportedLanguage(sent, [])).toBe(counted)
  expect(toReportedLanguage(sent, ['nl'])).toBe(counted)
})

test.each(['pt-BR', 'PT-br', 'pt-br'])('a language of the video is counted in the spelling of the video: %j', (sent) => {
  expect(toReportedLanguage(sent, ['en', 'pt-BR'])).toBe('pt-BR')
})

test('all codes of two and three letters map to between 180 and 800 languages', () => {
  const letters = Array.from({ length: 26 }, (_, nth) => String.fromCharCode(97 + nth))
  const codes = letters.flatMap((a) => letters.flatMap((b) => [`${a}${b}`, ...letters.map((c) => `${a}${b}${c}`)]))
  const counted = new Set(codes.map((code) => toReportedLanguage(code, [])))
  expect(counted.size).toBeLessThan(800)
  expect(counted.size).toBeGreaterThan(180)
})
