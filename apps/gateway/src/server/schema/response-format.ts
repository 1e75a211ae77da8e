import { z } from 'zod'
import { formatTimestamp } from './dates.ts'
import { idExample } from './id-example.ts'

/** Formats a flag as `"0"` or `"1"`. An absent one is `"0"`. */
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

/** Schemas for the fields of responses, as shown in the API document. `example` is shown there too. */
export const schema = {
  /** An id as text. `noun` is the kind of record, such as `video`. */
  id: (noun: string) => z.string().meta({ description: `Id of the ${noun}.`, example: idExample(noun) }),
  text: (description: string, example?: string) => z.string().meta({ description, ...(example === undefined ? {} : { example }) }),
  /** `"0"` or `"1"`, the result of `formatFlag`. */
  flag: (description: string) => z.enum(['0', '1']).meta({ description, example: '1' }),
  /** A number as text, the result of `formatNumber`. */
  number: (description: string, example = '1280') => z.string().meta({ description: `${description} Empty if it is unknown.`, example }),
  /** A time as text, the result of `formatOptionalTimestamp`. */
  timestamp: (description: string) => z.string().meta({ description: `${description} UTC.`, example: '2030-12-31 23:59:59' }),
  /** A JSON boolean. */
  bool: (description: string) => z.boolean().meta({ description }),
  /** A JSON integer. */
  int: (description: string, example?: number) => z.int().meta({ description, ...(example === undefined ? {} : { example }) }),
}

/**
 * Returns the schema of the `Location` header of a response that creates a record. It is for responses
 * that cannot have a field `id`, because their body is a list.
 */
export function locationHeader(example: string): z.ZodObject {
  return z.object({ Location: z.string().meta({ description: 'Path of the created record. It ends with the id of the record.', example }) })
}
