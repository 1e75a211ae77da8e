import { readdirSync, readFileSync } from 'node:fs'
import { waitFor } from '@vitascope/testing'

export interface ProcessInfo {
  pid: number
  name: string
  parent: number
}

/** Returns all descendants of a process. */
export function listDescendants(ancestor: number): ProcessInfo[] {
  const processes = listProcesses()
  const below = (parent: number): ProcessInfo[] => processes.filter((p) => p.parent === parent).flatMap((p) => [p, ...below(p.pid)])
  return below(ancestor)
}

/** Kills a process and all its descendants with SIGKILL, and waits until they have ended. */
export async function killFamily(ancestor: number): Promise<void> {
  const pids = [ancestor, ...listDescendants(ancestor).map(({ pid }) => pid)]
  for (const pid of pids) signalProcess(pid, 'SIGKILL')
  await waitFor(() => !pids.some((pid) => signalProcess(pid, 0)), { describe: 'all killed processes to end' })
}

/** Returns false if there is no such process. */
function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return false
  }
}

function listProcesses(): ProcessInfo[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [, name = '', parent = ''] = /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
        return [{ pid: Number(pid), name, parent: Number(parent) }]
      } catch {
        // The process has ended.
        return []
      }
    })
}
