import { readdirSync, readFileSync } from 'node:fs'

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
