import { readFileSync } from 'node:fs'
import { listProcesses } from './process-cpu.ts'

/**
 * Returns the proportional set size of a process and its descendants in MiB: memory that several
 * processes share counts once.
 */
export function proportionalMib(ancestor: number | undefined): number {
  if (ancestor === undefined) return Number.NaN
  const processes = listProcesses()
  const sumKib = (pid: number): number =>
    processes.filter(({ parent }) => parent === pid).reduce((sum, child) => sum + sumKib(child.pid), readPssKib(pid))
  return Math.round(sumKib(ancestor) / 1024)
}

function readPssKib(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
  } catch {
    // The process has ended meanwhile.
    return 0
  }
}
