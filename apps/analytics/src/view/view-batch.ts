import { toDay } from './day.ts'
import type { StoredEvent } from './event-row.ts'
import { addEvent, addPart, emptyPart, isPlay, type ViewPart } from './view.ts'

/** The views of several events. Its size depends on the number of views, not on the number of events. */
export interface ViewBatch {
  events: number
  /** Views by the result of `toViewKey`. */
  views: Map<string, BatchedView>
  /** Distinct viewers by day, organisation, video and visitor. */
  viewers: Map<string, VisitorDay>
}

export interface BatchedView {
  viewId: string
  videoId: string
  organisationId: string
  /** One part for each duration of the video. The duration can change while the video is encoded. */
  parts: ViewPart[]
  /** Arrival time of the last event. */
  lastReceivedMs: number
  events: number
  /** The first event with each error code, at most MAX_ERRORS. Undefined without errors, as in most views. */
  errors: Map<string, ViewError> | undefined
}

/** When and where an error was reported first. */
export interface ViewError {
  atMs: number
  positionMs: number | undefined
}

/** A visitor who played a video on a day. */
export interface VisitorDay {
  day: string
  organisationId: string
  videoId: string
  visitor: string
}

/** Maximum number of error codes of a view in one batch. */
const MAX_ERRORS = 10

/** Merges events into views. It is fastest if events of the same view and visitor are consecutive. */
export function batchViews(events: readonly StoredEvent[]): ViewBatch {
  const batch = emptyBatch()
  batch.events = events.length
  let view: BatchedView | undefined
  let visitorDay: VisitorDay | undefined
  for (const event of events) {
    if (view?.viewId !== event.viewId || view.videoId !== event.videoId) view = findOrCreateView(batch.views, event)
    view.lastReceivedMs = Math.max(view.lastReceivedMs, event.receivedMs)
    view.events++
    addEvent(findOrCreatePart(view, event), event)
    if (event.error !== '') addError(view, event.error, event)
    const { visitor, videoId } = event
    if (!visitor || !isPlay(event)) continue
    const day = toDay(event.atMs)
    if (visitorDay?.visitor === visitor && visitorDay.videoId === videoId && visitorDay.day === day) continue
    visitorDay = { day, organisationId: event.organisationId, videoId, visitor }
    addVisitorDay(batch.viewers, visitorDay)
  }
  return batch
}

/**
 * Merges all batches into the first one and returns it. The caller must not use the batches
 * afterwards, because the result contains their objects.
 */
export function mergeBatches(batches: readonly ViewBatch[]): ViewBatch {
  const [first = emptyBatch(), ...otherBatches] = batches
  for (const batch of otherBatches) {
    first.events += batch.events
    for (const [key, view] of batch.views) {
      const mergedView = first.views.get(key)
      if (!mergedView) {
        first.views.set(key, view)
        continue
      }
      mergedView.lastReceivedMs = Math.max(mergedView.lastReceivedMs, view.lastReceivedMs)
      mergedView.events += view.events
      for (const [code, error] of view.errors ?? []) addError(mergedView, code, error)
      for (const part of view.parts) {
        const mergedPart = mergedView.parts.find(({ durationMs }) => durationMs === part.durationMs)
        if (mergedPart) addPart(mergedPart, part)
        else mergedView.parts.push(part)
      }
    }
    for (const visitorDay of batch.viewers.values()) addVisitorDay(first.viewers, visitorDay)
  }
  return first
}

function emptyBatch(): ViewBatch {
  return { events: 0, views: new Map(), viewers: new Map() }
}

export function toViewKey({ viewId, videoId }: { viewId: string; videoId: string }): string {
  return `${viewId} ${videoId}`
}

function findOrCreateView(views: ViewBatch['views'], { viewId, videoId, organisationId, receivedMs }: StoredEvent): BatchedView {
  const key = toViewKey({ viewId, videoId })
  const existing = views.get(key)
  if (existing) return existing
  const view = { viewId, videoId, organisationId, parts: [], lastReceivedMs: receivedMs, events: 0, errors: undefined }
  views.set(key, view)
  return view
}

function addError(view: BatchedView, code: string, { atMs, positionMs }: ViewError): void {
  view.errors ??= new Map()
  const { errors } = view
  const first = errors.get(code)
  const isEarlier = first && (atMs - first.atMs || (positionMs ?? -1) - (first.positionMs ?? -1)) < 0
  if (first ? isEarlier : errors.size < MAX_ERRORS) errors.set(code, { atMs, positionMs })
}

function findOrCreatePart({ parts }: BatchedView, event: StoredEvent): ViewPart {
  for (const part of parts) if (part.durationMs === event.durationMs) return part
  const part = emptyPart(event)
  parts.push(part)
  return part
}

function addVisitorDay(viewers: ViewBatch['viewers'], visitorDay: VisitorDay): void {
  const { day, organisationId, videoId, visitor } = visitorDay
  const key = `${day} ${organisationId} ${videoId} ${visitor}`
  if (!viewers.has(key)) viewers.set(key, visitorDay)
}
