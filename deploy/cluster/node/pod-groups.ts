import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CGROUP, HIERARCHIES } from './cgroups.ts'

/** Of all pods; those that guarantee their own lie in it directly, the others by what they were promised. */
const PODS = join(CGROUP, 'kubepods')
const CLASSES = ['', 'burstable', 'besteffort']

const numberIn = (...path: string[]) => Number(readFileSync(join(HIERARCHIES, ...path), 'utf8'))

/** Seconds that processors worked for all pods that there have been, or for one that is there: all of its containers. */
export function cpuSecondsOfPods(uid?: string): number {
  const group =
    uid === undefined
      ? PODS
      : CLASSES.map((name) => join(PODS, name, `pod${uid}`)).find((path) => existsSync(join(HIERARCHIES, 'cpuacct', path)))
  return group === undefined ? 0 : numberIn('cpuacct', group, 'cpuacct.usage') / 1e9
}

/** What a container uses at this moment. */
export interface ContainerUse {
  podUid: string
  containerId: string
  /** Without files that could be dropped, as Kubernetes counts it against the limit. */
  memoryBytes: number
  cpuSeconds: number
}

/** Of the containers that are there now, those that only hold the network of a pod included. */
export function containersInUse(): ContainerUse[] {
  return CLASSES.flatMap((name) => foldersOf(PODS, name).map((pod) => join(PODS, name, pod))).flatMap((pod) => {
    const [, podUid] = /\/pod([0-9a-f-]{36})$/.exec(pod) ?? []
    if (podUid === undefined) return []
    return foldersOf(pod).flatMap((containerId) => useOf(podUid, containerId, join(pod, containerId)))
  })
}

function useOf(podUid: string, containerId: string, group: string): ContainerUse[] {
  try {
    const [, droppable = '0'] =
      /^total_inactive_file (\d+)$/m.exec(readFileSync(join(HIERARCHIES, 'memory', group, 'memory.stat'), 'utf8')) ?? []
    const memoryBytes = numberIn('memory', group, 'memory.usage_in_bytes') - Number(droppable)
    return [{ podUid, containerId, memoryBytes, cpuSeconds: numberIn('cpuacct', group, 'cpuacct.usage') / 1e9 }]
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

function foldersOf(...path: string[]): string[] {
  try {
    return readdirSync(join(HIERARCHIES, 'memory', ...path), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    )
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

/** It may end between two looks. */
function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENODEV'].includes((error as NodeJS.ErrnoException).code ?? '')
}
