// Faults: K9
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { recordFigure, waitFor } from '@vitascope/testing'
import { makeVideo } from './fixture.ts'
import { checkEnds } from './job-ends.ts'
import { endProcesses, ffmpegsBelow, type RunningProcess, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { openCaller, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

// Workers start and stop with the load, as under an autoscaler. A stopped worker releases its
// tasks, and this counts as no attempt.

const MAX_WORKERS = 5
const ROUNDS = 2
const JOB_INTERVAL_MS = 3_000

let environment: TestEnvironment

beforeAll(async () => {
  environment = await startTestEnvironment()
  environment.origin.serve('/some.mp4', await makeVideo(join(environment.folder, 'some.mp4'), 8))
})
afterAll(async () => {
  await endProcesses()
  await environment.close()
})

test('scaling from one to five workers and back twice under load fails no job', async () => {
  // Leases have the default duration. The test does not wait for leases to expire, because stopped
  // workers release their tasks.
  const service = await startServiceProcess(environment, { VITASCOPE_FETCH_LEASE_MS: '30000' })
  const caller = openCaller(service.address)
  const workers: RunningProcess[] = []
  let workerCount = 0
  // Each worker has its own name, like pods.
  const startOne = async () => {
    workers.push(await startWorkerProcess(environment, service.address, { VITASCOPE_WORKER_NAME: `worker-${++workerCount}` }))
  }
  const stopDurationsMs: number[] = []
  /** Stops a worker that encodes, but never the oldest one. */
  const stopOne = async () => {
    const busy = await waitFor(
      async () => {
        for (const worker of workers.slice(1)) if ((await ffmpegsBelow(worker.pid)).length > 0) return worker
        return undefined
      },
      { timeout: 60_000, describe: 'a worker that encodes' },
    )
    workers.splice(workers.indexOf(busy), 1)
    const requested = performance.now()
    busy.kill('SIGTERM')
    expect(await busy.exited).toBe(0)
    stopDurationsMs.push(Math.round(performance.now() - requested))
  }

  let jobs = 0
  let loading = true
  const load = async () => {
    while (loading) {
      const jobId = String(++jobs)
      await caller.jobs.createJob(
        { jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl: environment.origin.url('/some.mp4') },
        caller.call,
      )
      await delay(JOB_INTERVAL_MS)
    }
  }
  const loaded = load()
  await startOne()
  for (let round = 0; round < ROUNDS; round++) {
    while (workers.length < MAX_WORKERS) await startOne()
    while (workers.length > 1) await stopOne()
  }
  loading = false
  await loaded
  const states = await checkEnds(environment, jobs)
  const attempts = await environment.db.query<{ attempt: number }>('select distinct attempt from job')
  const slowestStop = (Math.max(...stopDurationsMs) / 1_000).toFixed(1)
  recordFigure('K9', `${jobs} jobs, ${states['failed'] ?? 0} failed; the slowest of ${stopDurationsMs.length} stops took ${slowestStop} s`)
  process.stderr.write(`scaling: ${JSON.stringify({ jobs, states, attempts, stopDurationsMs })}\n`)
  expect(states).toEqual({ ok: jobs, failed: 0 })
  // A released task costs no attempt.
  expect(attempts).toEqual([{ attempt: 1 }])
  expect(stopDurationsMs).toHaveLength(ROUNDS * (MAX_WORKERS - 1))
  caller.close()
}, 600_000)
