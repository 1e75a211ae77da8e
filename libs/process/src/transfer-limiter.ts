import { DomainError } from '@vitascope/errors'

/**
 * Bounds of long transfers between clients and this process: uploads that it receives, or files that it sends. A
 * transfer has a credit in seconds. It starts with `graceSeconds`, grows with each byte by 1 / `minBytesPerSecond` up
 * to `maxCreditSeconds`, and falls while the transfer waits for the client. A transfer without credit is cut (aborted).
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
   * Counts a transfer until the returned function is called. If `maxPerClient` or `maxTotal` is reached, it cuts the
   * slowest transfer of that client or of all clients. If no transfer is slow (see `SLOW_SECONDS`), it throws
   * `exhausted` TOO_MANY_AT_ONCE or `unavailable` OVERLOADED.
   */
  begin(transfer: Transfer): () => void
  /** Number of current transfers. */
  size(): number
}

const CHECK_MS = 500
/** A transfer is slow, and can be displaced, if its credit is at least this much below `graceSeconds`. */
const SLOW_SECONDS = 1

interface CountedTransfer extends Transfer {
  /** Credit in seconds. */
  credit: number
  /** Bytes at the last check. */
  lastBytes: number
}

export function createTransferLimiter(
  bounds: TransferBounds,
  { onCut = () => {} }: { onCut?: (reason: CutReason) => void } = {},
): TransferLimiter {
  const transfers = new Set<CountedTransfer>()
  const clients = new Map<string, Set<CountedTransfer>>()
  let timer: NodeJS.Timeout | undefined
  let checkedAt = 0

  const end = (transfer: CountedTransfer) => {
    if (!transfers.delete(transfer)) return
    const ofClient = clients.get(transfer.client)
    ofClient?.delete(transfer)
    if (ofClient?.size === 0) clients.delete(transfer.client)
    if (transfers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  const cut = (transfer: CountedTransfer, reason: CutReason) => {
    end(transfer)
    onCut(reason)
    transfer.cut(reason)
  }
  const check = () => {
    const now = performance.now()
    const seconds = (now - checkedAt) / 1_000
    checkedAt = now
    for (const transfer of transfers) {
      charge(transfer, seconds)
      if (transfer.credit <= 0) cut(transfer, 'too_slow')
    }
  }
  const charge = (transfer: CountedTransfer, seconds: number) => {
    const bytes = transfer.bytes()
    const earned = (bytes - transfer.lastBytes) / bounds.minBytesPerSecond
    transfer.lastBytes = bytes
    transfer.credit = Math.min(bounds.maxCreditSeconds, transfer.credit + earned - (transfer.isWaitingForClient() ? seconds : 0))
  }
  /** Cuts the slowest of these transfers. Returns false if none of them is slow. */
  const displaceSlowest = (candidates: Iterable<CountedTransfer>): boolean => {
    let slowest: CountedTransfer | undefined
    for (const candidate of candidates) if (slowest === undefined || candidate.credit < slowest.credit) slowest = candidate
    if (slowest === undefined || slowest.credit > bounds.graceSeconds - SLOW_SECONDS) return false
    cut(slowest, 'displaced')
    return true
  }

  return {
    begin(transfer) {
      const ofClient = clients.get(transfer.client) ?? new Set()
      if (ofClient.size >= bounds.maxPerClient && !displaceSlowest(ofClient)) {
        const sentence = `your address has ${ofClient.size} active transfers, and more are rejected: wait until one has ended`
        throw new DomainError('exhausted', 'TOO_MANY_AT_ONCE', sentence, { retryAfter: 1 })
      }
      if (transfers.size >= bounds.maxTotal && !displaceSlowest(transfers)) {
        throw new DomainError('unavailable', 'OVERLOADED', 'too many transfers are active; try again', { retryAfter: 1 })
      }
      const added: CountedTransfer = {
        client: transfer.client,
        bytes: () => transfer.bytes(),
        isWaitingForClient: () => transfer.isWaitingForClient(),
        cut: (reason) => transfer.cut(reason),
        credit: bounds.graceSeconds,
        lastBytes: transfer.bytes(),
      }
      transfers.add(added)
      // The set of a client is deleted when its last transfer ends, which the displacement above can cause.
      clients.set(added.client, (clients.get(added.client) ?? new Set()).add(added))
      if (timer === undefined) {
        checkedAt = performance.now()
        timer = setInterval(check, CHECK_MS).unref()
      }
      return () => end(added)
    },
    size: () => transfers.size,
  }
}
