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
  wished(now: number): void
  /** The picture moves. */
  plays(now: number): void
  /** Playback waits for data. A seek causes a wait as well, but no stall. */
  waits(now: number): void
  /** The picture does not move because playback is paused, seeks or has ended. */
  rests(now: number): void
  failed(error: string): void
  figures(now: number): Quality
}

export function measureQuality(): QualityMeter {
  let wishedAt: number | undefined
  let startupMs: number | undefined
  let waitsSince: number | undefined
  let stalls = 0
  let stalledMs = 0
  let failure: string | undefined
  const endStall = (now: number) => {
    if (waitsSince !== undefined) stalledMs += now - waitsSince
    waitsSince = undefined
  }
  return {
    wished(now) {
      wishedAt ??= now
    },
    plays(now) {
      if (wishedAt !== undefined) startupMs ??= now - wishedAt
      endStall(now)
    },
    waits(now) {
      // Before the first picture, the wait counts as startup time.
      if (startupMs === undefined || waitsSince !== undefined) return
      stalls++
      waitsSince = now
    },
    rests(now) {
      // A pause before the first picture ends the measurement of the startup time.
      if (startupMs === undefined) wishedAt = undefined
      endStall(now)
    },
    failed(error) {
      failure = error
    },
    figures(now) {
      const waiting = waitsSince === undefined ? 0 : now - waitsSince
      return {
        ...(startupMs !== undefined && { startup_ms: Math.round(startupMs), stalls, stalled_ms: Math.round(stalledMs + waiting) }),
        ...(failure !== undefined && { error: failure }),
      }
    },
  }
}
