import { readdirSync, readFileSync } from 'node:fs'
import type { TestRedis } from '@vitascope/testing'
import type { TestPlatform } from './test-platform.ts'

/** Kills what the name says, at once and without a word; `ffmpeg` is any that the worker has running. False when there was none. */
export function kill(platform: TestPlatform, name: string): boolean {
  const pid = name === 'ffmpeg' ? ffmpegsOf(platform.pid('worker'))[0] : platform.pid(name)
  if (pid === undefined) return false
  try {
    process.kill(pid, 'SIGKILL')
    return true
  } catch (error) {
    // It has just died by itself, or by the death of its parent.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

/** What Redis may suffer, and how it gets over it. */
export const REDIS_FAULTS: Readonly<Record<string, { begin(redis: TestRedis): Promise<void>; end(redis: TestRedis): Promise<void> }>> = {
  'redis killed': { begin: (redis) => redis.kill(), end: (redis) => redis.start() },
  'redis emptied': { begin: (redis) => redis.flush(), end: async () => {} },
  'redis full': { begin: (redis) => redis.fill(), end: (redis) => redis.makeRoom() },
}

/** The ffmpeg processes below a process, however deep. */
export function ffmpegsOf(ancestor: number | undefined): number[] {
  if (ancestor === undefined) return []
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [, name = '', parent = ''] = /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
        return [{ pid: Number(pid), name, parent: Number(parent) }]
      } catch {
        return []
      }
    })
  const below = (parent: number): number[] => processes.filter((p) => p.parent === parent).flatMap((p) => [p.pid, ...below(p.pid)])
  const family = new Set(below(ancestor))
  return processes.filter((p) => family.has(p.pid) && p.name === 'ffmpeg').map((p) => p.pid)
}

/** False also for a process that has ended and that nobody has asked after yet. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
