/** Playback quality of a view up to now. */
export interface Quality {
  startup_ms?: number
  stalls?: number
  stalled_ms?: number
  error?: string
}

/** Measures playback quality. All times are milliseconds of a monotonic clock. */
export interface QualityMeter {
  /** Playback was requested. */
  requested(now: number): void
  /** The picture moves. */
  playing(now: number): void
  /** Playback waits for data. A seek causes a wait as well, but no stall. */
  waiting(now: number): void
  /** The picture does not move because playback is paused, seeks or has ended. */
  stopped(now: number): void
  failed(error: string): void
  current(now: number): Quality
}

export function measureQuality(): QualityMeter {
  let requestedAt: number | undefined
  let startupMs: number | undefined
  let waitingSince: number | undefined
  let stalls = 0
  let stalledMs = 0
  let failure: string | undefined
  const endStall = (now: number) => {
    if (waitingSince !== undefined) stalledMs += now - waitingSince
    waitingSince = undefined
  }
  return {
    requested(now) {
      requestedAt ??= now
    },
    playing(now) {
      if (requestedAt !== undefined) startupMs ??= now - requestedAt
      endStall(now)
    },
    waiting(now) {
      // Before the first picture, the wait counts as startup time.
      if (startupMs === undefined || waitingSince !== undefined) return
      stalls++
      waitingSince = now
    },
    stopped(now) {
      // A pause before the first picture ends the measurement of the startup time.
      if (startupMs === undefined) requestedAt = undefined
      endStall(now)
    },
    failed(error) {
      failure = error
    },
    current(now) {
      const stallMs = waitingSince === undefined ? 0 : now - waitingSince
      return {
        ...(startupMs !== undefined && { startup_ms: Math.round(startupMs), stalls, stalled_ms: Math.round(stalledMs + stallMs) }),
        ...(failure !== undefined && { error: failure }),
      }
    },
  }
}
