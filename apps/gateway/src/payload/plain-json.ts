/** What a payload is when nothing of it has to be looked at again: a schema's output, although no schema has seen it. */
export class Checked {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

/** Larger ones are read as any other text. */
const LONGEST = 256 * 1024

/**
 * The value of a text that is, to the letter, what `JSON.stringify` makes of it, as programs send it: then no name is there twice, no number was
 * rounded, and nothing is spelled in two ways. Undefined for every other text, whether it is JSON or not.
 */
export function parsePlainJson(text: string): unknown {
  if (text.length > LONGEST) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return JSON.stringify(value) === text ? value : undefined
  } catch {
    // No JSON, or too deep: whoever reads it next says so.
    return undefined
  }
}
