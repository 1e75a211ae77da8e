import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second in `/proc`. This is 100 on every common Linux. */
const TICKS = 100

/** Returns the CPU seconds of a process and its descendants, including ended ones that their parent has awaited. */
export function cpuSeconds(ancestor: number | undefined): number {
  if (ancestor === undefined) return Number.NaN
  const processes = listProcesses()
  const sumTicks = (pid: number): number => {
    const ownTicks = processes.find((process) => process.pid === pid)?.ticks ?? 0
    return processes.filter(({ parent }) => parent === pid).reduce((sum, child) => sum + sumTicks(child.pid), ownTicks)
  }
  return sumTicks(ancestor) / TICKS
}

interface ProcessStat {
  pid: number
  parent: number
  /** CPU time of the process and of its ended children, in clock ticks. */
  ticks: number
}

/** Returns all processes of this machine. */
export function listProcesses(): ProcessStat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readStat(Number(pid)) ?? [])
}

function readStat(pid: number): ProcessStat | undefined {
  try {
    // Fields after the name, which may contain any character: state, parent; fields 12 to 15 are
    // user and system time, of the process and of its ended children.
    const [, ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '- ')
      .split(' ')
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0)
    return { pid, parent: Number(fields[1]), ticks }
  } catch {
    // The process has ended meanwhile.
    return undefined
  }
}
