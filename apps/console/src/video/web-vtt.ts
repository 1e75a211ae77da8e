/** One line of captions. Times are as in the file, such as `00:00:01.000`. */
export interface Cue {
  start: string
  end: string
  /** Settings of the cue behind its times, such as `align:start`. */
  settings: string
  /** Text as viewers see it, with the tags of WebVTT, such as `<i>`. */
  text: string
}

const TIMES = /^\s*((?:\d+:)?\d{2}:\d{2}[.,]\d{3})\s+-->\s+((?:\d+:)?\d{2}:\d{2}[.,]\d{3})(.*)$/

const NEW_CUE_SECONDS = 2

const REFERENCES: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;' }
const CHARACTERS: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', nbsp: '\u00a0' }
/** Start of a tag of WebVTT, or of a time within a text. */
const TAG = '\\/?(?:c|i|b|u|v|ruby|rt|lang)(?=[\\s.>]|&gt;)|\\d+:\\d'
/** `&lt;` that would become a tag, and `&amp;` that would become a reference, are edited as they are in the file. */
const REFERENCE = new RegExp(`&lt;(?!${TAG})|&amp;(?!\\w+;)|&gt;|&nbsp;`, 'g')
const SPECIAL = new RegExp(`&(?!lt;(?:${TAG})|amp;\\w+;)|<(?!${TAG})|(?<=--)>`, 'g')

function decodeText(text: string): string {
  return text.replace(REFERENCE, (reference) => CHARACTERS[reference.slice(1, -1)] ?? reference)
}

function encodeText(text: string): string {
  return text.replace(SPECIAL, (character) => REFERENCES[character] ?? character)
}

/** Returns the cues of a WebVTT file of the platform. Blocks without times are omitted. */
export function parseVtt(content: string): Cue[] {
  return content
    .replaceAll('\r\n', '\n')
    .split(/\n{2,}/)
    .flatMap((block) => {
      const lines = block.split('\n')
      const at = lines.findIndex((line) => TIMES.test(line))
      const [, start = '', end = '', settings = ''] = TIMES.exec(lines[at] ?? '') ?? []
      return at === -1
        ? []
        : [
            {
              start,
              end,
              settings: settings.trim(),
              text: decodeText(
                lines
                  .slice(at + 1)
                  .join('\n')
                  .trimEnd(),
              ),
            },
          ]
    })
}

/** Returns a time below 100 hours, such as `1:30` or `0:01:30.5`, as WebVTT has it: `00:01:30.500`. Undefined for another text. */
export function toCueTime(text: string): string | undefined {
  const [, hours = '0', minutes = '', seconds = '', fraction = ''] =
    /^(?:(\d{1,2}):)?([0-5]?\d):([0-5]\d)(?:[.,](\d{1,3}))?$/.exec(text.trim()) ?? []
  if (minutes === '') return undefined
  return `${hours.padStart(2, '0')}:${minutes.padStart(2, '0')}:${seconds}.${fraction.padEnd(3, '0')}`
}

/** Returns whether the platform keeps a cue with these times. It omits those that end before they begin. */
export function hasValidTimes({ start, end }: Pick<Cue, 'start' | 'end'>): boolean {
  const [from, to] = [toCueTime(start), toCueTime(end)]
  return from !== undefined && to !== undefined && from < to
}

/** Returns an empty cue that follows a cue. It lasts two seconds, or until the start of the cue after it. */
export function nextCue({ end }: Cue, following?: Cue): Cue {
  const start = toCueTime(end) ?? '00:00:00.000'
  const [hours = 0, minutes = 0, seconds = 0] = start.split(':').map(Number)
  const total = Math.round((hours * 3_600 + minutes * 60 + seconds + NEW_CUE_SECONDS) * 1_000)
  const clock = [total / 3_600_000, (total / 60_000) % 60, (total / 1_000) % 60].map((part) => String(Math.floor(part)).padStart(2, '0'))
  const twoSecondsLater = `${clock.join(':')}.${String(total % 1_000).padStart(3, '0')}`
  const limit = following && toCueTime(following.start)
  const isShorter = limit !== undefined && limit > start && limit < twoSecondsLater
  return { start, end: isShorter ? limit : twoSecondsLater, settings: '', text: '' }
}

/** Returns a WebVTT file. The cues must have valid times. A line break that would end a cue is removed. */
export function formatVtt(cues: readonly Cue[]): string {
  const blocks = cues.map(
    ({ start, end, settings, text }) =>
      `${toCueTime(start) ?? start} --> ${toCueTime(end) ?? end}${settings && ` ${settings}`}\n${encodeText(text.trim().replaceAll(/\n{2,}/g, '\n'))}`,
  )
  return `WEBVTT\n\n${blocks.join('\n\n')}\n`
}
