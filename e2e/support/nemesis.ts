import type { TestRedis } from '@vitascope/testing'
import { listDescendants } from './processes.ts'
import type { TestPlatform } from './test-platform.ts'

/**
 * Kills the named process with SIGKILL. The name `ffmpeg` kills one ffmpeg of the worker. Returns
 * false if there was no such process.
 */
export function kill(platform: TestPlatform, name: string): boolean {
  const pid = name === 'ffmpeg' ? listFfmpegs(platform.pid('worker'))[0] : platform.pid(name)
  if (pid === undefined) return false
  try {
    process.kill(pid, 'SIGKILL')
    return true
  } catch (error) {
    // The process has already died.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

/** Faults of Redis by name. `end` repairs the fault. */
export const REDIS_FAULTS: Readonly<Record<string, { begin(redis: TestRedis): Promise<void>; end(redis: TestRedis): Promise<void> }>> = {
  'redis killed': { begin: (redis) => redis.kill(), end: (redis) => redis.start() },
  'redis emptied': { begin: (redis) => redis.flush(), end: async () => {} },
  'redis full': { begin: (redis) => redis.fill(), end: (redis) => redis.removeJunk() },
}

/** Returns the process ids of all ffmpeg descendants of a process. */
export function listFfmpegs(ancestor: number | undefined): number[] {
  if (ancestor === undefined) return []
  return listDescendants(ancestor)
    .filter(({ name }) => name === 'ffmpeg')
    .map(({ pid }) => pid)
}
