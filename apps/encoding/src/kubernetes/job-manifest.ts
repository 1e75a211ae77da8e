import { createHash } from 'node:crypto'
import type { V1Container, V1Job, V1OwnerReference, V1PodTemplateSpec } from '@kubernetes/client-node'
import type { EncodePlan } from '@vitascope/media'
import { CHUNK_EXIT } from '../task/task.ts'
import { chunkMemoryMib, chunkScratchBytes } from '../task/task-resources.ts'
import { type ChunkRun, firstChunks, kubernetesJobName } from './chunk-run.ts'
import type { KubernetesSettings } from './executor-config.ts'
import { WORKER_CONTAINER } from './pod-template.ts'

/** Resources of a pod, in MiB. */
export interface PodNeeds {
  memoryMib: number
  /** Local disk: the source, and the segments of a chunk. */
  diskMib: number
}

/**
 * Failed pods of an index that are replaced, not counting evicted ones. The next one fails the
 * index.
 */
const RETRIES_PER_INDEX = 2
/** More failed indexes than this indicate a systematic fault, so the Job fails. */
const MAX_FAILED_INDEXES = 10
/**
 * Memory of Node in addition to ffmpeg, and disk space in addition to the source and the segments.
 */
const RESERVE_MIB = 256
/** Factor between measured use and limit. */
const MARGIN = 1.3

const MANAGED_BY = 'vitascope-encoding'
const CHUNKS_ANNOTATION = 'vitascope/chunks'
const JOB_LABEL = 'vitascope/job'
const SETTINGS_ANNOTATION = 'vitascope/settings'

/** Returns the label selector for the Jobs of an installation. */
export function formatLabelSelector({ instance }: Pick<KubernetesSettings, 'instance'>): string {
  return `app.kubernetes.io/managed-by=${MANAGED_BY},app.kubernetes.io/instance=${instance}`
}

/** Returns the manifest of a run's Job. It is deterministic for the same run and settings. */
export function jobManifest(settings: KubernetesSettings, run: ChunkRun, needs: PodNeeds, owner?: V1OwnerReference): V1Job {
  const labels = {
    'app.kubernetes.io/managed-by': MANAGED_BY,
    'app.kubernetes.io/instance': settings.instance,
    'app.kubernetes.io/component': 'encode',
    [JOB_LABEL]: run.jobId,
  }
  // No more pods than run at once, because each pod has a start-up cost and downloads the source.
  const pods = Math.min(settings.parallelism, run.chunks.length)
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: kubernetesJobName(settings.instance, run),
      namespace: settings.namespace,
      labels: { ...labels, ...(settings.queue !== undefined && { 'kueue.x-k8s.io/queue-name': settings.queue }) },
      annotations: { [CHUNKS_ANNOTATION]: run.chunks.join(','), [SETTINGS_ANNOTATION]: settingsHash(settings) },
      ...(owner && { ownerReferences: [owner] }),
    },
    spec: {
      completionMode: 'Indexed',
      completions: pods,
      parallelism: pods,
      backoffLimitPerIndex: RETRIES_PER_INDEX,
      maxFailedIndexes: Math.min(MAX_FAILED_INDEXES, pods),
      podReplacementPolicy: 'Failed',
      podFailurePolicy: {
        rules: [
          // The pod was drained, preempted or evicted, which is not a fault of the chunk.
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
          { action: 'FailIndex', onExitCodes: { containerName: WORKER_CONTAINER, operator: 'In', values: [CHUNK_EXIT.obsolete] } },
        ],
      },
      activeDeadlineSeconds: settings.deadlineSeconds,
      ttlSecondsAfterFinished: settings.ttlSeconds,
      // Kueue resumes the Job.
      ...(settings.queue !== undefined && { suspend: true }),
      template: podTemplate(settings, run, { needs, pods, labels }),
    },
  }
}

/** Returns the chunks of indexes of a run's Job. */
export function listChunks({ spec }: V1Job, run: ChunkRun, indexes: readonly number[]): number[] {
  const first = firstChunks(run, spec?.completions ?? 0)
  return indexes.flatMap((index) => first[index] ?? [])
}

/**
 * Returns true if the Job belongs to this run. After a database restore, the Job of another run may
 * have the same name.
 */
export function belongsTo({ metadata }: V1Job, run: ChunkRun): boolean {
  return metadata?.labels?.[JOB_LABEL] === run.jobId && metadata.annotations?.[CHUNKS_ANNOTATION] === run.chunks.join(',')
}

/**
 * Returns a hash of the settings of a Job, including its pods. Other settings require another Job.
 */
export function settingsHash({ template, queue, parallelism, cpu, deadlineSeconds, ttlSeconds }: KubernetesSettings): string {
  const content = JSON.stringify([template, queue, parallelism, cpu, deadlineSeconds, ttlSeconds])
  return createHash('sha256').update(content).digest('hex').slice(0, 16)
}

/** Returns true for a suspended Job that was created with other settings. */
export function isSuspendedAndOutdated({ metadata, spec }: V1Job, currentHash: string): boolean {
  return spec?.suspend === true && metadata?.annotations?.[SETTINGS_ANNOTATION] !== currentHash
}

/** Returns the resources that suffice for each chunk of a plan. */
export function estimatePodNeeds(plan: EncodePlan, sourceBytes: number): PodNeeds {
  const resultBytes = Math.max(...plan.chunks.map(({ index }) => chunkScratchBytes(plan, index)))
  return {
    memoryMib: Math.ceil(chunkMemoryMib(plan) * MARGIN) + RESERVE_MIB,
    diskMib: Math.ceil((MARGIN * (sourceBytes + resultBytes)) / 2 ** 20) + RESERVE_MIB,
  }
}

interface Pods {
  needs: PodNeeds
  pods: number
  labels: Record<string, string>
}

function podTemplate(settings: KubernetesSettings, run: ChunkRun, { needs, pods, labels }: Pods): V1PodTemplateSpec {
  const { metadata, spec } = settings.template
  return {
    metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } },
    spec: {
      ...spec,
      restartPolicy: 'Never',
      // The pod has no access to the Kubernetes API, because it only calls this service and the
      // storage.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      containers: spec.containers.map((container) =>
        container.name === WORKER_CONTAINER ? withChunks(container, settings, run, { needs, pods }) : container,
      ),
    },
  }
}

function withChunks(
  container: V1Container,
  settings: KubernetesSettings,
  run: ChunkRun,
  { needs, pods }: Omit<Pods, 'labels'>,
): V1Container {
  const bounds = { memory: `${needs.memoryMib}Mi`, 'ephemeral-storage': `${needs.diskMib}Mi` }
  return {
    ...container,
    env: [
      ...(container.env ?? []),
      { name: 'VITASCOPE_WORKER_RUN', value: kubernetesJobName(settings.instance, run) },
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
