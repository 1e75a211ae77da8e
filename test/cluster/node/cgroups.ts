import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const HIERARCHIES = '/sys/fs/cgroup'
/** A kubelet removes unknown pod cgroups. Below its own root it finds no others. */
export const CGROUP = 'vitascope'

/**
 * CPU shares, in parts of 1024. Each server next to the pods counts as a session with weight one.
 * With the group for the node, pods of a node with two processors get two thirds of the CPU time
 * under contention.
 */
const SHARES = 16 * 1024

/** Creates the cgroups of version 1, in which each controller has its own hierarchy. */
export function makeCgroups(): void {
  if (existsSync(join(HIERARCHIES, 'cgroup.controllers'))) throw new Error('the cluster with a node requires cgroups of version 1')
  for (const controller of readdirSync(HIERARCHIES)) mkdirSync(join(HIERARCHIES, controller, CGROUP), { recursive: true })
  writeFileSync(join(HIERARCHIES, 'cpu', CGROUP, 'cpu.shares'), String(SHARES))
  const cpuset = join(HIERARCHIES, 'cpuset')
  // Without these values no process can join the cgroup.
  for (const file of ['cpuset.cpus', 'cpuset.mems']) writeFileSync(join(cpuset, CGROUP, file), readFileSync(join(cpuset, file)))
}

/** Removes the cgroups. They must not contain processes. */
export function removeCgroups(): void {
  for (const controller of readdirSync(HIERARCHIES)) removeGroup(join(HIERARCHIES, controller, CGROUP))
}

/** Removing the folder also removes its files. */
function removeGroup(folder: string): void {
  if (!existsSync(folder)) return
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) removeGroup(join(folder, entry.name))
  rmdirSync(folder)
}
