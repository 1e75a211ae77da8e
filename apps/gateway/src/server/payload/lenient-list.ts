import type { FieldError } from '@vitascope/errors'
import { z } from 'zod'
import { addIssue, Problems } from './field-errors.ts'

/**
 * Maximum number of problems in the message of a malformed item. Further problems are only counted.
 */
const MAX_NAMED_PROBLEMS = 5

/** An item of a lenient list that its schema rejected. */
export class MalformedItem {
  /** Every problem as `field: message`, or only the message if the item as a whole is invalid. */
  readonly message: string

  constructor(problems: readonly FieldError[]) {
    const shown = problems.slice(0, MAX_NAMED_PROBLEMS).map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
    const omitted = problems.length - shown.length
    this.message = [...shown, ...(omitted > 0 ? [`${omitted} more ${omitted === 1 ? 'problem' : 'problems'}`] : [])].join('; ')
  }
}

type LenientList<Item extends z.ZodObject> = z.ZodArray<z.ZodType<z.output<Item> | MalformedItem, z.input<Item>>>

interface Bound {
  max: number
  message: string
}

const bounds = new WeakMap<z.ZodType, Bound>()

/**
 * Declares a payload that is a list of at most `max` items, each validated separately. The handler
 * receives a `MalformedItem` in place of an item that `item` rejects. The API document shows a list
 * of `item`.
 */
export function lenientList<Item extends z.ZodObject>(item: Item, bound: Bound): LenientList<Item> {
  const list = z.array(item).max(bound.max, bound.message)
  bounds.set(list, bound)
  // `lenientReader` makes the schema that validates requests. This one is for the API document and
  // form fields.
  return list as unknown as LenientList<Item>
}

/**
 * Returns the schema that validates requests of a lenient list. It rejects only a value that is not
 * a list of at most `max` items. Returns undefined for other payloads.
 */
export function lenientReader(payload: z.ZodArray): z.ZodType | undefined {
  const bound = bounds.get(payload)
  if (!bound) return undefined
  const { element } = payload
  const validateItem = (item: unknown) => {
    if (item instanceof MalformedItem) return item
    const { success, data, error } = z.safeParse(element, item)
    return success ? data : new MalformedItem(listProblems(error))
  }
  return z
    .array(z.unknown())
    .max(bound.max, bound.message)
    .transform((items) => items.map(validateItem))
}

function listProblems({ issues }: z.core.$ZodError): FieldError[] {
  const problems = new Problems()
  for (const issue of issues) addIssue(issue, problems, { rootName: '' })
  return problems.list
}
