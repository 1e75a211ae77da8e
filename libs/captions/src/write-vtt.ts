import type { CaptionLine } from './caption-line.ts'
import { clockText } from './clock.ts'
import { readMarkup } from './markup.ts'

/** WebVTT. `header` has lines that follow its first one, such as those that HLS wants. */
export function writeVtt(lines: readonly CaptionLine[], header: readonly string[] = []): string {
  const head = ['WEBVTT', ...header].join('\n')
  return `${[head, ...lines.map(cueOf)].join('\n\n')}\n`
}

function cueOf({ beginMs, endMs, text }: CaptionLine): string {
  return `${clockText(beginMs)} --> ${clockText(endMs)}\n${payloadOf(text)}`
}

/** An empty line would end the cue. */
function payloadOf(text: string): string {
  const marked = readMarkup(text).map((token) =>
    'text' in token ? escaped(token.text) : 'open' in token ? `<${token.open}>` : `</${token.close}>`,
  )
  return marked
    .join('')
    .split(/[\n\r]/)
    .filter((line) => line !== '')
    .join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
