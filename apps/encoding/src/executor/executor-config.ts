import { readFileSync } from 'node:fs'
import type { Reader } from '@vitascope/config'
import { type PodTemplate, readPodTemplate } from './pod-template.ts'

/** What Jobs are made with. */
export interface KubernetesSettings {
  /** Where Jobs are kept. */
  namespace: string
  /** Tells the Jobs of this installation from those of others: 1 to 20 of a-z, 0-9 and -. */
  instance: string
  /** The pod that encodes a chunk, but for what the chunk says. */
  template: PodTemplate
  /** Path of a kubeconfig; undefined: the service account of this pod. */
  kubeconfig: string | undefined
  /** The name of the ConfigMap that owns all Jobs, so that they go with it; undefined: nobody owns them. */
  owner: string | undefined
  /** The Kueue queue that Jobs wait in, suspended; undefined: they begin at once. */
  queue: string | undefined
  /** Pods of one Job at once. */
  parallelism: number
  /** What a pod asks of a processor, as Kubernetes writes it. */
  cpu: string
  /** After so many seconds a Job is ended, and what it has not made goes to another. */
  deadlineSeconds: number
  /** So long a Job that has ended is kept, where nobody removes it before. */
  ttlSeconds: number
  /** After so many seconds without a sign of life a Job that runs is replaced. */
  stallSeconds: number
}

/** Chunks are encoded by workers, or by the pods of Jobs (`VITASCOPE_EXECUTOR`); undefined for workers. */
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
