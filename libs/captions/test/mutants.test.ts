// Faults: B14
import { createRequire } from 'node:module'
import { describe, expect, test } from '@jest/globals'
import { isDomainError } from '@vitascope/errors'
import { recordFigure, threadCpuTimeMs } from '@vitascope/testing'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { type CaptionFormat, type CaptionLine, decodeText, readCaptions, writeTtml, writeVtt } from '../src/index.ts'
import { mutant, SEEDS, seededRandom } from './mutants.ts'

interface VttParser {
  parse(
    text: string,
    mode: string,
  ): { cues: { startTime: number; endTime: number; text: string }[]; errors: { message: string; line: number }[] }
}
const { WebVTTParser } = createRequire(import.meta.url)('webvtt-parser') as { WebVTTParser: new () => VttParser }

const xml = new XMLParser({
  ignoreAttributes: false,
  processEntities: true,
  trimValues: false,
  alwaysCreateTextNode: true,
  isArray: (name) => name === 'p',
})
interface Ttml {
  tt: { body: { div: { p?: { '@_begin': string; '@_end': string }[] } } }
}

const toSeconds = (clock: string) => {
  const [h, m, s] = clock.split(':').map(Number)
  return ((h ?? 0) * 60 + (m ?? 0)) * 60 + (s ?? 0)
}

function checkOutputs(lines: readonly CaptionLine[]): void {
  const vtt = new WebVTTParser().parse(writeVtt(lines), 'metadata')
  expect(vtt.errors).toEqual([])
  const times = lines.map(({ beginMs, endMs }) => [beginMs / 1_000, endMs / 1_000] as const)
  // The parser sorts cues with the same start by descending end.
  expect(vtt.cues.map(({ startTime, endTime }) => [startTime, endTime])).toEqual(times.toSorted((a, b) => a[0] - b[0] || b[1] - a[1]))
  const reread = readCaptions(writeVtt(lines), 'vtt')
  expect(reread.length).toBeLessThanOrEqual(lines.length)

  const ttml = writeTtml(lines, { title: lines[0]?.text ?? '', language: 'en' })
  expect(XMLValidator.validate(ttml)).toBe(true)
  // Illegal characters pass a validator but not a parser in a browser.
  expect(ttml).toMatch(/^[\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u)
  const { tt } = xml.parse(ttml) as Ttml
  expect((tt.body.div.p ?? []).map((p) => [toSeconds(p['@_begin']), toSeconds(p['@_end'])])).toEqual(times)
  expect(JSON.parse(JSON.stringify(lines))).toEqual(lines)
}

test('each of 5,000 mutated files is read in 200 ms, and the result can be written and read again', () => {
  const random = seededRandom(20_240_814)
  let [slowest, rejected, lines] = [0, 0, 0]
  for (let n = 0; n < 5_000; n++) {
    const { format, text } = mutant(random)
    const start = threadCpuTimeMs()
    try {
      const read = readCaptions(decodeText(Buffer.from(text, n % 3 === 0 ? 'utf16le' : 'utf8')), format)
      slowest = Math.max(slowest, threadCpuTimeMs() - start)
      lines += read.length
      checkOutputs(read)
    } catch (error) {
      if (!isDomainError(error)) throw new Error(`mutant ${n}, ${format}`, { cause: error })
      rejected++
    }
  }
  recordFigure('B14', `5000 mutants, the slowest in ${Math.round(slowest)} ms`)
  expect(slowest).toBeLessThanOrEqual(200)
  expect(lines).toBeGreaterThan(1_000)
  expect(rejected).toBeLessThan(1_000)
}, 120_000)

describe('the time to read and write grows linearly with the length of', () => {
  const minCpuTimeMs = (work: () => unknown) =>
    Math.min(
      ...Array.from({ length: 4 }, () => {
        const start = threadCpuTimeMs()
        try {
          work()
        } catch (error) {
          if (!isDomainError(error)) throw error
        }
        return threadCpuTimeMs() - start
      }),
    )
  const HALF_BYTES = 1 << 18
  const repeat = (piece: string) => (size: number) => piece.repeat(Math.ceil(size / piece.length))
  const inOneText = (piece: string) => (size: number) =>
    `00:00:01,000 --> 00:00:02,000\n${repeat(piece)(9_000)}\n\n`.repeat(Math.ceil(size / 9_030))
  const INPUTS: [string, (size: number) => string][] = [
    ['spaces', repeat(' ')],
    ['line ends', repeat('\n')],
    ['carriage returns', repeat('\r')],
    ['arrows', repeat('-->')],
    ['arrows in lines', repeat('-->\n')],
    ['times', repeat('00:00:01,000 --> 00:00:02,000\n')],
    ['digits', repeat('1')],
    ['incomplete times', repeat('00:00:01,000 --> ')],
    ['texts of open tags', inOneText('<')],
    ['texts of tags that never close', inOneText('<c.x ')],
    ['texts of font tags', inOneText('<font ')],
    ['texts of ampersands', inOneText('&#')],
    ['texts of style codes', inOneText('{\\')],
    ['texts of mismatched tags', inOneText('<i></b>')],
    ['braces', repeat('{')],
    ['lines of .sub', repeat('{1}{2}a{y:\n')],
    ['brackets', repeat('[')],
    ['lines of .sbv', repeat('0:00:00.599,0:00:04.160\na[br]\n')],
  ]
  test.each(INPUTS)(
    '%s',
    (_, make) => {
      for (const format of ['srt', 'sbv', 'sub', 'vtt'] as const) {
        const work = (text: string) => () => {
          const lines = readCaptions(text, format)
          writeVtt(lines)
          writeTtml(lines, { title: '', language: '' })
        }
        const [small, large] = [make(HALF_BYTES), make(2 * HALF_BYTES)]
        // Quadratic code is four times slower in every measurement, while the load of the machine varies. Differences
        // below 4 ms cannot be measured.
        let ratio = Number.POSITIVE_INFINITY
        for (let tries = 0; ratio > 3 && tries < 5; tries++)
          ratio = Math.max(minCpuTimeMs(work(large)), 4) / Math.max(minCpuTimeMs(work(small)), 4)
        expect(ratio).toBeLessThanOrEqual(3)
      }
    },
    120_000,
  )
})

test.each(Object.entries(SEEDS).flatMap(([format, texts]) => texts.map((text) => [format as CaptionFormat, text] as const)))(
  'reads a line of 10 MiB in %s in less than 2 s',
  (format, text) => {
    const long = 'x --> <script>'.repeat((10 * 2 ** 20) / 14)
    const start = threadCpuTimeMs()
    expect(readCaptions(long, format)).toEqual([])
    expect(() => {
      const lines = readCaptions(text + long, format)
      if (lines.length > 0) checkOutputs(lines)
    }).not.toThrow(TypeError)
    expect(threadCpuTimeMs() - start).toBeLessThan(2_000)
  },
)
