import { DomainError } from '@vitascope/errors'

/**
 * A read can be repeated without side effects, so reads are rejected before writes under overload.
 */
export type LoadKind = 'read' | 'write'

export interface ConcurrencyLimit {
  /** Returns true while every request of this kind would be rejected. */
  isFull(kind: LoadKind): boolean
  /**
   * Counts a request as in progress until `end` is called with whether it succeeded. Throws
   * `unavailable` (503) when too many requests are in progress, and `exhausted` (429) when too many
   * of them belong to this caller. `caller` is a key or an address group.
   */
  begin(kind: LoadKind, caller: string): { end: (succeeded: boolean) => void }
}

/**
 * Slots reserved for writes when reads are rejected, as a share of the maximum number of read
 * slots.
 */
const WRITE_RESERVE = 0.25
/** Waiting writes can use at most the rest of the slots, so that reads keep this share. */
const READ_RESERVE = 0.5
/** Maximum share of one caller. The other three quarters remain for all others. */
const MAX_SHARE = 0.25
/**
 * With at most this many concurrent reads, durations count as the baseline latency without
 * queueing.
 */
const MAX_BASELINE_REQUESTS = 4
/** Weight of a new sample in the moving average of the baseline latency. */
const WEIGHT = 1 / 16
const WINDOW_MS = 250
/**
 * Up to this multiple of the baseline latency the limit may grow. Above it, additional requests
 * would only queue.
 */
const HEALTHY_RATIO = 2
const OVERLOAD_RATIO = 3
const STEP = 1.25

/** Bounds for the number of concurrent requests. Additional slots for writes are not included. */
export interface ConcurrencyBounds {
  /** Lower bound, reached when all slots are used and responses are slow. */
  min: number
  /** Limit at start, to which it returns while the gateway is not full. */
  initial: number
  /** Upper bound, reached when all slots are used and responses are as fast as the baseline. */
  max: number
}

/**
 * Creates a concurrency limit that adapts to latency. Requests above the limit would only queue, so
 * they are rejected at once. While all slots are used and responses are slow, the limit shrinks to
 * what saturates a small machine. While responses are hardly slower than the baseline, it grows, as
 * for services that are remote but not busy.
 */
export function createConcurrencyLimit({ min, initial, max }: ConcurrencyBounds, now = () => performance.now()): ConcurrencyLimit {
  let slots = initial
  const active = { read: 0, write: 0 }
  const activeByCaller = new Map<string, number>()
  let baselineLatencyMs: number | undefined
  let window = { since: now(), full: false, responses: 0, ms: 0 }

  /** Returns how many requests of the kind may be in progress, given those of the other kind. */
  const slotsFor = (kind: LoadKind) =>
    kind === 'read'
      ? slots - Math.min(active.write, Math.floor(slots * (1 - READ_RESERVE)))
      : slots - Math.min(active.read, slots) + Math.ceil(max * WRITE_RESERVE)
  const isFull = (kind: LoadKind) => {
    const full = active[kind] >= slotsFor(kind)
    if (kind === 'read') window.full ||= full
    return full
  }
  /**
   * Returns true when a caller exceeds its share. While slots are free for others, a caller may use
   * its share of the maximum.
   */
  const exceedsShare = (callerRequests: number, kind: LoadKind) => {
    const limit = slotsFor(kind)
    const isNearLimit = active[kind] >= limit * (1 - MAX_SHARE)
    return callerRequests >= Math.ceil(max * MAX_SHARE) || (isNearLimit && callerRequests >= Math.ceil(limit * MAX_SHARE))
  }

  function observe(ms: number, isBaseline: boolean): void {
    if (isBaseline) baselineLatencyMs = baselineLatencyMs === undefined ? ms : baselineLatencyMs + (ms - baselineLatencyMs) * WEIGHT
    window.responses++
    window.ms += ms
    if (now() - window.since < WINDOW_MS) return
    const slowness = window.ms / window.responses / (baselineLatencyMs ?? Number.POSITIVE_INFINITY)
    if (!window.full) slots += Math.ceil((initial - slots) / 2)
    else if (slowness > OVERLOAD_RATIO) slots = Math.max(min, Math.floor(slots / STEP))
    else if (baselineLatencyMs !== undefined && slowness <= HEALTHY_RATIO) slots = Math.min(max, Math.ceil(slots * STEP))
    window = { since: now(), full: false, responses: 0, ms: 0 }
  }

  return {
    isFull,
    begin(kind, caller) {
      const callerRequests = activeByCaller.get(caller) ?? 0
      if (exceedsShare(callerRequests, kind)) {
        const sentence = `you have ${callerRequests} active requests, which is the current maximum; wait for responses`
        throw new DomainError('exhausted', 'TOO_MANY_AT_ONCE', sentence, { retryAfter: 1 })
      }
      if (isFull(kind)) throw new DomainError('unavailable', 'OVERLOADED', OVERLOADED, { retryAfter: 1 })
      const isBaseline = active.read + active.write < MAX_BASELINE_REQUESTS
      const startedAt = now()
      active[kind]++
      activeByCaller.set(caller, callerRequests + 1)
      let ended = false
      return {
        end(succeeded) {
          if (ended) return
          ended = true
          active[kind]--
          const remaining = (activeByCaller.get(caller) ?? 1) - 1
          if (remaining === 0) activeByCaller.delete(caller)
          else activeByCaller.set(caller, remaining)
          if (succeeded && kind === 'read') observe(now() - startedAt, isBaseline)
        },
      }
    },
  }
}

/** Message of a request that is rejected under overload. */
export const OVERLOADED = 'too many requests are active; try again'
