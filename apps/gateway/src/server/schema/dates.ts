const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/
const ZONED_TIMESTAMP = /^(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})(?: ?(Z|[+-]\d{2}:\d{2})| ([A-Za-z][A-Za-z0-9_+/-]{0,63}))$/

/**
 * Years outside of these are typing errors, and a time zone could move them beyond the four digits
 * of responses.
 */
const MIN_YEAR = 1970
const MAX_YEAR = 2999

/**
 * Parses `2026-03-01 09:30:00` as UTC. Returns undefined for anything else, including days that do
 * not exist.
 */
export function parseTimestamp(text: string): Date | undefined {
  const [year, month, day, hour, minute, second] = (TIMESTAMP.exec(text) ?? []).slice(1).map(Number)
  if (year === undefined || month === undefined || day === undefined) return undefined
  if (year < MIN_YEAR || year > MAX_YEAR) return undefined
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  // Date turns 30 February into 1 March, which formats differently.
  return formatTimestamp(date) === text ? date : undefined
}

/**
 * Parses a timestamp with a zone: `GMT`, `UTC`, `Z`, `+02:00` or an IANA name. Returns undefined
 * for anything else, and for a local time that the zone skips. Of a local time that occurs twice, it
 * returns the earlier one.
 */
export function parseZonedTimestamp(text: string): Date | undefined {
  const [, timestamp = '', offset, name] = ZONED_TIMESTAMP.exec(text) ?? []
  const local = parseTimestamp(timestamp)
  if (!local) return undefined
  return offset === undefined ? inNamedZone(local, name ?? '') : atOffset(local, offset)
}

/** Formats a date as `YYYY-MM-DD HH:mm:ss` in UTC. */
export function formatTimestamp(date: Date): string {
  return date.toISOString().slice(0, 19).replace('T', ' ')
}

function atOffset(local: Date, offset: string): Date | undefined {
  if (offset === 'Z') return local
  const [hours = 0, minutes = 0] = offset.slice(1).split(':').map(Number)
  if (hours > 23 || minutes > 59) return undefined
  const shift = (hours * 60 + minutes) * 60_000
  return new Date(local.getTime() + (offset.startsWith('-') ? shift : -shift))
}

/**
 * Returns the moment of a local time in a zone. If the local time occurs twice, it is the earlier
 * one.
 */
function inNamedZone(local: Date, zone: string): Date | undefined {
  const clock = createZoneClock(zone)
  if (!clock) return undefined
  const day = 86_400_000
  const offsets = [-day, day].map((shiftMs) => clock(new Date(local.getTime() + shiftMs)) - (local.getTime() + shiftMs))
  const moments = offsets.map((offset) => new Date(local.getTime() - offset)).sort((a, b) => a.getTime() - b.getTime())
  return moments.find((moment) => clock(moment) === local.getTime())
}

/**
 * Returns a function from a moment to the zone's local time, as if it were UTC, in ms. Returns
 * undefined for an unknown zone.
 */
function createZoneClock(zone: string): ((moment: Date) => number) | undefined {
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
