import type { PlaylistEntry, PlaylistRecord } from './playlist-record.ts'

/** Returns the entries in playing order. `random` returns numbers in [0, 1). */
export function playOrder({ entries, randomise, videoLimit }: PlaylistRecord, random: () => number = Math.random): PlaylistEntry[] {
  const ordered = randomise ? shuffle(entries, random) : [...entries]
  return videoLimit > 0 ? ordered.slice(0, videoLimit) : ordered
}

/**
 * Returns the index of the next playable entry after a video has ended, or undefined at the end.
 */
export function nextPlayableIndex(entries: readonly PlaylistEntry[], current: number, hasToken: boolean): number | undefined {
  const after = entries.findIndex((entry, index) => index > current && entry.isPlayable && (hasToken || !entry.tokenRequired))
  return after === -1 ? undefined : after
}

/** Fisher-Yates shuffle: every order is equally likely. */
function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  const left = [...items]
  return items.flatMap(() => left.splice(Math.floor(random() * left.length), 1))
}
