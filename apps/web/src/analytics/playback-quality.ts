/** Playback quality of a view up to now. */
export interface Quality {
  startup_ms?: number
  stalls?: number
  stalled_ms?: number
  switches?: number
  error?: string
}

/** Measures playback quality. All times are milliseconds of a monotonic clock. */
export interface QualityMeter {
  /** Called when playback is requested. */
  onRequest(now: number): void
  /** Called when the picture begins to move. */
  onPlaying(now: number): void
  /**
   * Called when playback begins to wait for data. A wait after a seek does not count as a stall.
   */
  onWaiting(now: number): void
  /** Called when the picture stops because playback is paused, seeks or has ended. */
  onStop(now: number): void
  /** Called when playback continues in a rendition of another height. */
  onSwitch(): void
  onFailure(error: string): void
  getQuality(now: number): Quality
}

/** The platform accepts no longer startup time. */
const MAX_STARTUP_MS = 3_600_000

export function createQualityMeter(): QualityMeter {
  let requestedAt: number | undefined
  let startupMs: number | undefined
  let waitingSince: number | undefined
  let stalls = 0
  let stalledMs = 0
  let switches = 0
  let lastError: string | undefined
  const endStall = (now: number) => {
    if (waitingSince !== undefined) stalledMs += now - waitingSince
    waitingSince = undefined
  }
  return {
    onRequest(now) {
      requestedAt ??= now
    },
    onPlaying(now) {
      if (requestedAt !== undefined) startupMs ??= now - requestedAt
      endStall(now)
    },
    onWaiting(now) {
      // Before the first picture, the wait counts as startup time.
      if (startupMs === undefined || waitingSince !== undefined) return
      stalls++
      waitingSince = now
    },
    onStop(now) {
      // A pause before the first picture ends the measurement of the startup time.
      if (startupMs === undefined) requestedAt = undefined
      endStall(now)
    },
    onSwitch() {
      switches++
    },
    onFailure(error) {
      lastError = error
    },
    getQuality(now) {
      const stallMs = waitingSince === undefined ? 0 : now - waitingSince
      return {
        ...(startupMs !== undefined && {
          startup_ms: Math.min(MAX_STARTUP_MS, Math.round(startupMs)),
          stalls,
          stalled_ms: Math.round(stalledMs + stallMs),
          switches,
        }),
        ...(lastError !== undefined && { error: lastError }),
      }
    },
  }
}
