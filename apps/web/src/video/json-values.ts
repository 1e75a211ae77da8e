/** Returns a JSON value as an object. Any other value results in an empty object. */
export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
}

/** Returns a JSON value as text. Any other value results in an empty text. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Returns a JSON value as a number. Values that are not numbers result in 0. */
export function asNumber(value: unknown): number {
  const number = Number(value ?? 0)
  return Number.isFinite(number) ? number : 0
}

/** Returns a JSON value as a flag. Stored flags are `"0"` and `"1"`. */
export function asFlag(value: unknown, defaultValue = false): boolean {
  if (value === undefined || value === null || value === '') return defaultValue
  return value === true || value === 1 || value === '1'
}
