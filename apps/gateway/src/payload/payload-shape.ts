import type { z } from 'zod'

/** What a payload is: named fields, a record of any names, or a list. */
export type PayloadShape = z.ZodObject | z.ZodRecord | z.ZodArray
