import { readFileSync } from 'node:fs'
import { release } from 'node:os'

/**
 * Maximum number of processes and threads of a run (RLIMIT_NPROC). The kernel counts by user: `own`
 * counts this run only, `shared` all processes of the user of the worker. It does not apply to user
 * 0 of the host.
 */
export type ProcessLimit = { kind: 'own' | 'shared'; processes: number } | { kind: 'none' }

/**
 * ffmpeg uses some threads for each input, filter, encoder and output: about a hundred for the
 * largest run.
 */
const MAX_PROCESSES_OF_RUN = 512
/**
 * Pods with the same user count together on a node. The limit is far above the need of the workers
 * of a large node, and far below the size of its process table.
 */
const MAX_PROCESSES_OF_USER = 32_768

/** Returns the limit for the processes of a run, at most the hard limit of this process. */
export function processLimitFor({ hasOwnUser, hasUserNamespace }: { hasOwnUser: boolean; hasUserNamespace: boolean }): ProcessLimit {
  const max = hardLimit()
  if (hasOwnUser || (hasUserNamespace && countsByNamespace())) return { kind: 'own', processes: Math.min(MAX_PROCESSES_OF_RUN, max) }
  return process.getuid?.() === 0 ? { kind: 'none' } : { kind: 'shared', processes: Math.min(MAX_PROCESSES_OF_USER, max) }
}

/**
 * Returns whether the kernel counts processes for each user namespace separately: from Linux 5.14
 * on.
 */
function countsByNamespace(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major > 5 || (major === 5 && minor >= 14)
}

/** Returns the hard limit. Without root it can only be lowered. */
function hardLimit(): number {
  try {
    const [, limit] = /^Max processes\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit)
  } catch {
    // Without /proc there is no prlimit either.
    return Number.POSITIVE_INFINITY
  }
}
