// Faults: K8
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals'
import type { V1Job, V1Pod } from '@kubernetes/client-node'
import { planVersion } from '@vitascope/media'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { waitFor } from '@vitascope/testing'
import type { KubernetesSettings } from '../../../apps/encoding/src/kubernetes/executor-config.ts'
import { kubernetesSettings } from '../../../apps/encoding/test/kubernetes-settings.ts'
import { startInProcess, startTestEnvironment, type TestEnvironment } from '../../../apps/encoding/test/service-under-test.ts'
import { buildLongProbe, createStandInWorker } from '../../../apps/encoding/test/stand-in-worker.ts'
import { createKubelet, openCluster } from './support/cluster.ts'

const TIMEOUT_MS = 60_000
/** Duration of the outage. It is longer than any watch, election lease or retry delay. */
const AWAY_MS = 60_000
jest.setTimeout(5 * TIMEOUT_MS)

const cluster = openCluster()
let environment: TestEnvironment
let namespace: string
let kubelet: ReturnType<typeof createKubelet>
let settings: KubernetesSettings
let service: Awaited<ReturnType<typeof startInProcess>>
let worker: ReturnType<typeof createStandInWorker>
let nextJob = 1
let jobId: string

/** Permissions that docs/operate/scale.md lists. */
const rights = [
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'get', 'list', 'watch', 'delete'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: ['vitascope'] },
]

beforeAll(async () => {
  environment = await startTestEnvironment()
  environment.origin.serve('/video.mp4', Buffer.from('the bytes of a source'))
  await cluster.makeNode(`node-${randomBytes(4).toString('hex')}`)
})
beforeEach(async () => {
  await environment.db.query('truncate job, chunk, segment, object_prefix, worker, work_item, outbox, chunk_run')
  jobId = String(nextJob++)
  namespace = `media-${randomBytes(4).toString('hex')}`
  kubelet = createKubelet(cluster, namespace)
  await cluster.makeNamespace(namespace)
  await cluster.core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'vitascope' } } })
  await cluster.makeAccount({ namespace, name: 'encoding' }, rights)
  const kubeconfig = await cluster.writeKubeconfig({ namespace, name: 'encoding', folder: environment.folder })
  await cluster.core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'vitascope-chunk' } } })
  settings = kubernetesSettings({ namespace, kubeconfig, owner: 'vitascope', template: restricted() })
  service = await startInProcess(environment, { kubernetes: settings })
  worker = createStandInWorker(service, environment.storage, 'w1:a')
})
afterEach(() => service.stop())
afterAll(() => environment.close())

/** Returns a pod template that complies with the restricted standard. */
function restricted(): KubernetesSettings['template'] {
  const { template } = kubernetesSettings()
  const capabilities = { drop: ['ALL'] }
  const securityContext = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities }
  const containers = template.spec.containers.map((container) => ({ ...container, image: 'vitascope/encoding:test', securityContext }))
  const pod = { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } }
  return { ...template, spec: { ...template.spec, securityContext: pod, containers } }
}

/** Creates a job with three chunks, whose audio is already encoded. */
async function createJob(): Promise<void> {
  const sourceUrl = environment.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl }, service.call)
  await worker.complete(await worker.lease(), buildLongProbe())
  await worker.runNextTask()
}
const waitLong = <Seen>(check: () => Seen | Promise<Seen>, describe: string) => waitFor(check, { timeout: TIMEOUT_MS, describe })
const jobs = async () => (await cluster.batch.listNamespacedJob({ namespace })).items
const getName = (job: V1Job | undefined) => job?.metadata?.name ?? ''
const waitForNewJob = (...former: V1Job[]) =>
  waitLong(async () => (await jobs()).find((job) => !former.some((formerJob) => getName(formerJob) === getName(job))), 'a Job')
const readStatus = async (job: V1Job) => (await cluster.batch.readNamespacedJob({ namespace, name: getName(job) })).status
const waitForPod = (job: V1Job, index: number, ...former: V1Pod[]) =>
  waitLong(async () => {
    const pod = (await kubelet.pods(getName(job))).get(index)
    return former.some((formerPod) => formerPod.metadata?.uid === pod?.metadata?.uid) ? undefined : pod
  }, `the pod of index ${index}`)
const noJobs = () => waitLong(async () => (await jobs()).length === 0, 'all Jobs to be removed')
const findChunks = (job: V1Job) =>
  job.spec?.template.spec?.containers[0]?.env?.find(({ name }) => name === 'VITASCOPE_WORKER_CHUNKS')?.value
const faults = async () =>
  (await environment.db.query<{ faults: number }>('select faults from chunk where job_id = $1 order by chunk', [jobId])).map(
    (row) => row.faults,
  )
async function make(chunk: number): Promise<void> {
  const { task } = await service.work.leaseChunk(
    { workerId: `p${chunk}:a`, requestId: '', waitSeconds: 0, jobId, chunk, planVersion, anyChunk: false },
    service.call,
  )
  if (!task) throw new Error(`chunk ${chunk} cannot be leased`)
  await worker.complete(task, await worker.make(task))
}

