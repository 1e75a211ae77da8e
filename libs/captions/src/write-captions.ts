import type { CaptionLine } from './caption-line.ts'
import { readMarkup, type Tag, withoutMarkup } from './markup.ts'

/** Returns the text of each caption on a line of its own, without formatting and times. */
export function plainText(lines: readonly CaptionLine[]): string {
  return lines.map(({ text }) => `${withoutMarkup(text)}\n`).join('')
}

/** Returns WebVTT. `header` contains additional header lines, such as the timestamp map of HLS. */
export function writeVtt(lines: readonly CaptionLine[], header: readonly string[] = []): string {
  const head = ['WEBVTT', ...header].join('\n')
  return `${[head, ...lines.map(vttCue)].join('\n\n')}\n`
}

function vttCue({ beginMs, endMs, text }: CaptionLine): string {
  return `${formatTime(beginMs)} --> ${formatTime(endMs)}\n${vttPayload(text)}`
}

/** Returns the text of a cue without empty lines, because they would end the cue. */
function vttPayload(text: string): string {
  return readMarkup(text)
    .map((token) => ('text' in token ? escapeVtt(token.text) : 'open' in token ? `<${token.open}>` : `</${token.close}>`))
    .join('')
    .split(/[\n\r]/)
    .filter((line) => line !== '')
    .join('\n')
}

function escapeVtt(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

const TTML_STYLES: Record<Tag, string> = {
  b: 'tts:fontWeight="bold"',
  i: 'tts:fontStyle="italic"',
  u: 'tts:textDecoration="underline"',
}

/** Returns TTML with times in milliseconds. Characters that XML does not allow are omitted. */
export function writeTtml(lines: readonly CaptionLine[], { title, language }: { title: string; language: string }): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<tt xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling" xmlns:ttm="http://www.w3.org/ns/ttml#metadata" xml:lang="${escapeXml(language)}" xml:space="preserve">
<head><metadata><ttm:title>${escapeXml(title)}</ttm:title></metadata></head>
<body><div>
${lines.map((line) => `${ttmlParagraph(line)}\n`).join('')}</div></body>
</tt>
`
}

function ttmlParagraph({ beginMs, endMs, text }: CaptionLine): string {
  const content = readMarkup(text).map((token) =>
    'text' in token ? escapeXml(token.text).replaceAll('\n', '<br/>') : 'open' in token ? `<span ${TTML_STYLES[token.open]}>` : '</span>',
  )
  return `<p begin="${formatTime(beginMs)}" end="${formatTime(endMs)}">${content.join('')}</p>`
}

function escapeXml(text: string): string {
  return text
    .replaceAll(/[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Returns `HH:MM:SS.mmm`. */
function formatTime(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  const seconds = Math.floor(ms / 1_000) % 60
  return `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}:${twoDigits(seconds)}.${String(ms % 1_000).padStart(3, '0')}`
}

/** Returns `MM:SS`, rounded down. Minutes may exceed 59. */
export function formatMinutes(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  return `${twoDigits(Math.floor(seconds / 60))}:${twoDigits(seconds % 60)}`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
