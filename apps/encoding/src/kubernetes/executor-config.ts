import { readFileSync } from 'node:fs'
import type { Reader } from '@vitascope/config'
import { type PodTemplate, readPodTemplate } from './pod-template.ts'

/** Settings of Kubernetes Jobs. */
export interface KubernetesSettings {
  /** Namespace of the Jobs. */
  namespace: string
  /**
   * Distinguishes the Jobs of this installation from those of others: 1 to 20 characters of a-z,
   * 0-9 and -. It begins with a letter and does not end with -.
   */
  instance: string
  /** Template of the pods that encode chunks. Chunk-specific values are added to it. */
  template: PodTemplate
  /** Path of a kubeconfig. Undefined to use the service account of this pod. */
  kubeconfig: string | undefined
  /**
   * Name of the ConfigMap that owns all Jobs, so that they are deleted with it. Undefined for no
   * owner.
   */
  owner: string | undefined
  /** Kueue queue in which Jobs wait suspended. Undefined to start them at once. */
  queue: string | undefined
  /** Maximum number of concurrent pods of one Job. */
  parallelism: number
  /** CPU request of a pod, as a Kubernetes quantity. */
  cpu: string
  /** Seconds after which a Job is ended. Another Job encodes its remaining chunks. */
  deadlineSeconds: number
  /** Seconds after which Kubernetes deletes an ended Job that the executor has not removed. */
  ttlSeconds: number
  /** Seconds without activity after which a running Job is replaced. */
  stallSeconds: number
}

/**
 * Reads the settings if chunks are encoded by pods of Jobs (`VITASCOPE_EXECUTOR`). Returns
 * undefined if workers encode them.
 */
export function readExecutor(read: Reader): KubernetesSettings | undefined {
  if (readExecutorKind(read) === 'worker') return undefined
  const instance = read.text('VITASCOPE_KUBERNETES_INSTANCE', {
    fallback: 'vitascope',
    description:
      'Name by which this installation recognises its Jobs, 1 to 20 characters of `[a-z0-9-]`. Two installations in one namespace need two names.',
  })
  if (!/^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$/.test(instance))
    read.addProblem('VITASCOPE_KUBERNETES_INSTANCE must have 1 to 20 characters of a-z, 0-9 and -, begin with a letter and not end with -')
  const cpu = read.text('VITASCOPE_KUBERNETES_CPU', {
    fallback: '1',
    description: 'CPU request of each pod, unless the template sets it: `1`, `0.5` or `500m`.',
  })
  if (!/^\d+(\.\d{1,3}|m)?$/.test(cpu)) read.addProblem(`VITASCOPE_KUBERNETES_CPU must be a quantity such as 1, 0.5 or 500m, not "${cpu}"`)
  return {
    namespace: read.text('VITASCOPE_KUBERNETES_NAMESPACE', {
      defaultText: 'required for `kubernetes`',
      description: 'Namespace of the Jobs.',
    }),
    instance,
    template: readTemplate(read),
    kubeconfig: read.optional('VITASCOPE_KUBERNETES_CONFIG', {
      defaultText: 'service account of the pod',
      description: 'Path of a kubeconfig.',
    }),
    owner: read.optional('VITASCOPE_KUBERNETES_OWNER', {
      description: 'Name of a ConfigMap in the namespace that owns all Jobs, so that they are deleted with it.',
    }),
    queue: read.optional('VITASCOPE_KUBERNETES_QUEUE', {
      description: 'A LocalQueue of Kueue. Jobs are created suspended, with its label.',
    }),
    parallelism: read.int('VITASCOPE_KUBERNETES_PARALLELISM', {
      fallback: 4,
      min: 1,
      max: 1_000,
      description: 'Concurrent pods of a Job.',
    }),
    cpu,
    deadlineSeconds: read.int('VITASCOPE_KUBERNETES_DEADLINE_SECONDS', {
      fallback: 86_400,
      min: 60,
      max: 30 * 86_400,
      description: 'Maximum duration of a Job.',
    }),
    ttlSeconds: read.int('VITASCOPE_KUBERNETES_TTL_SECONDS', {
      fallback: 3_600,
      min: 0,
      max: 30 * 86_400,
      description: 'Time after which an ended Job is deleted.',
    }),
    stallSeconds: read.int('VITASCOPE_KUBERNETES_STALL_SECONDS', {
      fallback: 300,
      min: 30,
      max: 86_400,
      description:
        'A Job without progress is replaced after this time. A suspended Job that was created with other settings is also replaced after this time.',
    }),
  }
}

function readExecutorKind(read: Reader): 'worker' | 'kubernetes' {
  return read.oneOf('VITASCOPE_EXECUTOR', {
    words: ['worker', 'kubernetes'],
    fallback: 'worker',
    description:
      '`kubernetes`: the pods of Jobs encode chunks, and the settings `VITASCOPE_KUBERNETES_*` apply. See [Kubernetes Jobs](../operate/scale.md#kubernetes-jobs).',
  })
}

function readTemplate(read: Reader): PodTemplate {
  const name = 'VITASCOPE_KUBERNETES_POD_TEMPLATE'
  const file = read.text(name, {
    defaultText: 'required for `kubernetes`',
    description: 'File with the pod template as JSON. Its container `worker` encodes.',
  })
  try {
    return readPodTemplate(file === '' ? '{}' : readFileSync(file, 'utf8'))
  } catch (error) {
    if (file !== '') read.addProblem(`${name}: ${(error as Error).message}`)
    return { spec: { containers: [] } }
  }
}
