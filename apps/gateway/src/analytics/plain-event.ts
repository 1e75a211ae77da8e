import type { z } from 'zod'
import type { PlayerEvent } from './event.ts'

type Sent = z.output<typeof PlayerEvent>

/**
 * Events that the schema would hand on as they are, told at a tenth of what it costs. Undefined for anything else: the schema reads it then, and names
 * what is wrong with it, if anything is. The value is one that `parsePlainJson` took.
 */
export function readPlainEvents(value: unknown): Sent[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_EVENTS) return undefined
  let intervals = 0
  for (const event of value as unknown[]) {
    if (!isPlainEvent(event)) return undefined
    intervals += (event.watched?.length ?? 0) + (event.rewatched?.length ?? 0)
  }
  return intervals > MOST_INTERVALS_IN_ALL ? undefined : value
}

export const MOST_EVENTS = 100
const MOST_INTERVALS = 1_000
/** A JSON text has a bound of values and names in all, which is far off below this. */
const MOST_INTERVALS_IN_ALL = 4_000
const VIDEO_ID = /^[1-9]\d{0,18}$/
const VIEW_ID = /^[\w-]{1,100}$/
const LANGUAGE = /^[A-Za-z0-9-]{0,35}$/
const WORDS = /^[\x20-\x7e]{0,100}$/
const TYPES: ReadonlySet<unknown> = new Set(['load', 'play', 'progress', 'ended'])

const FIELDS: Readonly<Record<keyof Sent, (value: unknown) => boolean>> = {
  video_id: (value) => isLike(value, VIDEO_ID),
  view_id: (value) => isLike(value, VIEW_ID),
  type: (value) => TYPES.has(value),
  at: isNumber,
  position: isNumber,
  watched: isIntervals,
  rewatched: isIntervals,
  language: (value) => isLike(value, LANGUAGE),
  subtitle: (value) => isLike(value, LANGUAGE),
  qoe: isQuality,
}
const REQUIRED = ['video_id', 'view_id', 'type', 'at'] as const satisfies readonly (keyof Sent)[]
const QUALITY: Readonly<Record<keyof NonNullable<Sent['qoe']>, (value: unknown) => boolean>> = {
  startup_ms: (value) => isWithin(value, 3_600_000),
  stalls: (value) => Number.isSafeInteger(value) && isWithin(value, 1_000_000),
  stalled_ms: (value) => isWithin(value, 86_400_000),
  error: (value) => isLike(value, WORDS),
}

function isPlainEvent(value: unknown): value is Sent {
  return isObjectOf(value, FIELDS) && REQUIRED.every((name) => Object.hasOwn(value, name))
}

function isQuality(value: unknown): boolean {
  return isObjectOf(value, QUALITY)
}

/** True when each of its fields is one of these, and good. */
function isObjectOf(value: unknown, fields: Readonly<Record<string, (value: unknown) => boolean>>): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  for (const [name, field] of Object.entries(value)) {
    if (!Object.hasOwn(fields, name) || !fields[name]?.(field)) return false
  }
  return true
}

function isIntervals(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > MOST_INTERVALS) return false
  for (const interval of value as unknown[]) {
    if (!Array.isArray(interval) || interval.length !== 2 || !isNumber(interval[0]) || !isNumber(interval[1])) return false
  }
  return true
}

/** One that JSON holds exactly. */
function isNumber(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
}

function isWithin(value: unknown, most: number): boolean {
  return typeof value === 'number' && value >= 0 && value <= most
}

function isLike(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value)
}
