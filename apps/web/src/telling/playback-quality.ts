/** How well a view has played so far. */
export interface Quality {
  startup_ms?: number
  stalls?: number
  stalled_ms?: number
  error?: string
}

/** Measures it, told of what happens with the time in milliseconds of a clock that only goes forward. */
export interface QualityMeter {
  /** Somebody wants it to play. */
  wished(now: number): void
  /** The picture moves. */
  plays(now: number): void
  /** It waits for bytes; a jump makes it wait too, which is no stall. */
  waits(now: number): void
  /** It stands still because somebody stopped it, jumps, or is at its end. */
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
      // Before the first picture it is the start that takes long.
      if (startupMs === undefined || waitsSince !== undefined) return
      stalls++
      waitsSince = now
    },
    rests(now) {
      // Who stops it before the first picture no longer waits for that.
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
