import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, test } from '@jest/globals'
import { seededRandom } from '@vitascope/testing'
import { makeVideo } from './fixture.ts'
import { checkEnds } from './job-ends.ts'
import { endProcesses, ffmpegsBelow, type RunningProcess, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { openCaller, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

// Any process may be killed at any time. Each accepted job ends once, and no other files are left.

const JOBS = 12
const KILLING_MS = Number(process.env['VITASCOPE_NEMESIS_MS'] ?? 30_000)
const seed = Number(process.env['VITASCOPE_NEMESIS_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

let environment: TestEnvironment

beforeAll(async () => {
  environment = await startTestEnvironment()
  environment.origin.serve('/short.mp4', await makeVideo(join(environment.folder, 'short.mp4'), 4))
})
afterAll(async () => {
  await endProcesses()
  await environment.close()
})

test(`every job ends once while processes are killed at random (seed ${seed})`, async () => {
  const random = seededRandom(seed)
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
  const first = await startServiceProcess(environment, { VITASCOPE_LEASE_MS: '3000' })
  const env = { VITASCOPE_LEASE_MS: '3000', VITASCOPE_ENCODING_LISTEN: first.address }
  const processes: Record<string, RunningProcess> = { service: first }
  const starts: Record<string, () => Promise<RunningProcess>> = {
    service: () => startServiceProcess(environment, env),
    'worker-1': () => startWorkerProcess(environment, first.address, { VITASCOPE_WORKER_NAME: 'worker-1' }),
    'worker-2': () => startWorkerProcess(environment, first.address, { VITASCOPE_WORKER_NAME: 'worker-2' }),
  }
  for (const name of ['worker-1', 'worker-2']) processes[name] = await (starts[name] ?? starts['service'] ?? (() => Promise.reject()))()

  const caller = openCaller(first.address)
  const ids = Array.from({ length: JOBS }, (_, index) => String(index + 1))
  for (const jobId of ids) {
    await caller.jobs.createJob(
      { jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl: environment.origin.url('/short.mp4') },
      caller.call,
    )
  }
  caller.close()
  for (const until = performance.now() + KILLING_MS; performance.now() < until; ) {
    await delay(300 + random() * 1_500)
    const name = pick(Object.keys(processes)) ?? ''
    const target = processes[name]
    const start = starts[name]
    if (!target || !start) continue
    const ffmpeg = name.startsWith('worker') && random() < 0.5 ? (await ffmpegsBelow(target.pid))[0] : undefined
    if (ffmpeg !== undefined) process.kill(ffmpeg, 'SIGKILL')
    else {
      target.kill('SIGKILL')
      await target.exited
      processes[name] = await start()
    }
  }

  const states = await checkEnds(environment, JOBS)
  process.stderr.write(`${JSON.stringify(states)}\n`)
}, 300_000)
