import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const HIERARCHIES = '/sys/fs/cgroup'
/** A kubelet removes groups of pods that it does not know: below a root of its own it meets no others. */
export const CGROUP = 'vitascope'

/**
 * Of the processors, in parts of 1024. Each server beside the pods is a session, and weighs one; on a node they are one group together, and pods of a node of
 * two processors have two thirds of what is wanted by both.
 */
const SHARES = 16 * 1024

/** Of the first version, where each controller has a hierarchy. */
export function makeCgroups(): void {
  if (existsSync(join(HIERARCHIES, 'cgroup.controllers'))) throw new Error('the cluster with a node needs control groups of version 1')
  for (const controller of readdirSync(HIERARCHIES)) mkdirSync(join(HIERARCHIES, controller, CGROUP), { recursive: true })
  writeFileSync(join(HIERARCHIES, 'cpu', CGROUP, 'cpu.shares'), String(SHARES))
  const cpuset = join(HIERARCHIES, 'cpuset')
  // Without these no process may enter.
  for (const file of ['cpuset.cpus', 'cpuset.mems']) writeFileSync(join(cpuset, CGROUP, file), readFileSync(join(cpuset, file)))
}

/** Once no process is in them. */
export function removeCgroups(): void {
  for (const controller of readdirSync(HIERARCHIES)) removeGroup(join(HIERARCHIES, controller, CGROUP))
}

/** The files in it go with the folder. */
function removeGroup(folder: string): void {
  if (!existsSync(folder)) return
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) removeGroup(join(folder, entry.name))
  rmdirSync(folder)
}
