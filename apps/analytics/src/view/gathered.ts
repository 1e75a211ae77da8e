import type { KeptEvent } from '../event/event.ts'
import { dayOf } from './contribution.ts'
import { addEvent, addPart, emptyPart, isPlay, type ViewPart } from './view.ts'

/** What some events say together, merged as views are: it grows with the views, and not with the events. */
export interface Gathered {
  events: number
  /** By view and video. */
  views: Map<string, GatheredView>
  /** Those who watched, each once. */
  viewers: Map<string, Seen>
}

export interface GatheredView {
  viewId: string
  videoId: string
  organisationId: string
  /** One for each duration that the video had. */
  parts: ViewPart[]
  /** When the last event came. */
  seenMs: number
}

/** Somebody who played something on a day. */
export interface Seen {
  day: string
  organisationId: string
  videoId: string
  visitor: string
}

/** Most events are of the same view as the one before, and by the same viewer. */
export function gather(events: readonly KeptEvent[]): Gathered {
  const gathered = emptyGathered()
  gathered.events = events.length
  let view: GatheredView | undefined
  let seen: Seen | undefined
  for (const event of events) {
    if (view?.viewId !== event.viewId || view.videoId !== event.videoId) view = viewOf(gathered.views, event)
    view.seenMs = Math.max(view.seenMs, event.receivedMs)
    addEvent(partOf(view, event), event)
    const { visitor, videoId } = event
    if (!visitor || !isPlay(event)) continue
    const day = dayOf(event.atMs)
    if (seen?.visitor === visitor && seen.videoId === videoId && seen.day === day) continue
    seen = { day, organisationId: event.organisationId, videoId, visitor }
    addSeen(gathered.viewers, seen)
  }
  return gathered
}

/** All of them as one. Whatever is in them belongs to it from then on. */
export function united(all: readonly Gathered[]): Gathered {
  const [first = emptyGathered(), ...others] = all
  for (const other of others) {
    first.events += other.events
    for (const [key, view] of other.views) {
      const known = first.views.get(key)
      if (!known) {
        first.views.set(key, view)
        continue
      }
      known.seenMs = Math.max(known.seenMs, view.seenMs)
      for (const part of view.parts) {
        const same = known.parts.find(({ durationMs }) => durationMs === part.durationMs)
        if (same) addPart(same, part)
        else known.parts.push(part)
      }
    }
    for (const seen of other.viewers.values()) addSeen(first.viewers, seen)
  }
  return first
}

function emptyGathered(): Gathered {
  return { events: 0, views: new Map(), viewers: new Map() }
}

export function viewKey({ viewId, videoId }: { viewId: string; videoId: string }): string {
  return `${viewId} ${videoId}`
}

function viewOf(views: Gathered['views'], { viewId, videoId, organisationId, receivedMs }: KeptEvent): GatheredView {
  const key = viewKey({ viewId, videoId })
  const known = views.get(key)
  if (known) return known
  const view = { viewId, videoId, organisationId, parts: [], seenMs: receivedMs }
  views.set(key, view)
  return view
}

function partOf({ parts }: GatheredView, event: KeptEvent): ViewPart {
  for (const part of parts) if (part.durationMs === event.durationMs) return part
  const part = emptyPart(event)
  parts.push(part)
  return part
}

function addSeen(viewers: Gathered['viewers'], seen: Seen): void {
  const { day, organisationId, videoId, visitor } = seen
  const key = `${day} ${organisationId} ${videoId} ${visitor}`
  if (!viewers.has(key)) viewers.set(key, seen)
}
