import { AsyncLocalStorage } from 'node:async_hooks'
import { createFairQueue } from '@vitascope/concurrency'
import { DomainError } from '@vitascope/errors'
import type { Admission, Call, GrpcServer } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'

/** Maximum number of transactions that an organisation runs at once: half of the default number of connections. */
const MAX_RUNNING_PER_ORGANISATION = 2
const MAX_QUEUED_PER_ORGANISATION = 64

type Handler = (request: unknown, call: Call) => unknown

/**
 * Limits the transactions of one organisation that run at the same time, so that one organisation cannot occupy all connections.
 * Transactions on behalf of services and guests are not limited. Throws TOO_MANY_CHANGES if too many transactions of an organisation wait.
 */
export function createPerOrganisationTransactions() {
  const currentOrganisation = new AsyncLocalStorage<string>()
  const queue = createFairQueue({
    concurrencyPerKey: MAX_RUNNING_PER_ORGANISATION,
    maxQueuedPerKey: MAX_QUEUED_PER_ORGANISATION,
    rejection: () =>
      new DomainError('exhausted', 'TOO_MANY_CHANGES', 'too many concurrent changes by this organisation; try again', { retryAfter: 1 }),
  })
  return {
    /** Returns a server whose handlers run with the organisation of their caller. */
    server(server: GrpcServer): GrpcServer {
      // The handlers have the same types as before. The cast avoids a slow comparison of these types.
      const implement = server.implement as unknown as (
        definition: unknown,
        handlers: Record<string, Handler>,
        admission?: Admission,
      ) => void
      const wrappedImplement: unknown = (definition: unknown, handlers: Record<string, Handler>, admission?: Admission) =>
        implement(definition, withOrganisation(currentOrganisation, handlers), admission)
      return { ...server, implement: wrappedImplement as GrpcServer['implement'] }
    },
    db: (db: Db): Db => ({
      ...db,
      async transaction(change, signal) {
        const organisationId = currentOrganisation.getStore()
        if (organisationId === undefined) return db.transaction(change, signal)
        return queue.run(organisationId, () => db.transaction(change, signal), signal)
      },
    }),
  }
}

function withOrganisation(storage: AsyncLocalStorage<string>, handlers: Record<string, Handler>): Record<string, Handler> {
  const wrapped = Object.entries(handlers).map(([name, run]): [string, Handler] => [
    name,
    (request, call) => {
      const { principal } = call
      return principal.kind === 'user' ? storage.run(principal.organisationId, () => run(request, call)) : run(request, call)
    },
  ])
  return Object.fromEntries(wrapped)
}
