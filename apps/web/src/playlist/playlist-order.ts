import type { PlaylistEntry, PlaylistRecord } from './playlist-record.ts'

/** Returns the entries in playing order. `random` returns numbers in [0, 1). */
export function toPlayOrder({ entries, randomise, videoLimit }: PlaylistRecord, random: () => number = Math.random): PlaylistEntry[] {
  const playOrder = randomise ? shuffle(entries, random) : [...entries]
  return videoLimit > 0 ? playOrder.slice(0, videoLimit) : playOrder
}

/**
 * Returns the index of the next playable entry after a video has ended, or undefined at the end.
 */
export function findNextPlayable(entries: readonly PlaylistEntry[], current: number, hasToken: boolean): number | undefined {
  const nextIndex = entries.findIndex((entry, index) => index > current && entry.isPlayable && (hasToken || !entry.tokenRequired))
  return nextIndex === -1 ? undefined : nextIndex
}

/** Fisher-Yates shuffle: every order is equally likely. */
function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  const remainingItems = [...items]
  return items.flatMap(() => remainingItems.splice(Math.floor(random() * remainingItems.length), 1))
}
