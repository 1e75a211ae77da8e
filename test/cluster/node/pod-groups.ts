import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CGROUP, HIERARCHIES } from './cgroups.ts'

/** Cgroup of all pods. Guaranteed pods are directly in it, others in a group per QoS class. */
const PODS = join(CGROUP, 'kubepods')
const CLASSES = ['', 'burstable', 'besteffort']

const numberIn = (...path: string[]) => Number(readFileSync(join(HIERARCHIES, ...path), 'utf8'))

/** Returns the CPU seconds of all pods so far, or of all containers of one running pod. */
export function readCpuSeconds(uid?: string): number {
  const group =
    uid === undefined
      ? PODS
      : CLASSES.map((name) => join(PODS, name, `pod${uid}`)).find((path) => existsSync(join(HIERARCHIES, 'cpuacct', path)))
  return group === undefined ? 0 : numberIn('cpuacct', group, 'cpuacct.usage') / 1e9
}

/** Current usage of a container. */
export interface ContainerUse {
  podUid: string
  containerId: string
  /** Working set: without reclaimable file cache, as Kubernetes counts it against the limit. */
  memoryBytes: number
  cpuSeconds: number
}

/** Returns the usage of all running containers, including pause containers. */
export function containersInUse(): ContainerUse[] {
  return CLASSES.flatMap((name) => listFolders(PODS, name).map((pod) => join(PODS, name, pod))).flatMap((pod) => {
    const [, podUid] = /\/pod([0-9a-f-]{36})$/.exec(pod) ?? []
    if (podUid === undefined) return []
    return listFolders(pod).flatMap((containerId) => readUse(podUid, containerId, join(pod, containerId)))
  })
}

function readUse(podUid: string, containerId: string, group: string): ContainerUse[] {
  try {
    const [, droppable = '0'] =
      /^total_inactive_file (\d+)$/m.exec(readFileSync(join(HIERARCHIES, 'memory', group, 'memory.stat'), 'utf8')) ?? []
    const memoryBytes = numberIn('memory', group, 'memory.usage_in_bytes') - Number(droppable)
    return [{ podUid, containerId, memoryBytes, cpuSeconds: numberIn('cpuacct', group, 'cpuacct.usage') / 1e9 }]
  } catch (error) {
    if (isMissingFile(error)) return []
    throw error
  }
}

function listFolders(...path: string[]): string[] {
  try {
    return readdirSync(join(HIERARCHIES, 'memory', ...path), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    )
  } catch (error) {
    if (isMissingFile(error)) return []
    throw error
  }
}

/** A container may end between two reads. */
function isMissingFile(error: unknown): boolean {
  return ['ENOENT', 'ENODEV'].includes((error as NodeJS.ErrnoException).code ?? '')
}
