import { expect, test } from '@jest/globals'
import type { Call, GrpcServer, Principal } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import { createPerOrganisationTransactions } from './per-organisation-transactions.ts'

const buildUser = (organisationId: string): Principal => ({ kind: 'user', keyId: '1', userId: '1', organisationId, userType: 'standard' })

/**
 * Returns functions that start and end transactions. A transaction runs until the test ends it.
 * `began` lists the names of started transactions, in order.
 */
function createTransactions() {
  const began: string[] = []
  const ends = new Map<string, () => void>()
  const db = {
    transaction: (change: (name: never) => Promise<unknown>) => change(undefined as never),
  } as unknown as Db
  const perOrganisation = createPerOrganisationTransactions()
  const perOrganisationDb = perOrganisation.db(db)
  let handler: (request: string, call: Call) => Promise<string> = async () => ''
  const server = {
    implement: (_: unknown, handlers: { getMedia: typeof handler }) => {
      handler = handlers.getMedia
    },
  } as unknown as GrpcServer
  const run = (name: string, { signal }: Call) =>
    perOrganisationDb.transaction(
      () =>
        new Promise<string>((resolve) => {
          began.push(name)
          ends.set(name, () => resolve(name))
        }),
      signal,
    )
  const implement = perOrganisation.server(server).implement as unknown as (definition: unknown, handlers: { getMedia: typeof run }) => void
  implement(undefined, { getMedia: run })
  const write = (name: string, principal: Principal, signal = new AbortController().signal) =>
    handler(name, { principal, requestId: '', signal })
  const waitUntilSettled = () => new Promise((resolve) => setImmediate(resolve))
  return { began, end: (name: string) => ends.get(name)?.(), write, waitUntilSettled }
}

test('two transactions of an organisation run at once, its others wait in order, and other callers do not wait', async () => {
  const { began, end, write, waitUntilSettled } = createTransactions()
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => write(name, buildUser('1')))
  for (const name of ['b1', 'b2', 'b3']) all.push(write(name, buildUser('2')))
  for (const name of ['s1', 's2', 's3']) all.push(write(name, { kind: 'service', service: 'encoding' }))
  all.push(write('g1', { kind: 'guest' }))
  await waitUntilSettled()
  expect(new Set(began)).toEqual(new Set(['a1', 'a2', 'b1', 'b2', 's1', 's2', 's3', 'g1']))
  end('a2')
  await waitUntilSettled()
  expect(began.slice(8)).toEqual(['a3'])
  for (const name of ['a1', 'a3', 'b1', 'b2']) end(name)
  await waitUntilSettled()
  expect(began.slice(8)).toEqual(['a3', 'a4', 'b3'])
  for (const name of ['a4', 'b3', 's1', 's2', 's3', 'g1']) end(name)
  expect((await Promise.all(all)).sort()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'g1', 's1', 's2', 's3'])
  // Finished transactions release their slots.
  const later = ['c1', 'c2', 'c3'].map((name) => write(name, buildUser('1')))
  await waitUntilSettled()
  expect(began.slice(11)).toEqual(['c1', 'c2'])
  for (const name of ['c1', 'c2', 'c3']) {
    end(name)
    await waitUntilSettled()
  }
  await Promise.all(later)
})

test('a transaction leaves the queue when its client disconnects', async () => {
  const { began, end, write, waitUntilSettled } = createTransactions()
  const disconnect = new AbortController()
  const [first, second] = [write('1', buildUser('1')), write('2', buildUser('1'))]
  const disconnected = write('3', buildUser('1'), disconnect.signal)
  const last = write('4', buildUser('1'))
  disconnect.abort()
  await expect(disconnected).rejects.toMatchObject({ name: 'AbortError' })
  await expect(write('5', buildUser('1'), disconnect.signal)).rejects.toMatchObject({ name: 'AbortError' })
  end('1')
  await waitUntilSettled()
  expect(began).toEqual(['1', '2', '4'])
  for (const name of ['2', '4']) end(name)
  await Promise.all([first, second, last])
})

test('a transaction is rejected when 64 others of its organisation wait', async () => {
  const { end, write, waitUntilSettled } = createTransactions()
  const names = Array.from({ length: 66 }, (_, index) => `${index}`)
  const all = names.map((name) => write(name, buildUser('1')))
  await expect(write('67', buildUser('1'))).rejects.toMatchObject({ kind: 'exhausted', reason: 'TOO_MANY_CHANGES', retryAfter: 1 })
  for (const name of names) {
    end(name)
    await waitUntilSettled()
  }
  await Promise.all(all)
})
