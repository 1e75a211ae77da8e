import { emptyCells, members, type Span, spanOf, touch, unite } from './cells.ts'

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
  language: Named
  subtitle: Named
  quality: Quality | undefined
  failed: boolean
}

/** The latest text. Of two texts at the same time, the greater one is used. */
export interface Named {
  text: string
  atMs: number
}

const NOBODY: Named = { text: '', atMs: 0 }
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
    language: NOBODY,
    subtitle: NOBODY,
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
  part.furthestMs = Math.max(part.furthestMs, pointOf(event))
  for (const span of spansOf(event.watched, durationMs)) {
    part.furthestMs = Math.max(part.furthestMs, span.to)
    part.buckets |= bucketsOf(span, durationMs)
    touch(part.watched, durationMs, span)
  }
  for (const span of spansOf(event.rewatched, durationMs)) touch(part.rewatched, durationMs, span)
  part.language = later(part.language, { text: event.language, atMs: event.atMs })
  part.subtitle = later(part.subtitle, { text: event.subtitle, atMs: event.atMs })
  part.quality = worse(part.quality, event.quality)
  part.failed ||= event.error !== ''
}

/** Merges another part of the same view and the same duration, in place. */
export function addPart(part: ViewPart, other: ViewPart): void {
  part.firstMs = Math.min(part.firstMs, other.firstMs)
  part.furthestMs = Math.max(part.furthestMs, other.furthestMs)
  part.buckets |= other.buckets
  unite(part.watched, other.watched)
  unite(part.rewatched, other.rewatched)
  addRest(part, other)
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
export function wholeView(parts: readonly ViewPart[]): ViewPart | undefined {
  const inOrder = parts.toSorted((a, b) => a.firstMs - b.firstMs || a.durationMs - b.durationMs)
  const [earliest] = inOrder
  if (!earliest || inOrder.length === 1) return earliest
  const measure = inOrder.find((part) => part.durationMs > 0) ?? earliest
  const { durationMs } = measure
  const { firstMs } = earliest
  const whole: ViewPart = { ...measure, firstMs, watched: measure.watched.slice(), rewatched: measure.rewatched.slice() }
  for (const part of inOrder) {
    if (part === measure) continue
    whole.furthestMs = Math.max(whole.furthestMs, clamp(part.furthestMs, durationMs))
    for (const span of spansIn(part.watched, part.durationMs, durationMs)) {
      whole.buckets |= bucketsOf(span, durationMs)
      touch(whole.watched, durationMs, span)
    }
    for (const span of spansIn(part.rewatched, part.durationMs, durationMs)) touch(whole.rewatched, durationMs, span)
    addRest(whole, part)
  }
  return whole
}

/** Merges the fields that do not depend on the duration. */
function addRest(part: ViewPart, other: ViewPart): void {
  part.lastMs = Math.max(part.lastMs, other.lastMs)
  part.played ||= other.played
  part.language = later(part.language, other.language)
  part.subtitle = later(part.subtitle, other.subtitle)
  part.quality = worse(part.quality, other.quality)
  part.failed ||= other.failed
}

/** Returns the position of the player. */
function pointOf({ type, positionMs, durationMs }: ViewEvent): number {
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

function* spansIn(cells: Uint8Array, durationMs: number, wantedMs: number): Generator<Span> {
  for (const cell of members(cells)) {
    const { from, to } = spanOf(cell, durationMs)
    const span = { from: clamp(from, wantedMs), to: clamp(to, wantedMs) }
    if (span.from < span.to) yield span
  }
}

/** Limits a position to the duration, if that is known. */
function clamp(ms: number, durationMs: number): number {
  return durationMs > 0 ? Math.min(ms, durationMs) : ms
}

function later(one: Named, other: Named): Named {
  if (other.text === '') return one
  if (one.text === '' || other.atMs > one.atMs) return other
  return other.atMs === one.atMs && other.text > one.text ? other : one
}

function worse(one: Quality | undefined, other: Quality | undefined): Quality | undefined {
  if (!one || !other) return one ?? other
  return {
    startupMs: one.startupMs === undefined ? other.startupMs : Math.max(one.startupMs, other.startupMs ?? 0),
    stalls: Math.max(one.stalls, other.stalls),
    stalledMs: Math.max(one.stalledMs, other.stalledMs),
  }
}
