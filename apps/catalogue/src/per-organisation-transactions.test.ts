import { expect, test } from '@jest/globals'
import type { Call, GrpcServer, Principal } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import { createPerOrganisationTransactions } from './per-organisation-transactions.ts'

const of = (organisationId: string): Principal => ({ kind: 'user', keyId: '1', userId: '1', organisationId, userType: 'standard' })

/** Transactions that run until the test ends them. `began` lists the names of started transactions, in order. */
function writers() {
  const began: string[] = []
  const ends = new Map<string, () => void>()
  const db = {
    transaction: (change: (name: never) => Promise<unknown>) => change(undefined as never),
  } as unknown as Db
  const fair = createPerOrganisationTransactions()
  const fairDb = fair.db(db)
  let handler: (request: string, call: Call) => Promise<string> = async () => ''
  const server = {
    implement: (_: unknown, handlers: { getMedia: typeof handler }) => {
      handler = handlers.getMedia
    },
  } as unknown as GrpcServer
  const run = (name: string, { signal }: Call) =>
    fairDb.transaction(
      () =>
        new Promise<string>((resolve) => {
          began.push(name)
          ends.set(name, () => resolve(name))
        }),
      signal,
    )
  const implement = fair.server(server).implement as unknown as (definition: unknown, handlers: { getMedia: typeof run }) => void
  implement(undefined, { getMedia: run })
  const write = (name: string, principal: Principal, signal = new AbortController().signal) =>
    handler(name, { principal, requestId: '', signal })
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return { began, end: (name: string) => ends.get(name)?.(), write, settled }
}

test('two transactions of an organisation run at once, its others wait in order, and other callers do not wait', async () => {
  const { began, end, write, settled } = writers()
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => write(name, of('1')))
  for (const name of ['b1', 'b2', 'b3']) all.push(write(name, of('2')))
  for (const name of ['s1', 's2', 's3']) all.push(write(name, { kind: 'service', service: 'encoding' }))
  all.push(write('g1', { kind: 'guest' }))
  await settled()
  expect(new Set(began)).toEqual(new Set(['a1', 'a2', 'b1', 'b2', 's1', 's2', 's3', 'g1']))
  end('a2')
  await settled()
  expect(began.slice(8)).toEqual(['a3'])
  for (const name of ['a1', 'a3', 'b1', 'b2']) end(name)
  await settled()
  expect(began.slice(8)).toEqual(['a3', 'a4', 'b3'])
  for (const name of ['a4', 'b3', 's1', 's2', 's3', 'g1']) end(name)
  expect((await Promise.all(all)).sort()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'g1', 's1', 's2', 's3'])
  // Finished transactions release their slots.
  const later = ['c1', 'c2', 'c3'].map((name) => write(name, of('1')))
  await settled()
  expect(began.slice(11)).toEqual(['c1', 'c2'])
  for (const name of ['c1', 'c2', 'c3']) {
    end(name)
    await settled()
  }
  await Promise.all(later)
})

test('a transaction leaves the queue when its client disconnects', async () => {
  const { began, end, write, settled } = writers()
  const disconnect = new AbortController()
  const [first, second] = [write('1', of('1')), write('2', of('1'))]
  const gone = write('3', of('1'), disconnect.signal)
  const last = write('4', of('1'))
  disconnect.abort()
  await expect(gone).rejects.toMatchObject({ name: 'AbortError' })
  await expect(write('5', of('1'), disconnect.signal)).rejects.toMatchObject({ name: 'AbortError' })
  end('1')
  await settled()
  expect(began).toEqual(['1', '2', '4'])
  for (const name of ['2', '4']) end(name)
  await Promise.all([first, second, last])
})

test('a transaction is rejected when 64 others of its organisation wait', async () => {
  const { end, write, settled } = writers()
  const names = Array.from({ length: 66 }, (_, index) => `${index}`)
  const all = names.map((name) => write(name, of('1')))
  await expect(write('67', of('1'))).rejects.toMatchObject({ kind: 'exhausted', reason: 'TOO_MANY_CHANGES', retryAfter: 1 })
  for (const name of names) {
    end(name)
    await settled()
  }
  await Promise.all(all)
})
