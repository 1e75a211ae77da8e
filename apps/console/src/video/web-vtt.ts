/** One line of captions. Times are as in the file, such as `00:00:01.000`. */
export interface Cue {
  start: string
  end: string
  /** Settings of the cue behind its times, such as `align:start`. */
  settings: string
  text: string
}

const TIMES = /^\s*((?:\d+:)?\d{2}:\d{2}[.,]\d{3})\s+-->\s+((?:\d+:)?\d{2}:\d{2}[.,]\d{3})(.*)$/

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
              text: lines
                .slice(at + 1)
                .join('\n')
                .trimEnd(),
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

/** Returns a WebVTT file. The cues must have valid times. A line break that would end a cue is removed. */
export function formatVtt(cues: readonly Cue[]): string {
  const blocks = cues.map(
    ({ start, end, settings, text }) =>
      `${toCueTime(start) ?? start} --> ${toCueTime(end) ?? end}${settings && ` ${settings}`}\n${text.trim().replaceAll(/\n{2,}/g, '\n')}`,
  )
  return `WEBVTT\n\n${blocks.join('\n\n')}\n`
}
