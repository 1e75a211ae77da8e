/**
 * Returns the duration of the whole video in seconds. During encoding, the playable part is
 * shorter.
 */
export function wholeLength(frame: HTMLElement, video: HTMLVideoElement): number {
  return Math.max(playableLength(video), Number(frame.dataset['length'] ?? 0))
}

/** Returns the playable duration in seconds. */
export function playableLength({ duration }: HTMLVideoElement): number {
  return Number.isFinite(duration) ? duration : 0
}
