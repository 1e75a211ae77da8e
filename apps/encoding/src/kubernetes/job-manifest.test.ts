import { expect, test } from '@jest/globals'
import { planEncode } from '@vitascope/media'
import { kubernetesSettings } from '../../test/kubernetes-settings.ts'
import { buildLongProbe } from '../../test/stand-in-worker.ts'
import type { KubernetesSettings } from './executor-config.ts'
import {
  belongsTo,
  estimatePodNeeds,
  formatLabelSelector,
  isSuspendedAndOutdated,
  jobManifest,
  listChunks,
  settingsHash,
} from './job-manifest.ts'

const run = { runId: '3', jobId: '12', chunks: [0, 2, 5] }
const needs = { memoryMib: 600, diskMib: 900 }

test('a Job has a pod for each chunk, ignores evictions, and does not retry an index that reports an obsolete chunk', () => {
  const { metadata, spec } = jobManifest(kubernetesSettings(), run, needs)
  expect(metadata).toMatchObject({ name: 'vitascope-encode-12-3', namespace: 'media', annotations: { 'vitascope/chunks': '0,2,5' } })
  expect(spec).toMatchObject({
    completionMode: 'Indexed',
    completions: 3,
    parallelism: 3,
    backoffLimitPerIndex: 2,
    maxFailedIndexes: 3,
    podReplacementPolicy: 'Failed',
    activeDeadlineSeconds: 3_600,
    ttlSecondsAfterFinished: 60,
    podFailurePolicy: {
      rules: [
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        { action: 'FailIndex', onExitCodes: { containerName: 'worker', operator: 'In', values: [42] } },
      ],
    },
  })
  expect(spec?.suspend).toBeUndefined()
})

test('with fewer pods than chunks, the indexes have the first chunks', () => {
  const settings = kubernetesSettings({ parallelism: 2 })
  const job = jobManifest(settings, { ...run, chunks: [0, 2, 5, 6, 7] }, needs)
  expect(job.spec).toMatchObject({ completions: 2, parallelism: 2, maxFailedIndexes: 2 })
  expect(job.spec?.template.spec?.containers[0]?.env).toContainEqual({ name: 'VITASCOPE_WORKER_CHUNKS', value: '0,2' })
  expect(listChunks(job, { ...run, chunks: [0, 2, 5, 6, 7] }, [1])).toEqual([2])
  expect(belongsTo(job, { ...run, chunks: [0, 2, 5, 6, 7] })).toBe(true)
})

test('the pods of a Job follow the template, with chunks, resource limits and no service account token', () => {
  const settings = kubernetesSettings()
  const container = settings.template.spec.containers[0]
  if (container) container.resources = { requests: { cpu: '2' }, limits: { cpu: '4' } }
  const { template } = jobManifest(settings, run, needs).spec ?? {}
  expect(template?.metadata?.labels).toMatchObject({ tier: 'work', 'app.kubernetes.io/component': 'encode', 'vitascope/job': '12' })
  expect(template?.spec).toMatchObject({
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    serviceAccountName: 'vitascope-chunk',
  })
  expect(template?.spec?.containers).toEqual([
    {
      name: 'worker',
      image: 'vitascope/encoding@sha256:0',
      env: [
        { name: 'VITASCOPE_ENCODING_ADDRESS', value: 'encoding:9000' },
        { name: 'VITASCOPE_WORKER_RUN', value: 'vitascope-encode-12-3' },
        { name: 'VITASCOPE_WORKER_JOB', value: '12' },
        { name: 'VITASCOPE_WORKER_CHUNKS', value: '0,2,5' },
      ],
      resources: {
        requests: { cpu: '2', memory: '600Mi', 'ephemeral-storage': '900Mi' },
        limits: { cpu: '4', memory: '600Mi', 'ephemeral-storage': '900Mi' },
      },
    },
  ])
})

test('with Kueue, a Kubernetes Job is created suspended in its queue', () => {
  const { metadata, spec } = jobManifest(kubernetesSettings({ queue: 'encodes' }), run, needs)
  expect(metadata?.labels).toMatchObject({ 'kueue.x-k8s.io/queue-name': 'encodes' })
  expect(spec?.suspend).toBe(true)
})

test('a queued Kubernetes Job with other settings is outdated; an admitted one is not', () => {
  const settings = kubernetesSettings({ queue: 'encodes' })
  const job = jobManifest(settings, run, needs)
  const isOutdatedBy = (overrides: Partial<KubernetesSettings>, kubernetesJob = job) =>
    isSuspendedAndOutdated(kubernetesJob, settingsHash({ ...settings, ...overrides }))
  const { template } = kubernetesSettings()
  const image = { ...template, spec: { ...template.spec, containers: [{ name: 'worker', image: 'vitascope/encoding@sha256:1' }] } }
  expect([{}, { stallSeconds: 30 }].map((overrides) => isOutdatedBy(overrides))).toEqual([false, false])
  const changes = [{ template: image }, { parallelism: 2 }, { queue: 'others' }, { queue: undefined }, { cpu: '2' }, { ttlSeconds: 61 }]
  expect(changes.map((overrides) => isOutdatedBy(overrides))).toEqual(changes.map(() => true))
  expect(isOutdatedBy({ parallelism: 2 }, { ...job, spec: { template, ...job.spec, suspend: false } })).toBe(false)
  // An earlier release did not record its settings in the Job.
  expect(isOutdatedBy({}, { ...job, metadata: { annotations: {} } })).toBe(true)
})

test('a Kubernetes Job is identified by job and chunks, and selected by its installation', () => {
  const settings = kubernetesSettings()
  const job = jobManifest(settings, run, needs)
  expect([belongsTo(job, run), belongsTo(job, { ...run, chunks: [0, 2] }), belongsTo(job, { ...run, jobId: '13' })]).toEqual([
    true,
    false,
    false,
  ])
  for (const part of formatLabelSelector(settings).split(',')) {
    const [key = '', value] = part.split('=')
    expect(job.metadata?.labels?.[key]).toBe(value)
  }
})

test('a pod requests disk space for its chunk and its source, with a reserve', () => {
  const { probe, build } = buildLongProbe()
  const plan = planEncode({ probe, tools: build })
  const small = estimatePodNeeds(plan, 10 * 2 ** 20)
  expect(small.memoryMib).toBeGreaterThan(300)
  expect(estimatePodNeeds(plan, 1_010 * 2 ** 20).diskMib - small.diskMib).toBe(1_300)
})
