/** A UUID of version 7: 48 bits of milliseconds since 1970, then chance. */
const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export function isEntryId(text: string): boolean {
  return FORM.test(text)
}

/** The least id that an entry of this time can have; ids of earlier times are smaller, as PostgreSQL compares them. */
export function leastIdOf(time: Date): string {
  const ms = Math.min(Math.max(0, Math.floor(time.getTime())), 2 ** 48 - 1)
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
