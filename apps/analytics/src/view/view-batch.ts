import { dayOf } from './contribution.ts'
import type { StoredEvent } from './event-row.ts'
import { addEvent, addPart, emptyPart, isPlay, type ViewPart } from './view.ts'

/** The views that result from several events. Its size depends on the number of views, not of events. */
export interface ViewBatch {
  events: number
  /** Views by `viewKey`. */
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
  seenMs: number
  events: number
}

/** A visitor who played a video on a day. */
export interface VisitorDay {
  day: string
  organisationId: string
  videoId: string
  visitor: string
}

/** Merges events into views. Optimised for consecutive events of the same view and visitor. */
export function batchViews(events: readonly StoredEvent[]): ViewBatch {
  const batch = emptyBatch()
  batch.events = events.length
  let view: BatchedView | undefined
  let visitorDay: VisitorDay | undefined
  for (const event of events) {
    if (view?.viewId !== event.viewId || view.videoId !== event.videoId) view = viewOf(batch.views, event)
    view.seenMs = Math.max(view.seenMs, event.receivedMs)
    view.events++
    addEvent(partOf(view, event), event)
    const { visitor, videoId } = event
    if (!visitor || !isPlay(event)) continue
    const day = dayOf(event.atMs)
    if (visitorDay?.visitor === visitor && visitorDay.videoId === videoId && visitorDay.day === day) continue
    visitorDay = { day, organisationId: event.organisationId, videoId, visitor }
    addVisitorDay(batch.viewers, visitorDay)
  }
  return batch
}

/**
 * Merges all batches into the first one and returns it. The result shares objects with the arguments,
 * so the caller must not use these afterwards.
 */
export function mergeBatches(all: readonly ViewBatch[]): ViewBatch {
  const [first = emptyBatch(), ...others] = all
  for (const other of others) {
    first.events += other.events
    for (const [key, view] of other.views) {
      const known = first.views.get(key)
      if (!known) {
        first.views.set(key, view)
        continue
      }
      known.seenMs = Math.max(known.seenMs, view.seenMs)
      known.events += view.events
      for (const part of view.parts) {
        const same = known.parts.find(({ durationMs }) => durationMs === part.durationMs)
        if (same) addPart(same, part)
        else known.parts.push(part)
      }
    }
    for (const visitorDay of other.viewers.values()) addVisitorDay(first.viewers, visitorDay)
  }
  return first
}

function emptyBatch(): ViewBatch {
  return { events: 0, views: new Map(), viewers: new Map() }
}

export function viewKey({ viewId, videoId }: { viewId: string; videoId: string }): string {
  return `${viewId} ${videoId}`
}

function viewOf(views: ViewBatch['views'], { viewId, videoId, organisationId, receivedMs }: StoredEvent): BatchedView {
  const key = viewKey({ viewId, videoId })
  const known = views.get(key)
  if (known) return known
  const view = { viewId, videoId, organisationId, parts: [], seenMs: receivedMs, events: 0 }
  views.set(key, view)
  return view
}

function partOf({ parts }: BatchedView, event: StoredEvent): ViewPart {
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
