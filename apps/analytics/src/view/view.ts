import { addCells, addSpan, cellNumbers, emptyCells, type Span, spanOf } from './cells.ts'

/** The stored numbers of event types; they are also those of the proto. */
export const EVENT_TYPE = { load: 1, play: 2, progress: 3, ended: 4 } as const

/**
 * The data of one event about its view. Times are in milliseconds; `watched` and `rewatched` are
 * flat lists of half-open pairs.
 */
export interface ViewEvent {
  viewId: string
  videoId: string
  organisationId: string
  type: number
  atMs: number
  /** Duration of the video when the event arrived; 0 if it was not playable. */
  durationMs: number
  positionMs: number | undefined
  watched: readonly number[]
  rewatched: readonly number[]
  language: string
  subtitle: string
  quality: Quality | undefined
  error: string
}

export interface Quality {
  startupMs: number | undefined
  stalls: number
  stalledMs: number
}

/** The merged events of one view while its video had one duration. Each field is a minimum, a maximum or a union. */
export interface ViewPart {
  viewId: string
  videoId: string
  organisationId: string
  durationMs: number
  firstMs: number
  lastMs: number
  played: boolean
  furthestMs: number
  /** Bit b: any part from 5 b % to 5 (b + 1) % was watched. */
  buckets: number
  watched: Uint8Array
  rewatched: Uint8Array
  language: TimedText
  subtitle: TimedText
  quality: Quality | undefined
  failed: boolean
}

/** The latest text. Of two texts at the same time, the greater one is used. */
export interface TimedText {
  text: string
  atMs: number
}

const NO_TEXT: TimedText = { text: '', atMs: 0 }
/** Tolerated difference between the end in the player and the end in the catalogue. */
const END_TOLERANCE_MS = 1_000

export function emptyPart({ viewId, videoId, organisationId, durationMs, atMs }: ViewEvent): ViewPart {
  return {
    viewId,
    videoId,
    organisationId,
    durationMs,
    firstMs: atMs,
    lastMs: atMs,
    played: false,
    furthestMs: 0,
    buckets: 0,
    watched: emptyCells(durationMs),
    rewatched: emptyCells(durationMs),
    language: NO_TEXT,
    subtitle: NO_TEXT,
    quality: undefined,
    failed: false,
  }
}

/** Merges an event in place. The operation is idempotent and commutative. */
export function addEvent(part: ViewPart, event: ViewEvent): void {
  const { durationMs } = part
  part.firstMs = Math.min(part.firstMs, event.atMs)
  part.lastMs = Math.max(part.lastMs, event.atMs)
  part.played ||= isPlay(event)
  part.furthestMs = Math.max(part.furthestMs, positionOf(event))
  for (const span of spansOf(event.watched, durationMs)) {
    part.furthestMs = Math.max(part.furthestMs, span.to)
    part.buckets |= bucketsOf(span, durationMs)
    addSpan(part.watched, durationMs, span)
  }
  for (const span of spansOf(event.rewatched, durationMs)) addSpan(part.rewatched, durationMs, span)
  part.language = latest(part.language, { text: event.language, atMs: event.atMs })
  part.subtitle = latest(part.subtitle, { text: event.subtitle, atMs: event.atMs })
  part.quality = worst(part.quality, event.quality)
  part.failed ||= event.error !== ''
}

/** Merges another part of the same view and the same duration, in place. */
export function addPart(part: ViewPart, other: ViewPart): void {
  part.firstMs = Math.min(part.firstMs, other.firstMs)
  part.furthestMs = Math.max(part.furthestMs, other.furthestMs)
  part.buckets |= other.buckets
  addCells(part.watched, other.watched)
  addCells(part.rewatched, other.rewatched)
  addCommonFields(part, other)
}

/** Returns whether an event counts as playback. */
export function isPlay({ type }: Pick<ViewEvent, 'type'>): boolean {
  return type !== EVENT_TYPE.load
}

