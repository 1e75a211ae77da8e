import { z } from 'zod'
import { formatTimestamp } from './dates.ts'

/** Stored flags are `"0"` and `"1"`. */
export function flagText(value: boolean | undefined): '0' | '1' {
  return value ? '1' : '0'
}

/** Stored numbers are text; an absent one is empty. */
export function numberText(value: number | undefined): string {
  return value === undefined ? '' : String(value)
}

/** `YYYY-MM-DD HH:mm:ss` in UTC; an absent time is empty. */
export function timestampText(value: Date | undefined): string {
  return value === undefined ? '' : formatTimestamp(value)
}

/** Seconds with at most 3 decimals: `12.48`. */
export function secondsText(seconds: number): string {
  return String(Math.round(seconds * 1_000) / 1_000)
}

/** What a service's answer always has, though the wire format cannot say so. */
export function given<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`a service answered without ${name}`)
  return value
}

/** The fields that were named, as the record has them: what `data` of an update shows. */
export function changedFields<View extends object>(view: View, names: readonly string[]): Partial<View> {
  const named = new Set(names)
  // Entries of an object keep the types of their own names.
  return Object.fromEntries(Object.entries(view).filter(([name]) => named.has(name))) as Partial<View>
}

/** Shapes that answers are made of, for the API document. */
export const shown = {
  id: (noun: string) => z.string().meta({ description: `Id of the ${noun}.`, example: '42' }),
  text: (description: string, example?: string) => z.string().meta({ description, ...(example === undefined ? {} : { example }) }),
  flag: (description: string) => z.enum(['0', '1']).meta({ description, example: '1' }),
  number: (description: string, example = '1280') => z.string().meta({ description: `${description} Empty if unknown.`, example }),
  timestamp: (description: string) => z.string().meta({ description: `${description} UTC.`, example: '2030-12-31 23:59:59' }),
  bool: (description: string) => z.boolean().meta({ description }),
  int: (description: string, example?: number) => z.int().meta({ description, ...(example === undefined ? {} : { example }) }),
}