test('the executor has the permissions that it requires, and no others', async () => {
  const kubeconfig = String(settings.kubeconfig)
  const may = (verb: string, resource: string, fields = {}) => cluster.isAllowed(kubeconfig, { namespace, verb, resource, ...fields })
  expect([await may('create', 'jobs', { group: 'batch' }), await may('get', 'configmaps', { name: 'vitascope' })]).toEqual([true, true])
  const otherRights = [
    may('get', 'secrets'),
    may('list', 'configmaps'),
    may('create', 'pods'),
    may('list', 'pods'),
    may('create', 'pods', { subresource: 'exec' }),
    may('patch', 'jobs', { group: 'batch' }),
    may('create', 'rolebindings', { group: 'rbac.authorization.k8s.io' }),
    cluster.isAllowed(kubeconfig, { namespace: 'kube-system', verb: 'create', resource: 'jobs', group: 'batch' }),
  ]
  expect(await Promise.all(otherRights)).toEqual(otherRights.map(() => false))
})

test('evicted pods are replaced without counting as failures, and the Job is deleted after its last chunk', async () => {
  await createJob()
  const job = await waitForNewJob()
  const first = await waitForPod(job, 0)
  await kubelet.run(first)
  await kubelet.evict(first)
  const second = await waitForPod(job, 0, first)
  expect((await readStatus(job))?.failed ?? 0).toBe(0)
  await make(0)
  await kubelet.end(second, 0)
  await kubelet.end(await waitForPod(job, 1), 1)
  await make(1)
  const retryPod = await waitForPod(job, 2)
  await make(2)
  await kubelet.end(retryPod, 0)
  await noJobs()
  await waitLong(async () => (await kubelet.pods(getName(job))).size === 0, 'its pods to be removed')
  expect(await faults()).toEqual([0, 0, 0, 0])
  await worker.runNextTask()
  await waitLong(() => environment.catalogue.published(jobId).length === 1, 'the job to be published')
})

test('an index whose pod exits with 42 is not retried, the others continue, and the next Job encodes its chunk', async () => {
  await createJob()
  const job = await waitForNewJob()
  const pod = await waitForPod(job, 0)
  await kubelet.end(pod, 42)
  await waitLong(async () => (await readStatus(job))?.failedIndexes === '0', 'the index to have failed')
  for (const index of [1, 2]) {
    const otherPod = await waitForPod(job, index)
    await make(index)
    await kubelet.end(otherPod, 0)
  }
  const next = await waitForNewJob(job)
  expect(findChunks(next)).toBe('0')
  expect(await waitLong(async () => (await faults()).some((count) => count > 0) && (await faults()), 'a fault')).toEqual([1, 0, 0, 0])
  await make(0)
  await noJobs()
})

test('after an API server outage of a minute, the Jobs still exist, and changes during the outage are detected', async () => {
  await createJob()
  const job = await waitForNewJob()
  await kubelet.end(await waitForPod(job, 0), 42)
  await cluster.stopApiServer()
  await delay(AWAY_MS)
  await make(1)
  await cluster.startApiServer()
  await kubelet.end(await waitForPod(job, 1), 0)
  await kubelet.end(await waitForPod(job, 2), 42)
  const next = await waitForNewJob(job)
  expect(findChunks(next)).toBe('0,2')
  await make(0)
  await make(2)
  await noJobs()
  await worker.runNextTask()
  await waitLong(() => environment.catalogue.published(jobId).length === 1, 'the job to be published')
})

test('cancelling a job deletes its Kubernetes Job and pods', async () => {
  await createJob()
  const job = await waitForNewJob()
  await kubelet.run(await waitForPod(job, 0))
  await service.jobs.cancelJob({ jobId }, service.call)
  await noJobs()
  await waitLong(async () => (await kubelet.pods(getName(job))).size === 0, 'its pods to be removed')
  expect((await service.job(jobId)).state).toBe(JobState.JOB_STATE_CANCELLED)
})

test('Jobs are deleted with the ConfigMap that owns them', async () => {
  await createJob()
  const job = await waitForNewJob()
  expect(job.metadata?.ownerReferences).toHaveLength(1)
  await service.stop()
  await cluster.core.deleteNamespacedConfigMap({ namespace, name: 'vitascope' })
  await noJobs()
  service = await startInProcess(environment)
})

test('a Job in a Kueue queue has no pods until it is admitted', async () => {
  await service.stop()
  service = await startInProcess(environment, { kubernetes: { ...settings, queue: 'encodes' } })
  worker = createStandInWorker(service, environment.storage, 'w1:b')
  await createJob()
  const job = await waitForNewJob()
  await waitLong(
    async () => (await readStatus(job))?.conditions?.some(({ type, status }) => type === 'Suspended' && status === 'True'),
    'the Job to be suspended',
  )
  expect(job.metadata?.labels?.['kueue.x-k8s.io/queue-name']).toBe('encodes')
  const body = await cluster.batch.readNamespacedJob({ namespace, name: getName(job) })
  if (body.spec) body.spec.suspend = false
  await cluster.batch.replaceNamespacedJob({ namespace, name: getName(job), body })
  await waitForPod(job, 0)
})
