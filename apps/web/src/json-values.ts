/** Reads JSON of a server. A missing value, or one of another type, reads as empty. */
export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function asNumber(value: unknown): number {
  const number = Number(value ?? 0)
  return Number.isFinite(number) ? number : 0
}

/** Stored flags are `"0"` and `"1"`. A missing flag reads as `missing`. */
export function asFlag(value: unknown, missing = false): boolean {
  if (value === undefined || value === null || value === '') return missing
  return value === true || value === 1 || value === '1'
}
