import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { isAlive } from '@vitascope/testing'
import { makeFakeFfmpeg } from './fixture.ts'
import { makePdf, makeSlowPages } from './pdf.ts'
import type { RunningProcess } from './running-process.ts'
import { slidesUnderTest, twoPages, waitLong } from './slides-under-test.ts'

const slides = slidesUnderTest()

const slow = () => makePdf(makeSlowPages(12, 300))

/** Returns the descendants of a process that run a program. */
async function descendants(pid: number, program: RegExp): Promise<number[]> {
  const all = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
        const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
        return { pid: Number(name), parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]), command }
      }),
  )
  const children = (parent: number): typeof all => all.filter((one) => one.parent === parent).flatMap((one) => [one, ...children(one.pid)])
  return children(pid)
    .filter(({ command }) => program.test(command))
    .map((one) => one.pid)
}
const renderer = /node\0.*page-renderer\.mts/

/** Waits until the worker renders a page. Returns the pid of the renderer. */
async function waitForRenderer(worker: RunningProcess): Promise<number> {
  const pid = await waitLong(async () => (await descendants(worker.pid, renderer))[0], { describe: 'a page to be rendered' })
  return Number(pid)
}

test('killing a worker ends its renderer, and the next worker continues at once', async () => {
  const service = await slides.start({ VITASCOPE_LEASE_MS: '600000' })
  const worker = await slides.startWorker(service)
  const jobId = await slides.create(slow())
  const child = await waitForRenderer(worker)
  worker.kill('SIGKILL')
  await worker.exited
  await waitLong(() => !isAlive(child), { describe: 'the renderer to end' })
  await slides.startWorker(service)
  await slides.expectSlides(jobId, 12)
  expect((await slides.caller.job(jobId)).attempt).toBe(2)
})

test('killing a renderer costs one attempt', async () => {
  const worker = await slides.startWorker(await slides.start())
  const jobId = await slides.create(slow())
  process.kill(await waitForRenderer(worker), 'SIGKILL')
  await slides.expectSlides(jobId, 12)
  expect((await slides.caller.job(jobId)).attempt).toBe(2)
})

test('a service that is killed and restarted accepts the result of the running worker', async () => {
  const service = await slides.start()
  const worker = await slides.startWorker(service)
  const jobId = await slides.create(slow())
  await waitForRenderer(worker)
  service.kill('SIGKILL')
  await service.exited
  slides.caller.close()
  await slides.start({ VITASCOPE_ENCODING_LISTEN: service.address })
  await slides.expectSlides(jobId, 12)
  expect((await slides.caller.job(jobId)).attempt).toBe(1)
})

test('a worker that pauses past its lease loses its task', async () => {
  const service = await slides.start({ VITASCOPE_LEASE_MS: '4000' })
  const stale = await slides.startWorker(service)
  const jobId = await slides.create(slow())
  await waitForRenderer(stale)
  stale.kill('SIGSTOP')
  await slides.startWorker(service, { VITASCOPE_WORKER_NAME: 'worker-2' })
  await slides.expectSlides(jobId, 12)
  stale.kill('SIGCONT')
  await waitLong(() => stale.lines.some((line) => line['outcome'] === 'lost'), {
    describe: 'the stale worker to detect its lost lease',
  })
  await slides.expectEmptyScratch()
  await slides.expectSlides(jobId, 12)
})

test('a stopped worker releases its task, and this counts as no attempt', async () => {
  const service = await slides.start({ VITASCOPE_LEASE_MS: '600000' })
  const worker = await slides.startWorker(service)
  const jobId = await slides.create(slow())
  await waitForRenderer(worker)
  worker.kill('SIGTERM')
  expect(await worker.exited).toBe(0)
  await slides.startWorker(service, { VITASCOPE_WORKER_NAME: 'worker-2' })
  await slides.expectSlides(jobId, 12)
  expect((await slides.caller.job(jobId)).attempt).toBe(1)
})

test('cancelling a job stops its renderer and leaves no objects', async () => {
  const worker = await slides.startWorker(await slides.start())
  const jobId = await slides.create(slow())
  const child = await waitForRenderer(worker)
  await slides.caller.jobs.cancelJob({ jobId }, slides.caller.call)
  await waitLong(() => !isAlive(child), { describe: 'the renderer to end' })
  await slides.expectNothing(jobId)
  expect(await slides.environment.objects(`upload/${jobId}`)).toHaveLength(1)
})

test('an ffmpeg that produces no images fails the job after three attempts', async () => {
  const ffmpeg = await makeFakeFfmpeg(join(slides.environment.folder, 'fake'), 'exit 0')
  await slides.startWorker(await slides.start(), { VITASCOPE_FFMPEG: ffmpeg })
  const jobId = await slides.create(twoPages())
  await waitLong(() => slides.environment.catalogue.failed(jobId)[0]?.code === 5003)
  expect(await slides.caller.job(jobId)).toMatchObject({ state: JobState.JOB_STATE_FAILED, attempt: 3 })
  await slides.expectNothing(jobId)
})
