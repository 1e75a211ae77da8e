/** Part of a video that a page plays. */
export interface PlayedPart {
  /** Seconds. */
  start: number
  /** Seconds. Undefined if the video is played to its end. */
  end: number | undefined
  loop: boolean
}

/** Tolerance, because the position is read only about four times per second. */
const END_TOLERANCE_SECONDS = 0.3

/**
 * Stops or repeats the video at the end of the part. A viewer who seeks beyond the end can watch
 * the rest.
 */
export function keepToPart(video: HTMLVideoElement, { start, end, loop }: PlayedPart, signal: AbortSignal): void {
  video.loop = loop && start === 0 && end === undefined
  if (video.loop) return
  let hasSoughtBeyond = false
  const onSeeking = () => {
    hasSoughtBeyond = end !== undefined && video.currentTime > end + END_TOLERANCE_SECONDS
  }
  const onTime = () => {
    if (end === undefined || hasSoughtBeyond || video.paused || video.currentTime < end) return
    if (loop) video.currentTime = start
    else video.pause()
    // Continues beyond the end if the viewer plays it again.
    hasSoughtBeyond = !loop
  }
  const onEnded = () => {
    if (!loop) return
    video.currentTime = start
    void video.play().catch(() => {})
  }
  video.addEventListener('seeking', onSeeking, { signal })
  video.addEventListener('timeupdate', onTime, { signal })
  video.addEventListener('ended', onEnded, { signal })
}
