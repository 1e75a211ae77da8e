import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type FaultProxy, startFaultProxy, testLog, waitFor } from '@vitascope/testing'
import { testKeyFiles } from '@vitascope/testing/principal-keys'
import type { WorkerConfig } from '../src/worker/config.ts'
import { startWorker } from '../src/worker/worker.ts'
import type { TestEnvironment } from './service-under-test.ts'
import { leaseRequest } from './stand-in-worker.ts'
import { type Service, workUnderTest } from './work-under-test.ts'

const work = workUnderTest()
const { create, createWorker, expireLeases } = work
let environment: TestEnvironment
let service: Service
let jobId: string
let proxy: FaultProxy
beforeEach(async () => {
  ;({ environment, service, jobId } = work.now())
  proxy = await startFaultProxy(service.address)
})
afterEach(() => proxy.close())

const config = (overrides: Partial<WorkerConfig>): WorkerConfig => ({
  encodingAddress: proxy.address,
  principalKeys: testKeyFiles('worker'),
  name: 'stopped',
  slots: 1,
  chunk: undefined,
  memoryMib: 1024,
  objects: { folder: join(environment.folder, 'storage') },
  scratchDir: join(environment.folder, 'scratch/worker'),
  ffmpeg: undefined,
  office: 'off',
  metricsListen: '127.0.0.1:0',
  crashAt: undefined,
  timing: { heartbeatMs: 1_000, stallSeconds: 30 },
  ...overrides,
})
const holders = async () => {
  const rows = await environment.db.query<{ holder: string }>(`select holder from work_item where state = 'leased'`)
  return rows.map(({ holder }) => holder.replace(/:.*/, ''))
}
const leaseAs = async (workerId: string, request: string) =>
  (await service.work.leaseTask(leaseRequest({ workerId, requestId: request }), service.call)).task

/** Waits until the next task of a worker is available. */
const taskAvailable = () =>
  waitFor(async () => (await environment.db.query(`select 1 from work_item where state = 'waiting' and kind <> 'fetch'`)).length === 1, {
    describe: 'a task',
  })

test.each([
  ['for all kinds of tasks', 0, () => ({})],
  ['in a pod for the chunks of a job', 1, () => ({ chunk: { jobId, chunk: 0 } })],
])('a worker %s that stops while its lease response is in transit releases the task', async (_, steps, overrides) => {
  await create()
  for (let step = 0; step < steps; step++) await createWorker('first:a').runNextTask()
  await taskAvailable()
  await environment.db.query(`update work_item set due_time = 'infinity' where state = 'waiting'`)
  const worker = await startWorker(config(overrides()), testLog)
  let stopped: Promise<void> | undefined
  await environment.db.transaction(async (tx) => {
    // Preparing a task locks its job first, so that the response is not sent before this ends.
    await tx.query('select 1 from job where job_id = $1 for update', [jobId])
    await environment.db.query(`update work_item set due_time = now() where state = 'waiting'`)
    await waitFor(async () => (await holders()).includes('stopped'), { describe: 'the task to be leased' })
    proxy.shouldDropResponse = () => {
      if (stopped) return false
      stopped = worker.stop()
      return true
    }
  })
  await waitFor(() => proxy.lost() === 1, { describe: 'the response to be lost' })
  await stopped
  expect(await holders()).toEqual([])
  const task = await createWorker('other:a').lease()
  expect((await service.job(jobId)).attempt).toBe(1)
  await createWorker('other:a').extendLease(task)
})

test('releasing the leases of a request is idempotent and affects no other request', async () => {
  const release = (workerId: string, request: string) => service.work.releaseRequest({ workerId, requestId: request }, service.call)
  await create()
  await taskAvailable()
  await release('w1:a', '1')
  const first = await leaseAs('w1:a', '1')
  await release('w1:a', '2')
  await release('w2:a', '1')
  expect(await leaseAs('w1:a', '1')).toEqual(first)

  await release('w1:a', '1')
  const repeated = await leaseAs('w2:a', '1')
  expect(repeated).toMatchObject({ taskId: first?.taskId })
  await release('w1:a', '1')
  expect(await holders()).toEqual(['w2'])
  expect((await service.job(jobId)).attempt).toBe(1)

  // The lease has expired, and the task belongs to another worker.
  await expireLeases()
  const later = await createWorker('w3:a').lease()
  await release('w2:a', '1')
  await createWorker('w3:a').extendLease(later)
  for (const request of ['', 'x'.repeat(101)])
    await expect(release('w3:a', request)).rejects.toMatchObject({ kind: 'invalid', fields: [{ field: 'request_id' }] })
})
