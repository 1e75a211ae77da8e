import type { IncomingMessage } from 'node:http'
import type { DomainError } from '@vitascope/errors'
import { refusal } from '../http/problem.ts'
import { hasBody, readBody } from './body.ts'

/** Bodies on their way cost memory alone, and wait for whoever sends them: they take no place among the requests under way. */
export interface Bodies {
  /**
   * The bytes of the body; undefined when there are none. `sender` is whom it counts for; `onCut` is called when the rest is not waited
   * for, so that the connection is of no use any more.
   */
  read(request: IncomingMessage, sender: string, onCut: () => void): Promise<Buffer | undefined>
}

export interface BodyBounds {
  /** Bodies of one sender, and in all: with more of them the oldest one goes, if it is slow. */
  each: number
  all: number
  /** Bytes of all bodies together: with more of them the oldest one goes of the sender who has most. */
  bytes: number
  /** A body that has been under way for so long is slow. */
  slowMs: number
  /** Every body has so long, and more with each byte that came: phones with a weak signal send 8 KiB a second. */
  patienceMs: number
  bytesPerSecond: number
}

export const BODY_BOUNDS: BodyBounds = {
  each: 100,
  all: 2_000,
  bytes: 128 * 1024 * 1024,
  slowMs: 1_000,
  patienceMs: 5_000,
  bytesPerSecond: 8 * 1024,
}

interface Body {
  startedAt: number
  bytes: number
  isCut: boolean
  cut(reason: DomainError): void
}

/** Bodies in the order in which they began, and their bytes. */
interface Sent {
  bodies: Set<Body>
  bytes: number
}

export function createBodies(bounds: BodyBounds = BODY_BOUNDS): Bodies {
  const all: Sent = { bodies: new Set(), bytes: 0 }
  const senders = new Map<string, Sent>()

  return {
    async read(request, sender, onCut) {
      if (!hasBody(request)) return undefined
      const own = senders.get(sender) ?? { bodies: new Set(), bytes: 0 }
      senders.set(sender, own)
      const reading = readBody(request, (bytes) => {
        count(bytes)
        if (all.bytes > bounds.bytes) cut(oldestOf(heaviest()))
      })
      const body: Body = {
        startedAt: performance.now(),
        bytes: 0,
        isCut: false,
        cut(reason) {
          body.isCut = true
          onCut()
          reading.refuse(reason)
        },
      }
      const count = (bytes: number) => {
        for (const counted of [body, own, all]) counted.bytes += bytes
      }
      for (const { bodies } of [own, all]) bodies.add(body)
      if (own.bodies.size > bounds.each) cutSlow(own)
      if (all.bodies.size > bounds.all) cutSlow(all)
      const ended = hurry(body)
      try {
        return await reading.bytes
      } finally {
        ended()
        for (const { bodies } of [own, all]) bodies.delete(body)
        count(-body.bytes)
        if (own.bodies.size === 0) senders.delete(sender)
      }
    },
  }

  function cutSlow(sent: Sent): void {
    const oldest = oldestOf(sent)
    if (oldest && performance.now() - oldest.startedAt > bounds.slowMs) cut(oldest)
  }

  function heaviest(): Sent {
    return [...senders.values()].reduce((most, sent) => (sent.bytes > most.bytes ? sent : most))
  }

  /** Cuts a body off that comes too slowly. */
  function hurry(body: Body): () => void {
    const left = () => body.startedAt + bounds.patienceMs + (body.bytes / bounds.bytesPerSecond) * 1_000 - performance.now()
    const look = () => {
      if (left() <= 0) body.cut(refusal('invalid', 'REQUEST_TIMEOUT', 'the body comes too slowly'))
      else timer = setTimeout(look, left())
    }
    let timer: NodeJS.Timeout | undefined
    // Most bodies are there when this turn of the event loop is over, and need no timer.
    const first = setImmediate(look)
    return () => {
      clearImmediate(first)
      clearTimeout(timer)
    }
  }
}

function cut(body: Body | undefined): void {
  body?.cut(refusal('unavailable', 'OVERLOADED', 'too many bodies are on their way: try again', 1))
}

function oldestOf({ bodies }: Sent): Body | undefined {
  for (const body of bodies) if (!body.isCut) return body
  return undefined
}
