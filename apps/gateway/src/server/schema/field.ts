import { z } from 'zod'

/** The rejection of a field. Its message follows the name of the field in a sentence: `must be a number`. */
export class Rejection {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

export function reject(message: string): Rejection {
  return new Rejection(message)
}

/** Returns the error option of a zod schema: `message` for an invalid value, and `is required` for a missing one. */
export function problem(message: string): { error: (issue: { input?: unknown }) => string } {
  return { error: ({ input }) => (input === undefined ? 'is required' : message) }
}

/**
 * Returns the schema of a field of a path, query or payload. `read` receives the input, of any
 * type, and returns the value or a `Rejection`. It is not called for a missing field, which is rejected
 * with `is required`. `schema` is the schema of the value. The API document shows it too.
 */
export function field<Schema extends z.ZodType>(read: (value: unknown) => unknown, schema: Schema): z.ZodPreprocess<Schema> {
  return z.preprocess((value, context) => {
    const result = value === undefined ? reject('is required') : read(value)
    if (!(result instanceof Rejection)) return result
    context.addIssue({ code: 'custom', message: result.message, input: value })
    return z.NEVER
  }, schema)
}

/** An error that results from the values of several fields. It is reported for one of them. */
export interface Clash {
  path: readonly (string | number)[]
  message: string
}

/**
 * Returns `shape` with an additional check that compares the fields of an object or the items of a
 * list. The check `findClashes` also runs if some fields are invalid, so that all errors are reported
 * at once. It receives the value without its invalid fields: for an object, the type `Good` is the
 * object with optional fields; for a list, it is a list of such objects, with undefined in place of
 * each item that is invalid as a whole. `invalidFields` contains the names of the invalid fields of the
 * object, or the indexes of the list items with errors.
 */
export function checked<Shape extends z.ZodType, Good>(
  shape: Shape,
  findClashes: (good: Good, invalidFields: ReadonlySet<PropertyKey>) => readonly Clash[],
): Shape {
  const refine = (value: unknown, { issues, addIssue }: z.core.$RefinementCtx<unknown>): void => {
    const invalidPaths = issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? [] : [issue.path ?? []]))
    if (invalidPaths.some((path) => path.length === 0)) return
    const invalidFields = new Set(invalidPaths.flatMap(([first]) => first ?? []))
    // `shape` has parsed the value, so it has the type `Good` without its invalid parts.
    for (const { path, message } of findClashes(removeInvalid(value, invalidPaths) as Good, invalidFields)) {
      addIssue({ code: 'custom', path: [...path], message, input: value })
    }
  }
  return shape.superRefine(refine, { when: () => true })
}

/** Returns the value without the fields at these paths. Invalid list items become undefined, so that indexes stay the same. */
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
