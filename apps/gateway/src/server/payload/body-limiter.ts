import type { IncomingMessage } from 'node:http'
import type { DomainError } from '@vitascope/errors'
import { domainError } from '../http/problem.ts'
import { hasBody, readBody } from './body.ts'

/**
 * Limits request bodies in transit. They cost only memory, so they use no slot of the concurrency
 * limit.
 */
export interface BodyLimiter {
  /**
   * Returns the bytes of the body, or undefined if it is empty. The body counts for `sender`.
   * `onCut` is called when the body is aborted. The connection cannot be reused then.
   */
  read(request: IncomingMessage, sender: string, onCut: () => void): Promise<Buffer | undefined>
}

export interface BodyBounds {
  /**
   * Maximum number of bodies per sender and in total. Above it, the oldest body is aborted if it is
   * slow.
   */
  perSender: number
  total: number
  /**
   * Maximum bytes of all bodies together. Above it, the oldest body of the sender with the most
   * bytes is aborted.
   */
  bytes: number
  /** A body is slow if it is still incomplete after this time. */
  slowMs: number
  /**
   * Time limit of every body. It grows by `1 / bytesPerSecond` with each received byte, because
   * phones with a weak signal send 8 KiB/s.
   */
  graceMs: number
  bytesPerSecond: number
}

export const BODY_BOUNDS: BodyBounds = {
  perSender: 100,
  total: 2_000,
  bytes: 128 * 1024 * 1024,
  slowMs: 1_000,
  graceMs: 5_000,
  bytesPerSecond: 8 * 1024,
}

interface Body {
  startedAt: number
  bytes: number
  isCut: boolean
  cut(reason: DomainError): void
}

/** Bodies in the order of their start, and the sum of their bytes. */
interface SenderState {
  bodies: Set<Body>
  bytes: number
}

export function createBodyLimiter(bounds: BodyBounds = BODY_BOUNDS): BodyLimiter {
  const total: SenderState = { bodies: new Set(), bytes: 0 }
  const senders = new Map<string, SenderState>()

  return {
    async read(request, sender, onCut) {
      if (!hasBody(request)) return undefined
      const senderState = senders.get(sender) ?? { bodies: new Set(), bytes: 0 }
      senders.set(sender, senderState)
      const reading = readBody(request, (bytes) => {
        count(bytes)
        if (total.bytes > bounds.bytes) rejectBody(findOldestBody(largestSender()))
      })
      const body: Body = {
        startedAt: performance.now(),
        bytes: 0,
        isCut: false,
        cut(reason) {
          body.isCut = true
          onCut()
          reading.abort(reason)
        },
      }
      const count = (bytes: number) => {
        for (const counter of [body, senderState, total]) counter.bytes += bytes
      }
      for (const { bodies } of [senderState, total]) bodies.add(body)
      if (senderState.bodies.size > bounds.perSender) cutSlow(senderState)
      if (total.bodies.size > bounds.total) cutSlow(total)
      const stopCheck = enforceMinimumRate(body)
      try {
        return await reading.bytes
      } finally {
        stopCheck()
        for (const { bodies } of [senderState, total]) bodies.delete(body)
        count(-body.bytes)
        if (senderState.bodies.size === 0) senders.delete(sender)
      }
    },
  }

  function cutSlow(sender: SenderState): void {
    const oldest = findOldestBody(sender)
    if (oldest && performance.now() - oldest.startedAt > bounds.slowMs) rejectBody(oldest)
  }

  function largestSender(): SenderState {
    return [...senders.values()].reduce((largest, sender) => (sender.bytes > largest.bytes ? sender : largest))
  }

  /** Aborts a body that arrives too slowly. Returns a function that ends the check. */
  function enforceMinimumRate(body: Body): () => void {
    const remainingMs = () => body.startedAt + bounds.graceMs + (body.bytes / bounds.bytesPerSecond) * 1_000 - performance.now()
    const check = () => {
      if (remainingMs() <= 0) body.cut(domainError('invalid', 'REQUEST_TIMEOUT', 'the body is sent too slowly'))
      else timer = setTimeout(check, remainingMs())
    }
    let timer: NodeJS.Timeout | undefined
    // Most bodies are complete after this turn of the event loop and need no timer.
    const first = setImmediate(check)
    return () => {
      clearImmediate(first)
      clearTimeout(timer)
    }
  }
}

function rejectBody(body: Body | undefined): void {
  body?.cut(domainError('unavailable', 'OVERLOADED', 'too many request bodies are being received; try again', 1))
}

function findOldestBody({ bodies }: SenderState): Body | undefined {
  for (const body of bodies) if (!body.isCut) return body
  return undefined
}
