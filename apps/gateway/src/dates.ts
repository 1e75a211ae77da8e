const WRITTEN = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/
const WITH_ZONE = /^(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})(?: ?(Z|[+-]\d{2}:\d{2})| ([A-Za-z][A-Za-z0-9_+/-]{0,63}))$/

/** Beyond these a year is a slip of the pen, and with a zone it could leave the four digits that answers have. */
const firstYear = 1970
const lastYear = 2999

/** `2026-03-01 09:30:00`, read as UTC; undefined for anything else, also for days that no calendar has. */
export function parseTimestamp(text: string): Date | undefined {
  const [year, month, day, hour, minute, second] = (WRITTEN.exec(text) ?? []).slice(1).map(Number)
  if (year === undefined || month === undefined || day === undefined) return undefined
  if (year < firstYear || year > lastYear) return undefined
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  // Date turns 30 February into 1 March; written out again it is another text.
  return formatTimestamp(date) === text ? date : undefined
}

/** True of `2028-02-29`, and of no day that the calendar does not have; years are 1 to 9999. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false
  const midnight = new Date(`${text}T00:00:00Z`)
  // Date refuses 31 June in this form, or turns it into 1 July.
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text)
}

/** The same with a zone behind it: `GMT`, `UTC`, `Z`, `+02:00` or an IANA name. A time that the zone's clocks skip is none. */
export function parseZonedTimestamp(text: string): Date | undefined {
  const [, local = '', offset, name] = WITH_ZONE.exec(text) ?? []
  const written = parseTimestamp(local)
  if (!written) return undefined
  return offset === undefined ? inNamedZone(written, name ?? '') : atOffset(written, offset)
}

/** `YYYY-MM-DD HH:mm:ss` in UTC. */
export function formatTimestamp(date: Date): string {
  return date.toISOString().slice(0, 19).replace('T', ' ')
}

function atOffset(written: Date, offset: string): Date | undefined {
  if (offset === 'Z') return written
  const [hours = 0, minutes = 0] = offset.slice(1).split(':').map(Number)
  if (hours > 23 || minutes > 59) return undefined
  const shift = (hours * 60 + minutes) * 60_000
  return new Date(written.getTime() + (offset.startsWith('-') ? shift : -shift))
}

/** Of two moments that a zone's clocks show alike, the earlier one. */
function inNamedZone(written: Date, zone: string): Date | undefined {
  const clock = clockOf(zone)
  if (!clock) return undefined
  const day = 86_400_000
  const offsets = [-day, day].map((away) => clock(new Date(written.getTime() + away)) - (written.getTime() + away))
  const moments = offsets.map((offset) => new Date(written.getTime() - offset)).sort((a, b) => a.getTime() - b.getTime())
  return moments.find((moment) => clock(moment) === written.getTime())
}

/** What the clocks of a zone show at a moment, as if it were UTC, in ms; undefined for a zone that is not known. */
function clockOf(zone: string): ((moment: Date) => number) | undefined {
  try {
    const format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
    return (moment) => {
      const part = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]))
      const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
      return Date.UTC(year, month - 1, day, hour, minute, second)
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
