import { describe, expect, test } from '@jest/globals'
import type { CaptionFormat, CaptionLine } from './caption-line.ts'
import { decodeText } from './decode-text.ts'
import { readCaptions } from './read-captions.ts'

const line = (beginMs: number, endMs: number, text: string): CaptionLine => ({ beginMs, endMs, text })
const read = (format: CaptionFormat, ...lines: string[]) => readCaptions(lines.join('\n'), format)

describe('SubRip', () => {
  test('reads numbers, times and texts of several lines', () => {
    const file = [
      '1',
      '00:00:01,500 --> 00:00:02,750',
      'Good <i>evening</i>',
      'all',
      '',
      '2',
      '01:02:03,004 --> 01:02:04,000',
      '-- Hello --',
      '',
    ]
    expect(read('srt', ...file)).toEqual([line(1_500, 2_750, 'Good <i>evening</i>\nall'), line(3_723_004, 3_724_000, '-- Hello --')])
    expect(readCaptions(`\ufeff${file.join('\r\n')}`, 'srt')).toHaveLength(2)
    expect(readCaptions(file.join('\r'), 'srt')).toHaveLength(2)
  })
  test.each([
    [
      'empty lines inside a text',
      ['1', '00:00:01,000 --> 00:00:02,000', 'a', '', '', 'b', '', '2', '00:00:03,000 --> 00:00:04,000', 'c'],
      ['a\nb', 'c'],
    ],
    ['no numbers', ['00:00:01,000 --> 00:00:02,000', '42', '', '00:00:03,000 --> 00:00:04,000', 'c'], ['42', 'c']],
    ['no empty lines', ['1', '00:00:01,000 --> 00:00:02,000', 'a', '2', '00:00:03,000 --> 00:00:04,000', 'c'], ['a', 'c']],
    ['a number as the last text', ['1', '00:00:01,000 --> 00:00:02,000', '1984'], ['1984']],
    ['an arrow in the text', ['1', '00:00:01,000 --> 00:00:02,000', 'a --> b', '--> c'], ['a --> b\n--> c']],
    ['positions after the times', ['1', '00:00:01,000 --> 00:00:02,000  X1:40 X2:600 Y1:20 Y2:50', 'a'], ['a']],
    ['dots instead of commas, and short times', ['1', '0:0:1.000-->0:0:2.000', 'a', '2', '00:03.000 --> 00:04.000', 'b'], ['a', 'b']],
    ['a blank text', ['1', '00:00:01,000 --> 00:00:02,000', ' ', '', '2', '00:00:03,000 --> 00:00:04,000', 'b'], ['b']],
    ['an end before the start', ['1', '00:00:02,000 --> 00:00:01,000', 'a'], []],
    ['times past 100 hours', ['1', '99:59:59,998 --> 99:59:59,999', 'a', '', '2', '99:59:59,999 --> 100:00:00,000', 'b'], ['a']],
  ])('reads a file with %s', (_, file, texts) => {
    expect(read('srt', ...file).map(({ text }) => text)).toEqual(texts)
  })
  test('sorts captions by start time', () => {
    const file = ['1', '00:00:05,000 --> 00:00:06,000', 'b', '', '2', '00:00:01,000 --> 00:00:09,000', 'a']
    expect(read('srt', ...file).map(({ text }) => text)).toEqual(['a', 'b'])
  })
})

describe('WebVTT', () => {
  test('resolves entities and WebVTT tags, and keeps the text of all other tags', () => {
    const file = [
      ...['WEBVTT - about', 'Kind: captions', '', 'NOTE', 'not to be read', '', 'STYLE', '::cue { color: red }', '', 'intro'],
      ...[
        '00:01.500 --> 00:00:02.750 align:start position:10%',
        '<v.loud Ada>Tom &amp; <b.x>Jerry</b> &lt;3<00:02.000> <c.a>now</c>',
        'x &#65;&#x42;&unknown; <script>1</script>',
        '',
      ],
      ...['100:00.000 --> 100:01.000', 'minutes may pass 59'],
    ]
    expect(read('vtt', ...file)).toEqual([
      line(1_500, 2_750, 'Tom & <b>Jerry</b> <3 now\nx AB&unknown; <script>1</script>'),
      line(6_000_000, 6_001_000, 'minutes may pass 59'),
    ])
  })
  test('reads cues without empty lines between them, and files without a header', () => {
    expect(read('vtt', '00:01.000 --> 00:02.000', 'a --> b', '00:03.000 --> 00:04.000', 'c').map(({ text }) => text)).toEqual([
      'a --> b',
      'c',
    ])
  })
})

