import { DomainError } from '@vitascope/errors'

/**
 * Bounds of long transfers between clients and this process: uploads that it receives, or files that it sends. A
 * transfer has a credit in seconds. It starts with `graceSeconds`, grows with each byte by 1 / `minBytesPerSecond` up
 * to `maxCreditSeconds`, and falls while the transfer waits for the client. A transfer without credit is cut.
 */
export interface TransferBounds {
  /** Concurrent transfers of one client. */
  maxPerClient: number
  /** Concurrent transfers of all clients. */
  maxTotal: number
  minBytesPerSecond: number
  graceSeconds: number
  maxCreditSeconds: number
}

/**
 * Reason why a transfer is cut: the client is slower than the minimum rate, or a new transfer displaces it as the
 * slowest one.
 */
export type CutReason = 'too_slow' | 'displaced'

export interface Transfer {
  /** Client to count the transfer for: an address, or a group of addresses. */
  client: string
  /** Bytes that the client has sent or received since the start. */
  bytes(): number
  /** Whether the transfer waits for the client. Other time does not reduce its credit. */
  isWaitingForClient(): boolean
  cut(reason: CutReason): void
}

export interface TransferLimiter {
  /**
   * Counts a transfer until the returned function is called. If a bound is reached, it cuts the slowest transfer of
   * that client, or of all, provided that it has been slower than the minimum rate for a second. Otherwise it throws
   * `exhausted` TOO_MANY_AT_ONCE or `unavailable` OVERLOADED.
   */
  begin(transfer: Transfer): () => void
  /** Number of current transfers. */
  size(): number
}

const CHECK_MS = 500
/** Seconds of grace that a transfer must have lost before it can be displaced. */
const SLOW_SECONDS = 1

interface Counted extends Transfer {
  credit: number
  seen: number
}

export function createTransferLimiter(
  bounds: TransferBounds,
  { onCut = () => {} }: { onCut?: (reason: CutReason) => void } = {},
): TransferLimiter {
  const all = new Set<Counted>()
  const clients = new Map<string, Set<Counted>>()
  let timer: NodeJS.Timeout | undefined
  let checkedAt = 0

  const end = (one: Counted) => {
    if (!all.delete(one)) return
    const own = clients.get(one.client)
    own?.delete(one)
    if (own?.size === 0) clients.delete(one.client)
    if (all.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  const cut = (one: Counted, reason: CutReason) => {
    end(one)
    onCut(reason)
    one.cut(reason)
  }
  const check = () => {
    const now = performance.now()
    const seconds = (now - checkedAt) / 1_000
    checkedAt = now
    for (const one of all) {
      charge(one, seconds)
      if (one.credit <= 0) cut(one, 'too_slow')
    }
  }
  const charge = (one: Counted, seconds: number) => {
    const bytes = one.bytes()
    const earned = (bytes - one.seen) / bounds.minBytesPerSecond
    one.seen = bytes
    one.credit = Math.min(bounds.maxCreditSeconds, one.credit + earned - (one.isWaitingForClient() ? seconds : 0))
  }
  /** Cuts the slowest of these transfers. Returns false if none of them is slow. */
  const displaceSlowest = (among: Iterable<Counted>): boolean => {
    let slowest: Counted | undefined
    for (const one of among) if (slowest === undefined || one.credit < slowest.credit) slowest = one
    if (slowest === undefined || slowest.credit > bounds.graceSeconds - SLOW_SECONDS) return false
    cut(slowest, 'displaced')
    return true
  }

  return {
    begin(transfer) {
      const own = clients.get(transfer.client) ?? new Set()
      if (own.size >= bounds.maxPerClient && !displaceSlowest(own)) {
        const sentence = `your address has ${own.size} active transfers, and more are rejected: wait until one has ended`
        throw new DomainError('exhausted', 'TOO_MANY_AT_ONCE', sentence, { retryAfter: 1 })
      }
      if (all.size >= bounds.maxTotal && !displaceSlowest(all)) {
        throw new DomainError('unavailable', 'OVERLOADED', 'too many transfers are active; try again', { retryAfter: 1 })
      }
      const one: Counted = {
        client: transfer.client,
        bytes: () => transfer.bytes(),
        isWaitingForClient: () => transfer.isWaitingForClient(),
        cut: (reason) => transfer.cut(reason),
        credit: bounds.graceSeconds,
        seen: transfer.bytes(),
      }
      all.add(one)
      // The set of a client is deleted when its last transfer ends, which the displacement above can cause.
      clients.set(one.client, (clients.get(one.client) ?? new Set()).add(one))
      if (timer === undefined) {
        checkedAt = performance.now()
        timer = setInterval(check, CHECK_MS).unref()
      }
      return () => end(one)
    },
    size: () => all.size,
  }
}
