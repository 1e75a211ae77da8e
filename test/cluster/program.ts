import { spawn } from 'node:child_process'
import { mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** A server of the cluster. It keeps running when its parent ends. */
export interface Program {
  /** Name of its log and pid file. */
  name: string
  command: string
  args: readonly string[]
}

/**
 * Starts a program in the folder of a cluster, with the log `log/NAME.log` and the pid file
 * `pid/NAME`.
 */
export function startProgram(folder: string, { name, command, args }: Program): void {
  for (const part of ['log', 'pid']) mkdirSync(join(folder, part), { recursive: true })
  const log = openSync(join(folder, 'log', `${name}.log`), 'a')
  const child = spawn(command, args, { cwd: folder, detached: true, stdio: ['ignore', log, log] })
  child.unref()
  if (child.pid === undefined) throw new Error(`${command} cannot be started`)
  writeFileSync(join(folder, 'pid', name), `${child.pid} ${readStartTime(child.pid)}`)
}

/** Stops a program, by SIGKILL after the grace period. Does nothing if it is not running. */
export async function stopProgram(folder: string, name: string, graceMs = 5_000): Promise<void> {
  const pid = runningPid(folder, name)
  if (pid !== undefined) {
    process.kill(pid, 'SIGTERM')
    for (let waited = 0; waited < graceMs && runningPid(folder, name) === pid; waited += 50) await delay(50)
    if (runningPid(folder, name) === pid) process.kill(pid, 'SIGKILL')
    while (runningPid(folder, name) === pid) await delay(20)
  }
  rmSync(join(folder, 'pid', name), { force: true })
}

/** Returns the pid of a pid file if it is still the same process, because pids are reused. */
export function runningPid(folder: string, name: string): number | undefined {
  let text: string
  try {
    text = readFileSync(join(folder, 'pid', name), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const [pid = '', start = ''] = text.split(' ')
  return readStartTime(Number(pid)) === start ? Number(pid) : undefined
}

/** Returns the start time of a process in ticks since boot; empty for a dead process. */
function readStartTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? '' : (fields[19] ?? '')
  } catch {
    return ''
  }
}
