// Faults: C12
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type Db, openPostgres } from '@vitascope/postgres'
import { createTestDatabase, type TestDatabase, testLog } from '@vitascope/testing'
import fc from 'fast-check'
import { createQueueJobStore, type QueueJobStore } from './queue-job-store.ts'

let database: TestDatabase
let dbs: Db[]
let clients: QueueJobStore[]
beforeAll(async () => {
  database = await createTestDatabase({ migrations: join(import.meta.dirname, '../../migrations'), schema: 'encoding' })
  dbs = Array.from({ length: 3 }, () => openPostgres({ url: database.url, schema: 'encoding', log: testLog, poolSize: 4 }))
  clients = dbs.map((db) => createQueueJobStore(db))
})
beforeEach(() => query('delete from queue_job'))
afterAll(async () => {
  for (const db of dbs) await db.close()
  await database.drop()
})

const query = (text: string) => dbs[0]?.query(text)
const client = (n: number): QueueJobStore => {
  const client = clients[n % 3]
  if (!client) throw new Error('the clients are not started')
  return client
}
/** Expires all leases by moving the rows' times, because the database clock cannot be changed. */
const expireLeases = () => query(`update queue_job set lease_end = lease_end - interval '1 day' where lease_end is not null`)
const callOptions = { signal: new AbortController().signal }
const add = (n = 0, priority = 1) => client(n).add({ jobName: 'check', priority, data: '{}' }, callOptions)

test('concurrent pops return each of 100 jobs once', async () => {
  const ids = await Promise.all(Array.from({ length: 100 }, (_, n) => add(n)))
  const popped = await Promise.all(Array.from({ length: 110 }, (_, n) => client(n).pop(n % 2 === 0 ? 0 : 60)))
  const poppedIds = popped.flatMap((job) => (job ? [job.jobId] : []))
  expect(poppedIds.toSorted()).toEqual(ids.toSorted())
})

test('a popped job returns to the queue when its lease expires', async () => {
  const [first, second] = [await add(), await add()]
  expect((await client(0).pop(30))?.jobId).toBe(first)
  expect((await client(1).pop(30))?.jobId).toBe(second)
  expect(await client(1).pop(30)).toBeUndefined()
  await expireLeases()
  expect((await client(2).pop(0))?.jobId).toBe(first)
  expect(await client(0).remove(first)).toBe(false)
  expect(await client(0).remove(second)).toBe(true)
})

test('a pop of a disconnected client takes no job', async () => {
  await add()
  await expect(client(0).pop(0, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
  expect(await client(0).pop(0)).toBeDefined()
})

test('an idempotency key adds one job and rejects another payload', async () => {
  const repeated = { ...callOptions, idempotency: { key: 'k-queue', fingerprint: 'a' } }
  const job = { jobName: 'once', priority: 10, data: '' }
  const id = await client(0).add(job, repeated)
  expect(await client(1).add(job, repeated)).toBe(id)
  await expect(client(1).add(job, { ...repeated, idempotency: { key: 'k-queue', fingerprint: 'b' } })).rejects.toMatchObject({
    reason: 'IDEMPOTENCY_MISMATCH',
  })
  expect((await client(2).pop(0))?.jobId).toBe(id)
  expect(await client(2).pop(0)).toBeUndefined()
})

test('rejects a job above the limit, until another job was popped', async () => {
  const [db] = dbs
  if (!db) throw new Error('the databases are not started')
  const limitedStore = createQueueJobStore(db, 3)
  const fill = () => limitedStore.add({ jobName: 'check', priority: 1, data: '' }, callOptions)
  for (let n = 0; n < 3; n++) await fill()
  await expect(fill()).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'QUEUE_FULL' })
  await limitedStore.pop(0)
  await fill()
})

// Model of the queue, as a list in memory.
interface ModelJob {
  id: string
  priority: number
  leased: boolean
}
type Command = fc.AsyncCommand<ModelJob[], object>

const command = (name: string, run: (model: ModelJob[]) => Promise<void>): Command => ({ check: () => true, run, toString: () => name })
const listWaiting = (model: ModelJob[]) =>
  model.filter(({ leased }) => !leased).sort((a, b) => b.priority - a.priority || Number(a.id) - Number(b.id))
const removeFromModel = (model: ModelJob[], id: string | undefined) => {
  const index = model.findIndex((job) => job.id === id)
  if (index !== -1) model.splice(index, 1)
}

const createAddCommand = (n: number, priority: number) =>
  command(`add(${n}, ${priority})`, async (model) => {
    model.push({ id: await add(n, priority), priority, leased: false })
  })
const createPopCommand = (n: number, lease: number) =>
  command(`pop(${n}, ${lease})`, async (model) => {
    const [first] = listWaiting(model)
    expect((await client(n).pop(lease))?.jobId).toBe(first?.id)
    if (lease === 0) removeFromModel(model, first?.id)
    else if (first) first.leased = true
  })
const concurrentPops = command('three pops at once', async (model) => {
  const first = listWaiting(model).slice(0, 3)
  const popped = await Promise.all([0, 1, 2].map((n) => client(n).pop(0)))
  expect(popped.flatMap((job) => (job ? [job.jobId] : [])).toSorted()).toEqual(first.map(({ id }) => id).toSorted())
  for (const { id } of first) removeFromModel(model, id)
})
const createRemoveCommand = (n: number, index: number) =>
  command(`remove(${n}, ${index})`, async (model) => {
    const job = model[index % Math.max(1, model.length)]
    expect(await client(n).remove(job?.id ?? '9007199254740991')).toBe(job !== undefined)
    removeFromModel(model, job?.id)
  })
const leaseExpiry = command('leases expire', async (model) => {
  await expireLeases()
  for (const job of model) job.leased = false
})

test('three clients behave as the model', async () => {
  const client = fc.nat(2)
  const commands = fc.commands(
    [
      fc.tuple(client, fc.constantFrom(1, 10)).map(([n, priority]) => createAddCommand(n, priority)),
      fc.tuple(client, fc.constantFrom(1, 10)).map(([n, priority]) => createAddCommand(n, priority)),
      fc.tuple(client, fc.constantFrom(0, 60)).map(([n, lease]) => createPopCommand(n, lease)),
      fc.constant(concurrentPops),
      fc.tuple(client, fc.nat(20)).map(([n, index]) => createRemoveCommand(n, index)),
      fc.constant(leaseExpiry),
    ],
    { maxCommands: 25 },
  )
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      await query('delete from queue_job')
      await fc.asyncModelRun(() => ({ model: [], real: {} }), sequence)
    }),
    { numRuns: Number(process.env['VITASCOPE_MODEL_RUNS'] ?? 1_000) },
  )
}, 300_000)
