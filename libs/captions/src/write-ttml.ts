import type { CaptionLine } from './caption-line.ts'
import { clockText } from './clock.ts'
import { readMarkup, type Tag } from './markup.ts'

const STYLES: Record<Tag, string> = { b: 'tts:fontWeight="bold"', i: 'tts:fontStyle="italic"', u: 'tts:textDecoration="underline"' }

/** TTML, with the times in milliseconds. Characters that XML cannot hold are left out. */
export function writeTtml(lines: readonly CaptionLine[], { title, language }: { title: string; language: string }): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<tt xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling" xmlns:ttm="http://www.w3.org/ns/ttml#metadata" xml:lang="${escaped(language)}" xml:space="preserve">
<head><metadata><ttm:title>${escaped(title)}</ttm:title></metadata></head>
<body><div>
${lines.map((line) => `${paragraphOf(line)}\n`).join('')}</div></body>
</tt>
`
}

function paragraphOf({ beginMs, endMs, text }: CaptionLine): string {
  const content = readMarkup(text).map((token) =>
    'text' in token ? escaped(token.text).replaceAll('\n', '<br/>') : 'open' in token ? `<span ${STYLES[token.open]}>` : '</span>',
  )
  return `<p begin="${clockText(beginMs)}" end="${clockText(endMs)}">${content.join('')}</p>`
}

function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
