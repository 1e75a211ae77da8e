import { expect, test } from '@jest/globals'
import { decodeCaptions, guessLanguage, listLanguages, readFormat } from './caption-file.ts'

test.each([
  ['talk.en.vtt', 'en'],
  ['talk_de-AT.srt', 'de'],
  ['Launch.pt-BR.srt', 'pt-BR'],
  ['German.srt', 'de'],
  ['talk (French).vtt', 'fr'],
  ['de.en.vtt', 'en'],
  ['subtitles.srt', ''],
  ['en.vtt', 'en'],
  ['What is it.vtt', ''],
  ['no-extension', ''],
])('the language of %s is "%s"', (name, code) => expect(guessLanguage(name)).toBe(code))

test.each([
  ['a.vtt', 'vtt'],
  ['a.b.SRT', 'srt'],
  ['a.txt', undefined],
  ['srt', undefined],
])('the format of %s is %s', (name, format) => expect(readFormat(name)).toBe(format))

test('languages are sorted by name and have no repeated code', () => {
  const languages = listLanguages()
  expect(languages[0]?.name).toBe('Albanian')
  expect(new Set(languages.map(({ code }) => code)).size).toBe(languages.length)
})

test('captions are decoded by their byte order mark, as UTF-8, or as Windows-1252', () => {
  expect(decodeCaptions(new TextEncoder().encode('Grüße'))).toBe('Grüße')
  expect(decodeCaptions(Uint8Array.from([0xef, 0xbb, 0xbf, 0x41]))).toBe('A')
  expect(decodeCaptions(Uint8Array.from([0xff, 0xfe, 0x41, 0x00]))).toBe('A')
  expect(decodeCaptions(Uint8Array.from([0xfe, 0xff, 0x00, 0x41]))).toBe('A')
  expect(decodeCaptions(Uint8Array.from([0x47, 0x72, 0xfc, 0xdf, 0x65]))).toBe('Grüße')
})