describe('.sbv', () => {
  test('reads start and end from one line', () => {
    const file = ['0:00:00.599,0:00:04.160', '>> ALICE: Hi', 'there', '', '0:00:04.160,0:00:06.500', 'a[br]b']
    expect(read('sbv', ...file)).toEqual([line(599, 4_160, '>> ALICE: Hi\nthere'), line(4_160, 6_500, 'a\nb')])
  })
})

describe('.sub', () => {
  test('reads MicroDVD with a frame rate', () => {
    const file = ['{1}{1}25', '{25}{50}{y:i}Hello|{c:$0000ff}World', '{60}{}open', '{75}{100}{Y:b}a|b', '{200}{}last']
    expect(read('sub', ...file)).toEqual([
      line(1_000, 2_000, '<i>Hello</i>\nWorld'),
      line(2_400, 3_000, 'open'),
      line(3_000, 4_000, '<b>a\nb</b>'),
      line(8_000, 13_000, 'last'),
    ])
  })
  test('reads MicroDVD without a frame rate at 23.976 frames per second', () => {
    expect(read('sub', '{0}{24}a', '{24000}{24024}1984')).toEqual([line(0, 1_001, 'a'), line(1_001_000, 1_002_001, '1984')])
  })
  test('reads SubViewer 2', () => {
    const file = [
      '[INFORMATION]',
      '[TITLE]x',
      '[END INFORMATION]',
      '[SUBTITLE]',
      '[COLF]&HFFFFFF,[STYLE]no,[SIZE]18,[FONT]Arial',
      '00:00:04.12,00:00:08.05',
      'Text[br]two',
      '',
    ]
    expect(read('sub', ...file)).toEqual([line(4_120, 8_050, 'Text\ntwo')])
  })
  test('reads SubViewer 1', () => {
    const file = [
      '[TITLE]',
      'x',
      '[BEGIN]',
      '******** START SCRIPT ********',
      '[00:00:02]',
      'Hello|World',
      '[00:00:05]',
      '',
      '[00:00:08]',
      'Last',
    ]
    expect(read('sub', ...file)).toEqual([line(2_000, 5_000, 'Hello\nWorld'), line(8_000, 13_000, 'Last')])
    expect(read('sub', ...file, '[00:00:09]', '', '[end]', '******** END SCRIPT ********')).toEqual([
      line(2_000, 5_000, 'Hello\nWorld'),
      line(8_000, 9_000, 'Last'),
    ])
  })
})

test.each(['srt', 'sbv', 'sub', 'vtt'] as const)('a text that is not .%s has no captions', (format) => {
  for (const text of ['', '\n\n', 'WEBVTT', '<!doctype html><p>Not found</p>', '\0\u0001\u0002', '{}{}', '[]'])
    expect(readCaptions(text, format)).toEqual([])
})

test('NUL and lone surrogates are replaced by U+FFFD', () => {
  expect(read('srt', '00:00:01,000 --> 00:00:02,000', 'a\0b\ud800c')[0]?.text).toBe('a\ufffdb\ufffdc')
})

describe('limits', () => {
  const srt = (count: number, text = 'x') =>
    Array.from({ length: count }, (_, i) => `${i + 1}\n00:00:01,000 --> 00:00:02,000\n${text}\n\n`).join('')
  test('a file with more than 20,000 captions is rejected', () => {
    for (const count of [19_999, 20_000]) expect(readCaptions(srt(count), 'srt')).toHaveLength(count)
    expect(() => readCaptions(srt(20_001), 'srt')).toThrow('a file has at most 20000 captions')
  })
  test.each(['x', '\u{1f600}'])('a caption with more than 10,000 characters is rejected (%s)', (character) => {
    for (const count of [9_999, 10_000])
      expect([...(readCaptions(srt(1, character.repeat(count)), 'srt')[0]?.text ?? '')]).toHaveLength(count)
    expect(() => readCaptions(srt(1, character.repeat(10_001)), 'srt')).toThrow('at most 10000 characters')
    expect(() => readCaptions(srt(1, `${character}\n\n`.repeat(10_001)), 'srt')).toThrow('at most 10000 characters')
  })
})

describe('decodeText', () => {
  const text = 'Größe – naïve “café” €'
  test.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with byte order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16 LE', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 BE', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['Windows-1252', Buffer.from('4772f6df65209620 6e61ef7665 20 93636166e994 20 80'.replaceAll(' ', ''), 'hex')],
  ])('decodes %s', (_, bytes) => {
    expect(decodeText(bytes)).toBe(text)
  })
  test('accepts any bytes', () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    expect(decodeText(bytes)).toHaveLength(256)
    expect(decodeText(Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x41])).isWellFormed()).toBe(true)
  })
})
