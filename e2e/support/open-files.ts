import { readdirSync } from 'node:fs'
import type { TestPlatform } from './test-platform.ts'

/** Returns the number of open files, sockets included, of processes of the platform, by their names. */
export function countOpenFiles(platform: TestPlatform, names: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    names.map((name) => {
      const pid = platform.pid(name)
      if (pid === undefined) throw new Error(`${name} is not running`)
      return [name, readdirSync(`/proc/${pid}/fd`).length]
    }),
  )
}
