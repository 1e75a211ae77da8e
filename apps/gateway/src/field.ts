import { z } from 'zod'

/** What is wrong with a value, as the end of a sentence that begins with the field's name. */
export class Refusal {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

export function refuse(message: string): Refusal {
  return new Refusal(message)
}

/** A message for zod's own checks: a missing field is told apart from a bad one. */
export function problem(message: string): { error: (issue: { input?: unknown }) => string } {
  return { error: ({ input }) => (input === undefined ? 'is required' : message) }
}

/**
 * A field of a path, query or payload. `read` takes what came in, of whatever type, and answers the value or a `Refusal`;
 * `shown` is the value's shape, which is also what the API document shows.
 */
export function field<Shown extends z.ZodType>(read: (value: unknown) => unknown, shown: Shown): z.ZodPreprocess<Shown> {
  return z.preprocess((value, context) => {
    const result = value === undefined ? refuse('is required') : read(value)
    if (!(result instanceof Refusal)) return result
    context.addIssue({ code: 'custom', message: result.message, input: value })
    return z.NEVER
  }, shown)
}
