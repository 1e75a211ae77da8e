/** Milliseconds between two checks of the position. */
const INTERVAL_MS = 1_000
/** Number of checks without movement after which the position is moved. */
const MAX_STILL_CHECKS = 3
/** Duration of buffered media that is enough to play. */
const MIN_BUFFERED_SECONDS = 1
/** Distance by which the position is moved. */
const STEP_SECONDS = 0.1

export type WatchedVideo = Pick<HTMLVideoElement, 'buffered' | 'currentTime' | 'ended' | 'paused' | 'seeking' | 'error'>

/**
 * Moves the position a little if a playing video does not move although media after its position
 * are buffered. Browsers sometimes stay in this state after they have waited for media.
 */
export function keepMoving(video: WatchedVideo, signal: AbortSignal): void {
  const isStuck = createStandstillCheck(video)
  const timer = setInterval(() => {
    if (isStuck()) video.currentTime += STEP_SECONDS
  }, INTERVAL_MS)
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}

/**
 * Returns a function that checks the position. It returns true if the position has not changed in
 * `MAX_STILL_CHECKS` consecutive calls although media are buffered.
 */
export function createStandstillCheck(video: WatchedVideo): () => boolean {
  let [position, stillChecks] = [Number.NaN, 0]
  return () => {
    const isStill = video.currentTime === position && canMove(video)
    position = video.currentTime
    stillChecks = isStill ? stillChecks + 1 : 0
    if (stillChecks < MAX_STILL_CHECKS) return false
    stillChecks = 0
    return true
  }
}

function canMove({ buffered, currentTime, ended, error, paused, seeking }: WatchedVideo): boolean {
  if (paused || ended || seeking || error !== null) return false
  for (let range = 0; range < buffered.length; range++) {
    if (buffered.start(range) <= currentTime && buffered.end(range) >= currentTime + MIN_BUFFERED_SECONDS) return true
  }
  return false
}
