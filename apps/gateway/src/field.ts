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

/** What is wrong between fields, told of one of them. */
export interface Clash {
  path: readonly (string | number)[]
  message: string
}

/**
 * An object or a list with a check between its fields or items. It is given whatever is good in itself, also where something else is bad,
 * so that all is named at once: `Good` is an object of optional fields, or a list of such objects and undefined.
 */
export function checked<Shape extends z.ZodType, Good>(shape: Shape, clashes: (good: Good) => readonly Clash[]): Shape {
  const refine = (value: unknown, { issues, addIssue }: z.core.$RefinementCtx<unknown>): void => {
    const bad = issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? [] : [issue.path ?? []]))
    if (bad.some((path) => path.length === 0)) return
    // The shape has parsed it, but for what was taken out.
    for (const { path, message } of clashes(withoutBad(value, bad) as Good)) {
      addIssue({ code: 'custom', path: [...path], message, input: value })
    }
  }
  return shape.superRefine(refine, { when: () => true })
}

function withoutBad(value: unknown, bad: readonly PropertyKey[][]): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => {
      const inner = bad.filter(([at]) => at === index).map(([, ...path]) => path)
      return inner.some((path) => path.length === 0) ? undefined : withoutBad(item, inner)
    })
  }
  const names = new Set(bad.map(([name]) => name))
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)))
    : value
}
