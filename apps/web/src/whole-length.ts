/** Seconds of the video that is shown: while it is encoded, the part of it that can be played already is shorter. */
export function wholeLength(frame: HTMLElement, video: HTMLVideoElement): number {
  return Math.max(playableLength(video), Number(frame.dataset['length'] ?? 0))
}

/** Seconds that can be played. */
export function playableLength({ duration }: HTMLVideoElement): number {
  return Number.isFinite(duration) ? duration : 0
}
