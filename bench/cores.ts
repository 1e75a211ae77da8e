import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/**
 * Pins this process and its later children to all processors except the last one. Returns the number
 * of the last one. The load generator must be pinned to it, so that it takes no CPU time from the
 * platform. The process stays pinned until it ends. Returns undefined, without a change, if there is only one processor or `taskset` fails.
 */
export function leaveOneCore(): string | undefined {
  const cores = availableParallelism()
  if (cores < 2) return undefined
  try {
    execFileSync('taskset', ['-a', '-c', '-p', `0-${cores - 2}`, String(process.pid)], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  return String(cores - 1)
}
