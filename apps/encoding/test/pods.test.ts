import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { V1Job } from '@kubernetes/client-node'
import { waitFor } from '@vitascope/testing'
import { makeFakeFfmpeg, makeVideo } from './fixture.ts'
import { hashSetFrames } from './frames.ts'
import { kubernetesSettings } from './kubernetes-settings.ts'
import { endProcesses, ffmpegsBelow, startPod, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { type Caller, openCaller, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'
import { type StandInKubernetes, startKubernetes } from './stand-in-kubernetes.ts'

let environment: TestEnvironment
let cluster: StandInKubernetes
let caller: Caller
let service: Awaited<ReturnType<typeof startServiceProcess>>
const TIMEOUT_MS = 200_000
jest.setTimeout(5 * TIMEOUT_MS)

beforeAll(async () => {
  environment = await startTestEnvironment()
  cluster = await startKubernetes(environment.folder)
  environment.origin.serve('/video.mp4', await makeVideo(join(environment.folder, 'video.mp4'), 16))
})
afterAll(async () => {
  caller?.close()
  await endProcesses()
  await cluster.stop()
  await environment.close()
})

/** Checks often, because some of the states last for less than a second. */
const waitLong = <Seen>(check: () => Seen | Promise<Seen>, describe: string) =>
  waitFor(check, { timeout: TIMEOUT_MS, interval: 20, describe })
const create = (jobId: string) =>
  caller.jobs.createJob({ jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl: environment.origin.url('/video.mp4') }, caller.call)
const published = (jobId: string) => waitLong(() => environment.catalogue.published(jobId)[0], `job ${jobId} to be published`)
const findKubernetesJob = (jobId: string): Promise<V1Job> =>
  waitLong(
    () => [...cluster.jobs.values()].find(({ metadata }) => metadata?.labels?.['vitascope/job'] === jobId),
    `the Job of job ${jobId}`,
  )
const pod = async (job: V1Job, index: number, env?: Record<string, string>) => startPod(environment, service.address, job, index, env)

test('the pods of a Kubernetes Job produce the same frames as a worker, even if some are stopped or killed', async () => {
  service = await startServiceProcess(environment)
  caller = openCaller(service.address)
  const first = await startWorkerProcess(environment, service.address)
  await create('1')
  const byWorker = await hashSetFrames(environment, await published('1'))
  first.kill('SIGTERM')
  await first.exited
  caller.close()
  service.kill('SIGTERM')
  await service.exited

  const template = join(environment.folder, 'pod.json')
  await writeFile(template, JSON.stringify(kubernetesSettings().template))
  service = await startServiceProcess(environment, {
    VITASCOPE_EXECUTOR: 'kubernetes',
    VITASCOPE_KUBERNETES_NAMESPACE: 'media',
    VITASCOPE_KUBERNETES_CONFIG: cluster.kubeconfig,
    VITASCOPE_KUBERNETES_POD_TEMPLATE: template,
  })
  caller = openCaller(service.address)
  await startWorkerProcess(environment, service.address)
  await create('2')
  const job = await findKubernetesJob('2')
  expect(job.spec?.completions).toBeGreaterThanOrEqual(3)

  // The chunks are short and could end before the test observes their start.
  const slowly = { VITASCOPE_FFMPEG: await makeFakeFfmpeg(join(environment.folder, 'slow'), 'sleep 60') }
  const killed = await pod(job, 0, slowly)
  await waitLong(async () => (await ffmpegsBelow(killed.pid)).length > 0, 'a pod to encode')
  killed.kill('SIGKILL')
  await killed.exited
  const stopped = await pod(job, 1, slowly)
  await waitLong(async () => (await ffmpegsBelow(stopped.pid)).length > 0, 'a pod to encode')
  stopped.kill('SIGTERM')
  expect(await stopped.exited).toBe(143)

  // The first of these pods encodes all remaining chunks.
  const codes: (string | number)[] = []
  for (let index = 0; index < Number(job.spec?.completions); index++) codes.push(await (await pod(job, index)).exited)
  expect(codes).toEqual(codes.map(() => 0))
  expect(await hashSetFrames(environment, await published('2'))).toEqual(byWorker)
  const faults = await environment.db.query<{ faults: number }>('select faults from chunk where job_id = 2 order by chunk')
  expect(faults.map((row) => row.faults)).toEqual([1, ...faults.slice(1).map(() => 0)])

  await create('3')
  const unneeded = await findKubernetesJob('3')
  await caller.jobs.cancelJob({ jobId: '3' }, caller.call)
  expect(await (await pod(unneeded, 0)).exited).toBe(42)
})
