import { createHash } from 'node:crypto'
import type { V1Container, V1Job, V1OwnerReference, V1PodTemplateSpec } from '@kubernetes/client-node'
import type { EncodePlan } from '@vitascope/media'
import { CHUNK_EXIT } from '../work/chunk-exit.ts'
import { chunkScratchBytes } from '../work/scratch-bytes.ts'
import { chunkMemoryMib } from '../work/send-task.ts'
import type { KubernetesSettings } from './executor-config.ts'
import { WORKER_CONTAINER } from './pod-template.ts'
import { firstChunks, nameOfRun, type Run } from './run.ts'

/** What a pod takes, in MiB. */
export interface PodNeeds {
  memoryMib: number
  /** Of the local disk: the source, and the segments of a chunk. */
  diskMib: number
}

/** Pods that may fail before an index does, besides those that were evicted. */
const RETRIES = 2
/** So many indexes that fail are no accident: the others need not try. */
const MOST_FAILED = 10
/** Node beside ffmpeg. */
const NODE_MIB = 256
/** What a limit has above what was measured. */
const MARGIN = 1.3

const MADE_BY = 'vitascope-encoding'
const CHUNKS = 'vitascope/chunks'
const JOB = 'vitascope/job'
const SETTINGS = 'vitascope/settings'

/** Finds the Jobs of an installation. */
export function selectorOf({ instance }: Pick<KubernetesSettings, 'instance'>): string {
  return `app.kubernetes.io/managed-by=${MADE_BY},app.kubernetes.io/instance=${instance}`
}

/** The Job of a run. The same run and settings give the same Job. */
export function jobManifest(settings: KubernetesSettings, run: Run, needs: PodNeeds, owner?: V1OwnerReference): V1Job {
  const labels = {
    'app.kubernetes.io/managed-by': MADE_BY,
    'app.kubernetes.io/instance': settings.instance,
    'app.kubernetes.io/component': 'encode',
    [JOB]: run.jobId,
  }
  // No more than run at once: a pod costs its start, and the source.
  const pods = Math.min(settings.parallelism, run.chunks.length)
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: nameOfRun(settings.instance, run),
      namespace: settings.namespace,
      labels: { ...labels, ...(settings.queue !== undefined && { 'kueue.x-k8s.io/queue-name': settings.queue }) },
      annotations: { [CHUNKS]: run.chunks.join(','), [SETTINGS]: markOf(settings) },
      ...(owner && { ownerReferences: [owner] }),
    },
    spec: {
      completionMode: 'Indexed',
      completions: pods,
      parallelism: pods,
      backoffLimitPerIndex: RETRIES,
      maxFailedIndexes: Math.min(MOST_FAILED, pods),
      podReplacementPolicy: 'Failed',
      podFailurePolicy: {
        rules: [
          // Drained, preempted or evicted: no fault of the chunk's.
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
          { action: 'FailIndex', onExitCodes: { containerName: WORKER_CONTAINER, operator: 'In', values: [CHUNK_EXIT.over] } },
        ],
      },
      activeDeadlineSeconds: settings.deadlineSeconds,
      ttlSecondsAfterFinished: settings.ttlSeconds,
      // Kueue lets it begin.
      ...(settings.queue !== undefined && { suspend: true }),
      template: podOf(settings, run, { needs, pods, labels }),
    },
  }
}

/** The chunks of indexes of the Job of a run. */
export function chunksOfIndexes({ spec }: V1Job, run: Run, indexes: readonly number[]): number[] {
  const first = firstChunks(run, spec?.completions ?? 0)
  return indexes.flatMap((index) => first[index] ?? [])
}

/** True for the Job of this very run: after a restored database another one may have the name. */
export function isJobOf({ metadata }: V1Job, run: Run): boolean {
  return metadata?.labels?.[JOB] === run.jobId && metadata.annotations?.[CHUNKS] === run.chunks.join(',')
}

/** Of the settings that a Job is made with, those of its pods included: another mark, another Job. */
export function markOf({ template, queue, parallelism, cpu, deadlineSeconds, ttlSeconds }: KubernetesSettings): string {
  const what = JSON.stringify([template, queue, parallelism, cpu, deadlineSeconds, ttlSeconds])
  return createHash('sha256').update(what).digest('hex').slice(0, 16)
}

/** True for a Job that waits to be let in, and would then run as settings of before had it. */
export function waitsOutdated({ metadata, spec }: V1Job, mark: string): boolean {
  return spec?.suspend === true && metadata?.annotations?.[SETTINGS] !== mark
}

/** Bounds that hold for each chunk of a plan. */
export function needsOf(plan: EncodePlan, sourceBytes: number): PodNeeds {
  const madeBytes = Math.max(...plan.chunks.map(({ index }) => chunkScratchBytes(plan, index)))
  return {
    memoryMib: Math.ceil(chunkMemoryMib(plan) * MARGIN) + NODE_MIB,
    diskMib: Math.ceil((MARGIN * (sourceBytes + madeBytes)) / 2 ** 20) + NODE_MIB,
  }
}

interface Pods {
  needs: PodNeeds
  pods: number
  labels: Record<string, string>
}

function podOf(settings: KubernetesSettings, run: Run, { needs, pods, labels }: Pods): V1PodTemplateSpec {
  const { metadata, spec } = settings.template
  return {
    metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } },
    spec: {
      ...spec,
      restartPolicy: 'Never',
      // It reaches this service and the storage, and nothing else.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      containers: spec.containers.map((container) =>
        container.name === WORKER_CONTAINER ? withChunks(container, settings, run, { needs, pods }) : container,
      ),
    },
  }
}

function withChunks(container: V1Container, settings: KubernetesSettings, run: Run, { needs, pods }: Omit<Pods, 'labels'>): V1Container {
  const bounds = { memory: `${needs.memoryMib}Mi`, 'ephemeral-storage': `${needs.diskMib}Mi` }
  return {
    ...container,
    env: [
      ...(container.env ?? []),
      { name: 'VITASCOPE_WORKER_RUN', value: nameOfRun(settings.instance, run) },
      { name: 'VITASCOPE_WORKER_JOB', value: run.jobId },
      { name: 'VITASCOPE_WORKER_CHUNKS', value: firstChunks(run, pods).join(',') },
    ],
    resources: {
      ...container.resources,
      requests: { cpu: settings.cpu, ...container.resources?.requests, ...bounds },
      limits: { ...container.resources?.limits, ...bounds },
    },
  }
}
