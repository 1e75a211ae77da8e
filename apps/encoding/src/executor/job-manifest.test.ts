import { expect, test } from '@jest/globals'
import { planEncode } from '@vitascope/media'
import { kubernetesSettings } from '../../test/kubernetes-settings.ts'
import { aLongProbe } from '../../test/stand-in-worker.ts'
import type { KubernetesSettings } from './executor-config.ts'
import { chunksOfIndexes, isJobOf, jobManifest, markOf, needsOf, selectorOf, waitsOutdated } from './job-manifest.ts'

const run = { runId: '3', jobId: '12', chunks: [0, 2, 5] }
const needs = { memoryMib: 600, diskMib: 900 }

test('a Job has a pod for each chunk, passes over evictions, and does not try again what nobody wants', () => {
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

test('where fewer may run at once than there are chunks, the pods have the first ones, and a failed index is one of them', () => {
  const settings = kubernetesSettings({ parallelism: 2 })
  const job = jobManifest(settings, { ...run, chunks: [0, 2, 5, 6, 7] }, needs)
  expect(job.spec).toMatchObject({ completions: 2, parallelism: 2, maxFailedIndexes: 2 })
  expect(job.spec?.template.spec?.containers[0]?.env).toContainEqual({ name: 'VITASCOPE_WORKER_CHUNKS', value: '0,2' })
  expect(chunksOfIndexes(job, { ...run, chunks: [0, 2, 5, 6, 7] }, [1])).toEqual([2])
  expect(isJobOf(job, { ...run, chunks: [0, 2, 5, 6, 7] })).toBe(true)
})

test('its pods are those of the template, with the chunks, bounds of what they take, and no token of the cluster', () => {
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

test('where Kueue admits work, a Job waits in its queue', () => {
  const { metadata, spec } = jobManifest(kubernetesSettings({ queue: 'encodes' }), run, needs)
  expect(metadata?.labels).toMatchObject({ 'kueue.x-k8s.io/queue-name': 'encodes' })
  expect(spec?.suspend).toBe(true)
})

test('a Job that waits is outdated when anything of its settings or pods has changed; one that was let in is not', () => {
  const settings = kubernetesSettings({ queue: 'encodes' })
  const job = jobManifest(settings, run, needs)
  const isOutdatedBy = (more: Partial<KubernetesSettings>, of = job) => waitsOutdated(of, markOf({ ...settings, ...more }))
  const { template } = kubernetesSettings()
  const image = { ...template, spec: { ...template.spec, containers: [{ name: 'worker', image: 'vitascope/encoding@sha256:1' }] } }
  expect([{}, { stallSeconds: 30 }].map((more) => isOutdatedBy(more))).toEqual([false, false])
  const changes = [{ template: image }, { parallelism: 2 }, { queue: 'others' }, { queue: undefined }, { cpu: '2' }, { ttlSeconds: 61 }]
  expect(changes.map((more) => isOutdatedBy(more))).toEqual(changes.map(() => true))
  expect(isOutdatedBy({ parallelism: 2 }, { ...job, spec: { template, ...job.spec, suspend: false } })).toBe(false)
  // One of a release that did not say what it was made with.
  expect(isOutdatedBy({}, { ...job, metadata: { annotations: {} } })).toBe(true)
})

test('a Job is known by its job and chunks, and found by the selector of its installation', () => {
  const settings = kubernetesSettings()
  const job = jobManifest(settings, run, needs)
  expect([isJobOf(job, run), isJobOf(job, { ...run, chunks: [0, 2] }), isJobOf(job, { ...run, jobId: '13' })]).toEqual([true, false, false])
  for (const part of selectorOf(settings).split(',')) {
    const [key = '', value] = part.split('=')
    expect(job.metadata?.labels?.[key]).toBe(value)
  }
})

test('a pod has room for what a chunk was measured to take, for its source, and to spare', () => {
  const { probe, build } = aLongProbe()
  const plan = planEncode({ probe, tools: build })
  const small = needsOf(plan, 10 * 2 ** 20)
  expect(small.memoryMib).toBeGreaterThan(300)
  expect(needsOf(plan, 1_010 * 2 ** 20).diskMib - small.diskMib).toBe(1_300)
})
