import type { V1Pod } from '@kubernetes/client-node'
import type { ApiList } from '../api-list.ts'
import { type ContainerUse, containersInUse } from './pod-groups.ts'

/** Highest usage of any container of a kind. */
export interface Peak {
  /** Namespace and component of the containers, such as `default/worker`. */
  kind: string
  /** Number of containers of this kind since the start. */
  containers: number
  memoryMib: number
  /** CPU usage in cores, averaged over `WINDOW`. */
  cores: number
}

const SAMPLE_INTERVAL_MS = 1_000
/** Number of samples over which CPU usage is averaged, because single seconds are too noisy. */
const WINDOW = 10

/**
 * Samples the usage of each container every second until it is stopped. Returns the peaks by kind.
 */
export function watchPeaks(list: ApiList) {
  const peaks = createPeakTracker()
  const sample = async () => {
    // The usage is read before the pods are listed, so that the pods of all read containers are
    // listed. A container that starts in between is included in the next sample.
    const used = containersInUse()
    for (const pod of await list<V1Pod>('/api/v1/pods')) peaks.addPod(pod)
    peaks.addSample(used, performance.now())
  }
  let sampling = Promise.resolve()
  // The API server may be temporarily down.
  const timer = setInterval(() => (sampling = sample().catch(() => {})), SAMPLE_INTERVAL_MS).unref()
  return {
    async stop(): Promise<Peak[]> {
      clearInterval(timer)
      await sampling
      return peaks.all()
    },
  }
}

export function createPeakTracker() {
  const kinds = new Map<string, string>()
  const peaks = new Map<string, Peak>()
  const samplesByPod = new Map<string, { at: number; cpuSeconds: number }[]>()
  return {
    addPod({ metadata, spec, status }: V1Pod): void {
      const labels = metadata?.labels ?? {}
      const name = labels['app.kubernetes.io/component'] ?? labels['app'] ?? labels['k8s-app'] ?? metadata?.name ?? ''
      const isAlone = (spec?.containers.length ?? 0) + (spec?.initContainers?.length ?? 0) === 1
      for (const { name: container, containerID = '' } of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])])
        kinds.set(containerID.replace('containerd://', ''), `${metadata?.namespace}/${name}${isAlone ? '' : ` (${container})`}`)
    },
    addSample(used: readonly ContainerUse[], at: number): void {
      for (const { containerId, memoryBytes, cpuSeconds } of used) {
        const kind = kinds.get(containerId)
        if (kind === undefined) continue
        const isNew = !samplesByPod.has(containerId)
        const samples = [...(samplesByPod.get(containerId) ?? []), { at, cpuSeconds }].slice(-WINDOW - 1)
        samplesByPod.set(containerId, samples)
        const [first] = samples
        const cores = first && samples.length > WINDOW ? (cpuSeconds - first.cpuSeconds) / ((at - first.at) / 1_000) : 0
        const peak = peaks.get(kind) ?? { kind, containers: 0, memoryMib: 0, cores: 0 }
        peaks.set(kind, {
          kind,
          containers: peak.containers + (isNew ? 1 : 0),
          memoryMib: Math.max(peak.memoryMib, Math.ceil(memoryBytes / 2 ** 20)),
          cores: Math.max(peak.cores, cores),
        })
      }
    },
    all: () => [...peaks.values()].sort((a, b) => a.kind.localeCompare(b.kind)),
  }
}

/** Returns the peaks as lines of a table. */
export function formatPeaks(peaks: readonly Peak[]): string {
  const lines = peaks.map(
    ({ kind, containers, memoryMib, cores }) =>
      `${kind.padEnd(44)} ${String(containers).padStart(5)} ${String(memoryMib).padStart(7)} MiB ${cores.toFixed(2).padStart(6)}`,
  )
  return [`${'container'.padEnd(44)} ${'count'.padStart(5)} ${'peak memory'.padStart(11)} ${'cores'.padStart(6)}`, ...lines].join('\n')
}
