import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks a second, which Linux gives in `/proc` whatever the kernel's own are. */
const TICKS = 100

/** Seconds of processor that a process and all below it have taken so far, those that have ended among them. */
export function cpuSeconds(ancestor: number | undefined): number {
  if (ancestor === undefined) return Number.NaN
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => statOf(Number(pid)) ?? [])
  const ticksOf = (pid: number): number => {
    const own = processes.find((process) => process.pid === pid)?.ticks ?? 0
    return processes.filter(({ parent }) => parent === pid).reduce((sum, child) => sum + ticksOf(child.pid), own)
  }
  return ticksOf(ancestor) / TICKS
}

function statOf(pid: number): { pid: number; parent: number; ticks: number } | undefined {
  try {
    // Behind the name, which may hold anything: state, parent; the 12th to 15th are user, system, and both of children that have ended.
    const [, ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '- ')
      .split(' ')
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0)
    return { pid, parent: Number(fields[1]), ticks }
  } catch {
    // It ended meanwhile.
    return undefined
  }
}
