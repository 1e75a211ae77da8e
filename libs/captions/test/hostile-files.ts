import type { CaptionFormat } from '../src/index.ts'

const CUE = '00:01.000 --> 00:02.000\n'
const frames = (text: string) => Array.from({ length: 19_000 }, (_, frame) => `{${frame}}{${frame + 1}}${text}\n`).join('')

/** Files within all size limits that are constructed to take long. */
export const HOSTILE_FILES: readonly [string, CaptionFormat, () => string][] = [
  ['5,000,000 line ends', 'srt', () => '\n'.repeat(5_000_000)],
  ['5,000,000 carriage returns', 'srt', () => '\r'.repeat(5_000_000)],
  ['570,000 italic nothings', 'sub', () => frames('{y:i}|'.repeat(30))],
  ['one line of 800,000 italic nothings', 'sub', () => `{1}{2}${'{y:i}|'.repeat(800_000)}`],
  ['540,000 tags', 'vtt', () => `WEBVTT\n\n${`${CUE}${'<i>'.repeat(60)}x\n\n`.repeat(9_000)}`],
  ['995,000 entities', 'vtt', () => `WEBVTT\n\n${`${CUE}${'&amp;'.repeat(1_990)}\n\n`.repeat(500)}`],
  ['1,500,000 lines in cues', 'srt', () => `0:0,0 --> 0:0,1\n${'a\n\n'.repeat(75)}`.repeat(19_999)],
  ['20,000 long lines', 'srt', () => `1\n00:00:01,000 --> 00:00:02,000\n${'ordinary words '.repeat(13)}\n\n`.repeat(19_999)],
]
