/** A UUID of version 7: 48 bits of milliseconds since 1970, then random bits. */
const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export function isEntryId(text: string): boolean {
  return FORM.test(text)
}

/** Returns the smallest id of an entry of this time. PostgreSQL sorts ids by time. */
export function toMinId(time: Date): string {
  const ms = Math.min(Math.max(0, Math.floor(time.getTime())), 2 ** 48 - 1)
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** Returns the time of an id in milliseconds since 1970. */
export function toTime(entryId: string): number {
  return Number.parseInt(entryId.replaceAll('-', '').slice(0, 12), 16)
}
