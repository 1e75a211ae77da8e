import { z } from 'zod'
import { formatTimestamp } from './dates.ts'
import { idExample } from './id-example.ts'

/** Formats a flag as `"0"` or `"1"`. */
export function formatFlag(value: boolean | undefined): '0' | '1' {
  return value ? '1' : '0'
}

/** Formats a number as text. An absent one is empty. */
export function formatNumber(value: number | undefined): string {
  return value === undefined ? '' : String(value)
}

/** Formats a time as `YYYY-MM-DD HH:mm:ss` in UTC. An absent one is empty. */
export function formatOptionalTimestamp(value: Date | undefined): string {
  return value === undefined ? '' : formatTimestamp(value)
}

/** Formats seconds with at most 3 decimals: `12.48`. */
export function formatSeconds(seconds: number): string {
  return String(Math.round(seconds * 1_000) / 1_000)
}

/**
 * Returns the value, or throws if a service omitted a field that its response always has. Protobuf
 * cannot express that.
 */
export function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`a service response lacks a field: ${name}`)
  return value
}

/** Returns the named fields of a response, for `data` of an update response. */
export function changedFields<Body extends object>(body: Body, names: readonly string[]): Partial<Body> {
  const included = new Set(names)
  // Filtering entries preserves the type of each field.
  return Object.fromEntries(Object.entries(body).filter(([name]) => included.has(name))) as Partial<Body>
}

/** Schemas for the fields of responses, as shown in the API document. */
export const schema = {
  id: (noun: string) => z.string().meta({ description: `Id of the ${noun}.`, example: idExample(noun) }),
  text: (description: string, example?: string) => z.string().meta({ description, ...(example === undefined ? {} : { example }) }),
  flag: (description: string) => z.enum(['0', '1']).meta({ description, example: '1' }),
  number: (description: string, example = '1280') => z.string().meta({ description: `${description} Empty if it is unknown.`, example }),
  timestamp: (description: string) => z.string().meta({ description: `${description} UTC.`, example: '2030-12-31 23:59:59' }),
  bool: (description: string) => z.boolean().meta({ description }),
  int: (description: string, example?: number) => z.int().meta({ description, ...(example === undefined ? {} : { example }) }),
}

/** Header of a response that cannot have an `id`, because it is a list. */
export function createdAt(example: string): z.ZodObject {
  return z.object({ Location: z.string().meta({ description: 'Path of what was created, which ends with its id.', example }) })
}
