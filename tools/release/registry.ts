import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setInterval } from 'node:timers/promises'
import type { Programs } from './programs.ts'

/** Interval of the checks whether the registry listens. */
const CHECK_MS = 20

/** A registry on loopback, in which a release is assembled. */
export interface Registry {
  /** Host and port. */
  address: string
  stop: () => Promise<void>
}

/** Starts a registry that stores blobs and its log in `folder`. It ends with `stop`. */
export async function startRegistry({ crane }: Programs, folder: string): Promise<Registry> {
  mkdirSync(folder, { recursive: true })
  // A file instead of a pipe, so that the registry never waits for this process.
  const file = join(folder, 'registry.log')
  const log = openSync(file, 'w')
  const child = spawn(crane, ['registry', 'serve', '--address', '127.0.0.1:0', '--disk', folder], { stdio: ['ignore', 'ignore', log] })
  closeSync(log)
  const closed = once(child, 'close')
  for await (const _ of setInterval(CHECK_MS)) {
    const [, port] = /serving on port (\d+)\n/.exec(readFileSync(file, 'utf8')) ?? []
    if (port !== undefined) return { address: `127.0.0.1:${port}`, stop: () => stop(child, closed) }
    if (child.exitCode !== null) break
  }
  throw new Error(`the registry did not start: ${readFileSync(file, 'utf8')}`)
}

async function stop(child: ChildProcess, closed: Promise<unknown>): Promise<void> {
  child.kill()
  await closed
}
