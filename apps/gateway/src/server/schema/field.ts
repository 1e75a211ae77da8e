import { z } from 'zod'

/** An error message that follows the field name in a sentence. */
export class Rejection {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

export function reject(message: string): Rejection {
  return new Rejection(message)
}

/** Returns the error option for zod's own checks. A missing field has a message of its own. */
export function problem(message: string): { error: (issue: { input?: unknown }) => string } {
  return { error: ({ input }) => (input === undefined ? 'is required' : message) }
}

/**
 * Returns the schema of a field of a path, query or payload. `read` receives the input, of any
 * type, and returns the value or a `Rejection`. `schema` is the schema of the value, which the API
 * document shows too.
 */
export function field<Schema extends z.ZodType>(read: (value: unknown) => unknown, schema: Schema): z.ZodPreprocess<Schema> {
  return z.preprocess((value, context) => {
    const result = value === undefined ? reject('is required') : read(value)
    if (!(result instanceof Rejection)) return result
    context.addIssue({ code: 'custom', message: result.message, input: value })
    return z.NEVER
  }, schema)
}

/** An error between fields, reported for one of them. */
export interface Clash {
  path: readonly (string | number)[]
  message: string
}

/**
 * Adds a check between the fields of an object or the items of a list. The check receives only
 * valid parts, even if others are invalid, so that all errors are reported at once. `Good` is an
 * object of optional fields, or a list of such objects and undefined. `invalidFields` has the names of the others.
 */
export function checked<Shape extends z.ZodType, Good>(
  shape: Shape,
  clashes: (good: Good, invalidFields: ReadonlySet<PropertyKey>) => readonly Clash[],
): Shape {
  const refine = (value: unknown, { issues, addIssue }: z.core.$RefinementCtx<unknown>): void => {
    const invalidPaths = issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? [] : [issue.path ?? []]))
    if (invalidPaths.some((path) => path.length === 0)) return
    // `shape` has parsed the value, and the invalid parts are removed.
    const invalidFields = new Set(invalidPaths.flatMap(([first]) => first ?? []))
    for (const { path, message } of clashes(removeInvalid(value, invalidPaths) as Good, invalidFields)) {
      addIssue({ code: 'custom', path: [...path], message, input: value })
    }
  }
  return shape.superRefine(refine, { when: () => true })
}

function removeInvalid(value: unknown, invalidPaths: readonly PropertyKey[][]): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => {
      const inner = invalidPaths.filter(([at]) => at === index).map(([, ...path]) => path)
      return inner.some((path) => path.length === 0) ? undefined : removeInvalid(item, inner)
    })
  }
  const names = new Set(invalidPaths.map(([name]) => name))
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)))
    : value
}
