import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/**
 * Keeps this process and all that it starts from now on off the last processor, and answers that one: who asks there takes nothing from who
 * is asked. Undefined, and nothing done, where there is only one, or no `taskset`.
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
