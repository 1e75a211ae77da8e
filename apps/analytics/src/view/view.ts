import { addCells, addSpan, cellSpan, createCells, listCells, type Span } from './cells.ts'
import { hasReferrer } from './dimension.ts'

/** The numbers of event types in the database and in the proto. */
export const EVENT_TYPE = { load: 1, play: 2, progress: 3, ended: 4 } as const

/**
 * The data of an event about its view. Times are in milliseconds. `watched` and `rewatched` are lists
 * of start, end, start, end, ...
 */
export interface ViewEvent {
  viewId: string
  videoId: string
  organisationId: string
  type: number
  atMs: number
  /** Duration of the video when the event arrived, or 0 if the video was not playable. */
  durationMs: number
  positionMs: number | undefined
  watched: readonly number[]
  rewatched: readonly number[]
  language: string
  subtitle: string
  quality: Quality | undefined
  error: string
  /** The dimensions as a text. Empty for events of a version that did not store them. */
  client: string
}

export interface Quality {
  startupMs: number | undefined
  stalls: number
  stalledMs: number
  switches: number
}

/** The merged events of a view that have the same video duration. Each field is a minimum, a maximum or a union. */
export interface ViewPart {
  viewId: string
  videoId: string
  organisationId: string
  durationMs: number
  firstMs: number
  lastMs: number
  played: boolean
  furthestMs: number
  /** Bit b is set if a part from 5 b % to 5 (b + 1) % was watched. */
  buckets: number
  watched: Uint8Array
  rewatched: Uint8Array
  language: TimedText
  subtitle: TimedText
  quality: Quality | undefined
  failed: boolean
  client: TimedText
}

/** A text and the time at which the player reported it. */
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
    watched: createCells(durationMs),
    rewatched: createCells(durationMs),
    language: NO_TEXT,
    subtitle: NO_TEXT,
    quality: undefined,
    failed: false,
    client: NO_TEXT,
  }
}

/** Merges an event in place. The operation is idempotent and commutative. */
export function addEvent(part: ViewPart, event: ViewEvent): void {
  const { durationMs } = part
  part.firstMs = Math.min(part.firstMs, event.atMs)
  part.lastMs = Math.max(part.lastMs, event.atMs)
  part.played ||= isPlay(event)
  part.furthestMs = Math.max(part.furthestMs, clampPosition(event))
  for (const span of toSpans(event.watched, durationMs)) {
    part.furthestMs = Math.max(part.furthestMs, span.to)
    part.buckets |= findBuckets(span, durationMs)
    addSpan(part.watched, durationMs, span)
  }
  for (const span of toSpans(event.rewatched, durationMs)) addSpan(part.rewatched, durationMs, span)
  part.language = latestText(part.language, { text: event.language, atMs: event.atMs })
  part.subtitle = latestText(part.subtitle, { text: event.subtitle, atMs: event.atMs })
  part.quality = worstQuality(part.quality, event.quality)
  part.failed ||= event.error !== ''
  part.client = latestClient(part.client, { text: event.client, atMs: event.atMs })
}

/** Merges another part of the same view and the same duration, in place. */
export function addPart(part: ViewPart, added: ViewPart): void {
  part.firstMs = Math.min(part.firstMs, added.firstMs)
  part.furthestMs = Math.max(part.furthestMs, added.furthestMs)
  part.buckets |= added.buckets
  addCells(part.watched, added.watched)
  addCells(part.rewatched, added.rewatched)
  addCommonFields(part, added)
}

/** Returns whether an event counts as playback. */
export function isPlay({ type }: Pick<ViewEvent, 'type'>): boolean {
  return type !== EVENT_TYPE.load
}

/**
 * Returns the view as one part with the first known duration of the video. Returns undefined for an
 * empty list. Of parts with another duration, complete cells are added. `firstMs` is the time of the
 * first event of all parts.
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
    combined.furthestMs = Math.max(combined.furthestMs, clampToDuration(part.furthestMs, durationMs))
    for (const span of convertCells(part.watched, part.durationMs, durationMs)) {
      combined.buckets |= findBuckets(span, durationMs)
      addSpan(combined.watched, durationMs, span)
    }
    for (const span of convertCells(part.rewatched, part.durationMs, durationMs)) addSpan(combined.rewatched, durationMs, span)
    addCommonFields(combined, part)
  }
  return combined
}

/** Merges the fields that do not depend on the duration. */
function addCommonFields(part: ViewPart, added: ViewPart): void {
  part.lastMs = Math.max(part.lastMs, added.lastMs)
  part.played ||= added.played
  part.language = latestText(part.language, added.language)
  part.subtitle = latestText(part.subtitle, added.subtitle)
  part.quality = worstQuality(part.quality, added.quality)
  part.failed ||= added.failed
  part.client = latestClient(part.client, added.client)
}

/** Returns the position of the player. It is the duration if playback ended near the end of the video. */
function clampPosition({ type, positionMs, durationMs }: ViewEvent): number {
  if (type === EVENT_TYPE.ended && durationMs > 0 && durationMs - (positionMs ?? durationMs) <= END_TOLERANCE_MS) return durationMs
  return clampToDuration(positionMs ?? 0, durationMs)
}

/** Returns the 5 % buckets that a span overlaps. */
function findBuckets({ from, to }: Span, durationMs: number): number {
  if (durationMs === 0) return 0
  const last = Math.min(Math.ceil((20 * to) / durationMs), 20)
  let buckets = 0
  for (let bucket = Math.floor((20 * from) / durationMs); bucket < last; bucket++) buckets |= 1 << bucket
  return buckets
}

function* toSpans(pairs: readonly number[], durationMs: number): Generator<Span> {
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    const span = { from: clampToDuration(pairs[index] ?? 0, durationMs), to: clampToDuration(pairs[index + 1] ?? 0, durationMs) }
    if (span.from < span.to) yield span
  }
}

function* convertCells(cells: Uint8Array, durationMs: number, targetDurationMs: number): Generator<Span> {
  for (const cell of listCells(cells)) {
    const { from, to } = cellSpan(cell, durationMs)
    const span = { from: clampToDuration(from, targetDurationMs), to: clampToDuration(to, targetDurationMs) }
    if (span.from < span.to) yield span
  }
}

/** Limits a position to the duration, if that is known. */
function clampToDuration(ms: number, durationMs: number): number {
  return durationMs > 0 ? Math.min(ms, durationMs) : ms
}

/** Returns the newer text. Of two texts with the same time, it returns the greater one. */
function latestText(a: TimedText, b: TimedText): TimedText {
  if (b.text === '') return a
  if (a.text === '' || b.atMs > a.atMs) return b
  return b.atMs === a.atMs && b.text > a.text ? b : a
}

/** Returns the newer client. A client with a referrer precedes one without, because some players send it only once. */
function latestClient(a: TimedText, b: TimedText): TimedText {
  if (a.text === '' || b.text === '' || hasReferrer(a.text) === hasReferrer(b.text)) return latestText(a, b)
  return hasReferrer(a.text) ? a : b
}

function worstQuality(a: Quality | undefined, b: Quality | undefined): Quality | undefined {
  if (!a || !b) return a ?? b
  return {
    startupMs: a.startupMs === undefined ? b.startupMs : Math.max(a.startupMs, b.startupMs ?? 0),
    stalls: Math.max(a.stalls, b.stalls),
    stalledMs: Math.max(a.stalledMs, b.stalledMs),
    switches: Math.max(a.switches, b.switches),
  }
}
