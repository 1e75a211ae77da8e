/**
 * Returns the duration of the whole video in seconds. During encoding, the playable part is
 * shorter.
 */
export function fullDuration(frame: HTMLElement, video: HTMLVideoElement): number {
  return Math.max(playableDuration(video), Number(frame.dataset['length'] ?? 0))
}

/** Returns the playable duration in seconds. */
export function playableDuration({ duration }: HTMLVideoElement): number {
  return Number.isFinite(duration) ? duration : 0
}
