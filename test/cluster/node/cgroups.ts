import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folder with one cgroup hierarchy per controller. */
export const HIERARCHIES = '/sys/fs/cgroup'
/**
 * Name of the cgroup that contains all pods of the cluster. A kubelet removes the cgroups of pods that it does not know.
 * Below a root of its own, it finds no pods of other clusters.
 */
export const CGROUP = 'vitascope'

/**
 * CPU shares of the cgroup, 16 times the default of 1024. Each server that runs next to the pods, such as
 * the API server, is a session with the default weight (sched(7), autogroup). With this value, the pods
 * of a node with two processors get two thirds of the CPU time under contention.
 */
const SHARES = 16 * 1024

/**
 * Creates the cgroup in the hierarchy of each controller. Throws if the machine has cgroups of version 2, which have only
 * one hierarchy.
 */
export function makeCgroups(): void {
  if (existsSync(join(HIERARCHIES, 'cgroup.controllers'))) throw new Error('the cluster with a node requires cgroups of version 1')
  for (const controller of readdirSync(HIERARCHIES)) mkdirSync(join(HIERARCHIES, controller, CGROUP), { recursive: true })
  writeFileSync(join(HIERARCHIES, 'cpu', CGROUP, 'cpu.shares'), String(SHARES))
  const cpuset = join(HIERARCHIES, 'cpuset')
  // Without these values no process can join the cgroup.
  for (const file of ['cpuset.cpus', 'cpuset.mems']) writeFileSync(join(cpuset, CGROUP, file), readFileSync(join(cpuset, file)))
}

/** Removes the cgroup from each hierarchy. It must not contain processes. */
export function removeCgroups(): void {
  for (const controller of readdirSync(HIERARCHIES)) removeGroup(join(HIERARCHIES, controller, CGROUP))
}

/** Removes a cgroup and the cgroups in it. `rmdir` of a cgroup also removes its files. */
function removeGroup(folder: string): void {
  if (!existsSync(folder)) return
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) removeGroup(join(folder, entry.name))
  rmdirSync(folder)
}
