import type { PlaylistEntry, PlaylistRecord } from './playlist-record.ts'

/** The entries in the order in which they are played; `random` gives numbers from 0 to below 1. */
export function playOrder({ entries, randomise, videoLimit }: PlaylistRecord, random: () => number = Math.random): PlaylistEntry[] {
  const ordered = randomise ? shuffled(entries, random) : [...entries]
  return videoLimit > 0 ? ordered.slice(0, videoLimit) : ordered
}

/** The place that follows by itself when a video ends: the next one that can be played. Undefined at the end. */
export function placeAfter(entries: readonly PlaylistEntry[], place: number, hasToken: boolean): number | undefined {
  const after = entries.findIndex((entry, index) => index > place && entry.plays && (hasToken || !entry.tokenRequired))
  return after === -1 ? undefined : after
}

/** Every order is as likely as any other (Fisher and Yates). */
function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const left = [...items]
  return items.flatMap(() => left.splice(Math.floor(random() * left.length), 1))
}
