import { parseTime } from './format.ts'

/** Returns the value of an input for a local date and time. Empty for an empty text. */
export function toLocalTime(text: string): string {
  return text === '' ? '' : toLocalInput(parseTime(text))
}

/** Returns the value of an input for a local date and time for milliseconds since 1970. */
export function toLocalInput(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Returns a time of the API, which is in UTC, for the value of an input. Empty for an empty input. */
export function toUtcTime(local: string): string {
  return local === '' ? '' : new Date(local).toISOString().slice(0, 19).replace('T', ' ')
}
