import { expect, test } from '@jest/globals'
import { plainText, writeTtml, writeVtt } from './write-captions.ts'

const vtt = (text: string) => writeVtt([{ beginMs: 0, endMs: 1, text }]).split('0.001\n')[1]
const about = { title: 'T', language: 'en' }
const ttml = (text: string) => /<p [^>]*>(.*)<\/p>/s.exec(writeTtml([{ beginMs: 0, endMs: 1, text }], about))?.[1]

test.each([
  // caption, WebVTT, TTML, plain text
  ['<i>a</i>', '<i>a</i>\n', '<span tts:fontStyle="italic">a</span>', 'a\n'],
  ['<I>a</I>', '<i>a</i>\n', '<span tts:fontStyle="italic">a</span>', 'a\n'],
  ['<i>a', '<i>a</i>\n', '<span tts:fontStyle="italic">a</span>', 'a\n'],
  ['a</i>', 'a\n', 'a', 'a\n'],
  ['<b><i>a</b>c</i>', '<b><i>a</i></b>c\n', '<span tts:fontWeight="bold"><span tts:fontStyle="italic">a</span></span>c', 'a' + 'c\n'],
  ['<b><b>a</b></b>', '<b>a</b>\n', '<span tts:fontWeight="bold">a</span>', 'a\n'],
  ['{\\an8}<font color="#fff">a</font>', 'a\n', 'a', 'a\n'],
  ['a --> <script>&', 'a --&gt; &lt;script&gt;&amp;\n', 'a --&gt; &lt;script&gt;&amp;', 'a --> <script>&\n'],
  ['a\n\n<u>\n</u>b', 'a\n<u>\n</u>b\n', 'a<br/><br/><span tts:textDecoration="underline"><br/></span>b', 'a\n\n\nb\n'],
  ['a\u0001\ufffe\u{1f600}"', 'a\u0001\ufffe\u{1f600}"\n', 'a\u{1f600}&quot;', 'a\u0001\ufffe\u{1f600}"\n'],
])('writes %j with balanced and escaped markup', (text, asVtt, asTtml, asText) => {
  expect([vtt(text), ttml(text), plainText([{ beginMs: 0, endMs: 1, text }])]).toEqual([asVtt, asTtml, asText])
})

test('writes an empty file if there are no captions', () => {
  expect([writeVtt([]), plainText([])]).toEqual(['WEBVTT\n', ''])
  expect(writeVtt([], ['X: 1'])).toBe('WEBVTT\nX: 1\n')
})
