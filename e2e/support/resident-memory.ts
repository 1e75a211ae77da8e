import { readFileSync } from 'node:fs'
import type { TestPlatform } from './test-platform.ts'

/** Returns the resident memory of a process of the platform, by its name, in MiB. */
export function residentMib(platform: TestPlatform, name: string): number {
  const pid = platform.pid(name)
  if (pid === undefined) throw new Error(`${name} is not running`)
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
}
