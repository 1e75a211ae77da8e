/**
 * Returns the duration of the complete video in seconds. During encoding, the playable part is
 * shorter.
 */
export function readFullDuration(frame: HTMLElement, video: HTMLVideoElement): number {
  return Math.max(readPlayableDuration(video), Number(frame.dataset['length'] ?? 0))
}

/** Returns the playable duration in seconds. */
export function readPlayableDuration({ duration }: HTMLVideoElement): number {
  return Number.isFinite(duration) ? duration : 0
}
