// Faults: B15
import { describe, expect, test } from '@jest/globals'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { type CaptionLine, readCaptions, writeTtml, writeVtt } from '../src/index.ts'
import { seededRandom } from './mutants.ts'

const PIECES = [
  ...[
    '&',
    '<',
    '>',
    '"',
    "'",
    ']]>',
    '<!--',
    '-->',
    '<![CDATA[',
    '<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]>',
    '&y;',
    '<?xml ?>',
    '&#0;',
  ],
  ...[
    '<script>alert(1)</script>',
    '</tt>',
    '<p begin="0">',
    '\u0001',
    '\u001f',
    '\u007f',
    '\u0085',
    '\u2028',
    '\u202e',
    '\ufeff',
    '\ufffe',
    '\uffff',
  ],
  ...[
    '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
    'e\u0301',
    'שלום',
    'عربي',
    '日本',
    '\\',
    '%s',
    "'; drop table x; --",
    '{\\an8}',
    '<i>',
    '</b>',
    ' ',
    'a',
  ],
]

test('1,000 hostile titles and texts produce well-formed TTML with the same text', () => {
  const random = seededRandom(11)
  const randomText = () =>
    Array.from({ length: 1 + Math.floor(random() * 12) }, () => PIECES[Math.floor(random() * PIECES.length)] ?? '').join('')
  const parser = new XMLParser({ processEntities: true, trimValues: false, ignoreAttributes: false, parseTagValue: false })
  // Removes the characters that XML cannot represent.
  const toXmlText = (text: string) => text.replaceAll(/[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
  for (let n = 0; n < 1_000; n++) {
    const [title, text, language] = [`x${randomText()}`, randomText(), randomText()]
    const ttml = writeTtml([{ beginMs: 0, endMs: 1, text }], { title, language })
    expect(XMLValidator.validate(ttml)).toBe(true)
    expect(ttml).not.toMatch(/<!DOCTYPE|<!\[CDATA|<!--/)
    const { tt } = parser.parse(ttml) as { tt: { head: { metadata: { 'ttm:title': string } }; '@_xml:lang': string } }
    expect(tt.head.metadata['ttm:title']).toBe(toXmlText(title))
  }
})

/** Strings that are known to break software. None is blank or contains an empty line. */
const NAUGHTY = [
  ...[
    'undefined',
    'null',
    'NaN',
    '1e309',
    '0x10',
    '-1',
    '٠١٢',
    '½',
    'Ω≈ç√∫˜µ≤≥÷',
    '田中さんにあげて下さい',
    '(｡◕ ∀ ◕｡)',
    '👩🏽‍🚀',
    '🇺🇸🇷🇺',
    '１２３',
  ],
  ...[
    'ثم نفس سقطت',
    '‪‪test‪',
    '⁦test⁧',
    'Ṱ̺̺̕o͞ ̷i̲̬͇̪',
    '˙ɐnbᴉlɐ',
    "<script>alert('123');</script>",
    '<img src=x onerror=alert(1)>',
    '<svg><script>123<1>',
  ],
  ...[
    "<b onmouseover=alert('Wufff!')>click me!</b>",
    '"><script>alert(1)</script>',
    '<sc<script>ript>alert(1)',
    '--><!-- -->',
    '<iframe src=http://ha.ckers.org/ <',
  ],
  ...[
    '1;DROP TABLE users',
    "' OR 1=1 -- 1",
    '$(touch /tmp/x)',
    '`touch /tmp/x`',
    '../../../etc/passwd%00',
    '{{7*7}}',
    '%d%s%n',
    'File:///',
    'http://a/%%30%30',
  ],
  ...[
    '<?xml version="1.0"?><!DOCTYPE foo [<!ENTITY xxe SYSTEM "file:///etc/passwd" >]><foo>&xxe;</foo>',
    '&lt;&#60;&amp;lt;',
    '\u00a0x',
    '\u200bx',
    '\ufeffx',
    'a\tb',
    '\\u0000',
  ],
]

describe('writing a text and reading it returns the same text', () => {
  const line = (text: string): CaptionLine => ({ beginMs: 1_000, endMs: 2_000, text })
  test.each(NAUGHTY)('%s', (text) => {
    expect(readCaptions(`1\n00:00:01,000 --> 00:00:02,000\n${text}\n`, 'srt')).toEqual([line(text)])
    expect(readCaptions(`0:00:01.000,0:00:02.000\n${text}\n`, 'sbv')).toEqual([line(text)])
    // The writers omit closing tags without an opening tag, and nothing else.
    expect(readCaptions(writeVtt([line(text)]), 'vtt')).toEqual([line(text.replaceAll(/<\/[biu]>/g, ''))])
  })
})
