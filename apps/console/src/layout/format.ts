import i18next from 'i18next'

/** Returns a duration such as `1:02:03` for seconds. Empty if it is unknown. */
export function formatDuration(seconds: string | number): string {
  const total = Math.round(Number(seconds))
  if (seconds === '' || !Number.isFinite(total)) return ''
  const two = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes] = [Math.floor(total / 3_600), Math.floor(total / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(total % 60)}` : `${minutes}:${two(total % 60)}`
}

/** Returns a local date and time for a time of the API, which is in UTC without a zone. Empty for an empty text. */
export function formatTime(text: string): string {
  if (text === '') return ''
  return formatDateTime(parseTime(text))
}

/** Returns a local date and time with seconds for a time of the API. */
export function formatExactTime(text: string): string {
  return new Intl.DateTimeFormat(i18next.language, { dateStyle: 'medium', timeStyle: 'medium' }).format(parseTime(text))
}

/** Returns the local date and time for milliseconds since 1970. */
export function formatDateTime(ms: number): string {
  return new Intl.DateTimeFormat(i18next.language, { dateStyle: 'medium', timeStyle: 'short' }).format(ms)
}

/** Returns the seconds from one time of the API to a later one. */
export function secondsBetween(start: string, end: string): number {
  return (parseTime(end) - parseTime(start)) / 1_000
}

/** Returns milliseconds since 1970 for a time of the API. Those of keys end in ` GMT`. */
export function parseTime(text: string): number {
  return Date.parse(`${text.replace(' GMT', '').replace(' ', 'T')}Z`)
}

/** Returns the local time of day for milliseconds since 1970. */
export function formatClock(ms: number): string {
  return new Intl.DateTimeFormat(i18next.language, { timeStyle: 'medium' }).format(ms)
}

/** Returns the local hour and minute for milliseconds since 1970. */
export function formatMinute(ms: number): string {
  return new Intl.DateTimeFormat(i18next.language, { timeStyle: 'short' }).format(ms)
}

const SPANS = [
  { unit: 'day', seconds: 86_400 },
  { unit: 'hour', seconds: 3_600 },
  { unit: 'minute', seconds: 60 },
  { unit: 'second', seconds: 1 },
] as const

/** Returns a duration in its largest unit, such as `3 min`. It is rounded down. */
export function formatSpan(seconds: number): string {
  const span = SPANS.find((candidate) => seconds >= candidate.seconds) ?? { unit: 'second', seconds: 1 }
  const format = { style: 'unit', unit: span.unit, unitDisplay: 'short' } as const
  return new Intl.NumberFormat(i18next.language, format).format(Math.floor(seconds / span.seconds))
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']

/** Returns a size with a unit that is a power of 1,000 bytes, as quotas have it. */
export function formatBytes(bytes: number): string {
  // Nothing is 0 MB, because few sizes are smaller.
  const power = bytes < 1 ? 2 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  const format = { style: 'unit', unit: BYTE_UNITS[power] ?? 'byte', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(i18next.language, format).format(bytes / 1_000 ** power)
}

/** Returns a share of 0 to 1 in percent. */
export function formatShare(share: number): string {
  return new Intl.NumberFormat(i18next.language, { style: 'percent', maximumFractionDigits: 1 }).format(share)
}

export function formatNumber(value: number): string {
  return new Intl.NumberFormat(i18next.language).format(value)
}
