import { readFile } from 'node:fs/promises'
import type { TestPlatform } from './test-platform.ts'

/** Returns the environment with which a process of the platform was started. */
export async function readSettings(platform: Pick<TestPlatform, 'pid'>, name: string): Promise<Map<string, string>> {
  const lines = (await readFile(`/proc/${platform.pid(name)}/environ`, 'utf8')).split('\0').filter((line) => line.includes('='))
  return new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}
