/**
 * A payload that was already validated and equals the output of its schema, although the schema did
 * not parse it.
 */
export class Validated {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

/** Longer texts use the general parser. */
const MAX_LENGTH = 256 * 1024

/**
 * Returns the value of a text that equals the output of `JSON.stringify` exactly, as most programs
 * send it. Such a text has no duplicate names, no rounded numbers and only one spelling. Returns
 * undefined for every other text, whether it is JSON or not.
 */
export function parseCanonicalJson(text: string): unknown {
  if (text.length > MAX_LENGTH) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return JSON.stringify(value) === text ? value : undefined
  } catch {
    // Not JSON, or nested too deeply. The general parser reports the error.
    return undefined
  }
}
