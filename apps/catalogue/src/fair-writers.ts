import { AsyncLocalStorage } from 'node:async_hooks'
import { DomainError } from '@vitascope/errors'
import type { Call, GrpcServer } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'

/** Transactions of one organisation that run at once: half of the connections that there are for them. */
const MOST_RUNNING = 2
/** Transactions of one organisation that wait for their turn; more are refused. */
const MOST_WAITING = 64

type Handler = (request: unknown, call: Call) => unknown

interface Turns {
  running: number
  waiting: Set<() => void>
}

/**
 * Keeps one organisation from taking all connections: its transactions take turns before they are given one. Calls of services and guests
 * take none.
 */
export function createFairWriters() {
  const writer = new AsyncLocalStorage<string>()
  const organisations = new Map<string, Turns>()
  return {
    /** A server whose handlers write on behalf of the caller's organisation. */
    server(server: GrpcServer): GrpcServer {
      // What a handler takes and answers is nothing to this: the types of a whole service would be compared in vain.
      const implement = server.implement as unknown as (definition: unknown, handlers: Record<string, Handler>) => void
      const fairly: unknown = (definition: unknown, handlers: Record<string, Handler>) =>
        implement(definition, inTheNameOf(writer, handlers))
      return { ...server, implement: fairly as GrpcServer['implement'] }
    },
    db: (db: Db): Db => ({
      ...db,
      async transaction(change, signal) {
        const organisationId = writer.getStore()
        if (organisationId === undefined) return db.transaction(change, signal)
        const done = await turn(organisations, organisationId, signal)
        try {
          return await db.transaction(change, signal)
        } finally {
          done()
        }
      },
    }),
  }
}

function inTheNameOf(writer: AsyncLocalStorage<string>, handlers: Record<string, Handler>): Record<string, Handler> {
  const named = Object.entries(handlers).map(([name, run]): [string, Handler] => [
    name,
    (request, call) => {
      const { principal } = call
      return principal.kind === 'user' ? writer.run(principal.organisationId, () => run(request, call)) : run(request, call)
    },
  ])
  return Object.fromEntries(named)
}

/** Resolves when it is the caller's turn, in the order in which they came; what it answers ends the turn. */
async function turn(organisations: Map<string, Turns>, organisationId: string, signal: AbortSignal | undefined): Promise<() => void> {
  const turns = organisations.get(organisationId) ?? { running: 0, waiting: new Set() }
  organisations.set(organisationId, turns)
  const done = () => {
    const [next] = turns.waiting
    // The turn is handed on, so that nobody comes in between.
    if (next) next()
    else if (--turns.running === 0) organisations.delete(organisationId)
  }
  if (turns.running < MOST_RUNNING) turns.running++
  else await wait(turns, signal)
  return done
}

function wait({ waiting }: Turns, signal: AbortSignal | undefined): Promise<void> {
  if (waiting.size >= MOST_WAITING) {
    throw new DomainError('exhausted', 'TOO_MANY_CHANGES', 'the organisation makes too many changes at once: try again', { retryAfter: 1 })
  }
  signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    const leave = () => {
      waiting.delete(next)
      signal?.removeEventListener('abort', abort)
    }
    const next = () => {
      leave()
      resolve()
    }
    const abort = () => {
      leave()
      reject(signal?.reason)
    }
    waiting.add(next)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
