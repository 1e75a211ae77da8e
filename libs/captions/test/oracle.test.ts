import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { findFfmpeg } from '@vitascope/media'
import { type CaptionFormat, type CaptionLine, plainText, readCaptions, writeVtt } from '../src/index.ts'
import { seededRandom } from './mutants.ts'

const run = promisify(execFile)
let folder: string
let ffmpeg: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'captions-'))
  ffmpeg = (await findFfmpeg()).ffmpeg
})
afterAll(() => rm(folder, { recursive: true }))

/** Returns the captions that ffmpeg reads, through WebVTT. */
async function readWithFfmpeg(demuxer: string, file: string): Promise<CaptionLine[]> {
  const path = join(folder, 'file')
  await writeFile(path, file)
  const { stdout } = await run(ffmpeg, ['-v', 'error', '-f', demuxer, '-i', path, '-f', 'webvtt', '-'])
  return readCaptions(stdout, 'vtt')
}

const toComparable = (lines: readonly CaptionLine[]) =>
  lines.map(({ beginMs, endMs, text }) => [beginMs, endMs, plainText([{ beginMs, endMs, text }])])

const random = seededRandom(7)
const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
const TEXTS = [
  'Good evening',
  'Ça va?\nOui, et toi',
  'a --> b',
  'x & y',
  '42 is it',
  '日本語\nです',
  'one\ntwo\nthree',
  '<i>soft</i>',
  'שלום',
]

/** Captions in order, without overlap, in steps of 40 ms, which all formats can represent. */
const lines: CaptionLine[] = Array.from({ length: 200 }, (_, i) => {
  const beginMs = i * 20_000 + Math.floor(random() * 100) * 40
  return { beginMs, endMs: beginMs + 40 + Math.floor(random() * 200) * 40, text: pick(TEXTS) }
})
const plain = lines.map((line) => ({ ...line, text: line.text.replaceAll(/<\/?i>/g, '') }))

const padTwoDigits = (value: number) => String(value).padStart(2, '0')
const clock = (ms: number, separator: string, digits: number) =>
  `${padTwoDigits(Math.floor(ms / 3_600_000))}:${padTwoDigits(Math.floor(ms / 60_000) % 60)}:${padTwoDigits(Math.floor(ms / 1_000) % 60)}${separator}${String(
    ms % 1_000,
  )
    .padStart(3, '0')
    .slice(0, digits)}`

const FILES: [string, CaptionFormat, string, readonly CaptionLine[], string][] = [
  [
    'SubRip',
    'srt',
    'srt',
    lines,
    lines.map(({ beginMs, endMs, text }, i) => `${i + 1}\n${clock(beginMs, ',', 3)} --> ${clock(endMs, ',', 3)}\n${text}\n\n`).join(''),
  ],
  ['WebVTT', 'vtt', 'webvtt', lines, writeVtt(lines)],
  [
    '.sbv',
    'sbv',
    'subviewer',
    plain,
    plain.map(({ beginMs, endMs, text }) => `${clock(beginMs, '.', 3)},${clock(endMs, '.', 3)}\n${text}\n\n`).join(''),
  ],
  [
    'SubViewer 2',
    'sub',
    'subviewer',
    plain,
    `[INFORMATION]\n[END INFORMATION]\n[SUBTITLE]\n${plain.map(({ beginMs, endMs, text }) => `${clock(beginMs, '.', 2)},${clock(endMs, '.', 2)}\n${text.replaceAll('\n', '[br]')}\n\n`).join('')}`,
  ],
  [
    'MicroDVD',
    'sub',
    'microdvd',
    plain,
    `{1}{1}25.000\n${plain.map(({ beginMs, endMs, text }) => `{${beginMs / 40}}{${endMs / 40}}${text.replaceAll('\n', '|')}\n`).join('')}`,
  ],
]

test.each(FILES)('reads %s as ffmpeg does', async (_, format, demuxer, output, file) => {
  const captions = readCaptions(file, format)
  expect(toComparable(captions)).toEqual(toComparable(output))
  expect(toComparable(captions)).toEqual(toComparable(await readWithFfmpeg(demuxer, file)))
})
