/** Slightly more than the 0.25 s by which hls.js looks ahead for a segment. */
const MAX_GAP_SECONDS = 0.3

/**
 * Seeks over a short gap between the position and the buffered media after it. Without a gap it
 * does nothing. hls.js leaves such a gap when a change of quality empties the buffer near the end
 * of a segment. It then loads the next segment and treats a gap of up to 0.1 s as buffered, so the
 * picture would freeze permanently.
 */
export function skipShortGap(video: Pick<HTMLVideoElement, 'buffered' | 'currentTime' | 'seeking'>): void {
  const { buffered, currentTime, seeking } = video
  if (seeking) return
  for (let range = 0; range < buffered.length; range++) {
    if (buffered.end(range) <= currentTime) continue
    const start = buffered.start(range)
    if (start > currentTime && start - currentTime <= MAX_GAP_SECONDS) video.currentTime = start
    return
  }
}
