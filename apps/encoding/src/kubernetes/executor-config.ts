import { readFileSync } from 'node:fs'
import type { Reader } from '@vitascope/config'
import { type PodTemplate, readPodTemplate } from './pod-template.ts'

/** Settings of Kubernetes Jobs. */
export interface KubernetesSettings {
  /** Namespace of the Jobs. */
  namespace: string
  /**
   * Distinguishes the Jobs of this installation from those of others: 1 to 20 characters of a-z,
   * 0-9 and -.
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
  /** Seconds after which a Job is ended. Its open chunks go to another one. */
  deadlineSeconds: number
  /** Seconds after which an ended Job is deleted, if it was not removed before. */
  ttlSeconds: number
  /** Seconds without activity after which a running Job is replaced. */
  stallSeconds: number
}

/**
 * Reads the settings if chunks are encoded by pods of Jobs (`VITASCOPE_EXECUTOR`). Returns
 * undefined if workers encode them.
 */
export function readExecutor(read: Reader): KubernetesSettings | undefined {
  if (read.oneOf('VITASCOPE_EXECUTOR', ['worker', 'kubernetes'], 'worker') === 'worker') return undefined
  const instance = read.text('VITASCOPE_KUBERNETES_INSTANCE', 'vitascope')
  if (!/^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$/.test(instance))
    read.refuse('VITASCOPE_KUBERNETES_INSTANCE must have 1 to 20 characters of a-z, 0-9 and -')
  const cpu = read.text('VITASCOPE_KUBERNETES_CPU', '1')
  if (!/^\d+(\.\d{1,3}|m)?$/.test(cpu)) read.refuse(`VITASCOPE_KUBERNETES_CPU must be a quantity such as 1, 0.5 or 500m, not "${cpu}"`)
  return {
    namespace: read.text('VITASCOPE_KUBERNETES_NAMESPACE'),
    instance,
    template: readTemplate(read),
    kubeconfig: read.optional('VITASCOPE_KUBERNETES_CONFIG'),
    owner: read.optional('VITASCOPE_KUBERNETES_OWNER'),
    queue: read.optional('VITASCOPE_KUBERNETES_QUEUE'),
    parallelism: read.int('VITASCOPE_KUBERNETES_PARALLELISM', 4, { min: 1, max: 1_000 }),
    cpu,
    deadlineSeconds: read.int('VITASCOPE_KUBERNETES_DEADLINE_SECONDS', 86_400, { min: 60, max: 30 * 86_400 }),
    ttlSeconds: read.int('VITASCOPE_KUBERNETES_TTL_SECONDS', 3_600, { min: 0, max: 30 * 86_400 }),
    stallSeconds: read.int('VITASCOPE_KUBERNETES_STALL_SECONDS', 300, { min: 30, max: 86_400 }),
  }
}

function readTemplate(read: Reader): PodTemplate {
  const name = 'VITASCOPE_KUBERNETES_POD_TEMPLATE'
  const file = read.text(name)
  try {
    return readPodTemplate(file === '' ? '{}' : readFileSync(file, 'utf8'))
  } catch (error) {
    if (file !== '') read.refuse(`${name}: ${(error as Error).message}`)
    return { spec: { containers: [] } }
  }
}