/**
 * Returns the view as one part with the first known duration of the video, or undefined without
 * parts. Parts with another duration are added by whole cells. The day is that of the very first
 * event.
 */
export function combineParts(parts: readonly ViewPart[]): ViewPart | undefined {
  const sorted = parts.toSorted((a, b) => a.firstMs - b.firstMs || a.durationMs - b.durationMs)
  const [earliest] = sorted
  if (!earliest || sorted.length === 1) return earliest
  const reference = sorted.find((part) => part.durationMs > 0) ?? earliest
  const { durationMs } = reference
  const { firstMs } = earliest
  const combined: ViewPart = { ...reference, firstMs, watched: reference.watched.slice(), rewatched: reference.rewatched.slice() }
  for (const part of sorted) {
    if (part === reference) continue
    combined.furthestMs = Math.max(combined.furthestMs, clamp(part.furthestMs, durationMs))
    for (const span of spansIn(part.watched, part.durationMs, durationMs)) {
      combined.buckets |= bucketsOf(span, durationMs)
      addSpan(combined.watched, durationMs, span)
    }
    for (const span of spansIn(part.rewatched, part.durationMs, durationMs)) addSpan(combined.rewatched, durationMs, span)
    addCommonFields(combined, part)
  }
  return combined
}

/** Merges the fields that do not depend on the duration. */
function addCommonFields(part: ViewPart, other: ViewPart): void {
  part.lastMs = Math.max(part.lastMs, other.lastMs)
  part.played ||= other.played
  part.language = latest(part.language, other.language)
  part.subtitle = latest(part.subtitle, other.subtitle)
  part.quality = worst(part.quality, other.quality)
  part.failed ||= other.failed
}

/** Returns the position of the player. */
function positionOf({ type, positionMs, durationMs }: ViewEvent): number {
  if (type === EVENT_TYPE.ended && durationMs > 0 && durationMs - (positionMs ?? durationMs) <= END_TOLERANCE_MS) return durationMs
  return clamp(positionMs ?? 0, durationMs)
}

/** Returns the 5 % buckets that a span touches. */
function bucketsOf({ from, to }: Span, durationMs: number): number {
  if (durationMs === 0) return 0
  const last = Math.min(Math.ceil((20 * to) / durationMs), 20)
  let buckets = 0
  for (let bucket = Math.floor((20 * from) / durationMs); bucket < last; bucket++) buckets |= 1 << bucket
  return buckets
}

function* spansOf(pairs: readonly number[], durationMs: number): Generator<Span> {
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const span = { from: clamp(pairs[at] ?? 0, durationMs), to: clamp(pairs[at + 1] ?? 0, durationMs) }
    if (span.from < span.to) yield span
  }
}

function* spansIn(cells: Uint8Array, durationMs: number, targetDurationMs: number): Generator<Span> {
  for (const cell of cellNumbers(cells)) {
    const { from, to } = spanOf(cell, durationMs)
    const span = { from: clamp(from, targetDurationMs), to: clamp(to, targetDurationMs) }
    if (span.from < span.to) yield span
  }
}

/** Limits a position to the duration, if that is known. */
function clamp(ms: number, durationMs: number): number {
  return durationMs > 0 ? Math.min(ms, durationMs) : ms
}

function latest(one: TimedText, other: TimedText): TimedText {
  if (other.text === '') return one
  if (one.text === '' || other.atMs > one.atMs) return other
  return other.atMs === one.atMs && other.text > one.text ? other : one
}

function worst(one: Quality | undefined, other: Quality | undefined): Quality | undefined {
  if (!one || !other) return one ?? other
  return {
    startupMs: one.startupMs === undefined ? other.startupMs : Math.max(one.startupMs, other.startupMs ?? 0),
    stalls: Math.max(one.stalls, other.stalls),
    stalledMs: Math.max(one.stalledMs, other.stalledMs),
  }
}
