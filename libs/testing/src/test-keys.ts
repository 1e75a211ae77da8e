import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'

/** Folder of test keys. They are the same in all test processes. */
export const TEST_KEYS = join(tmpdir(), `vitascope-test-keys-${userInfo().uid}`)

/** Writes a file once. Concurrent test processes write the same text. */
export function writeOnce(file: string, text: string): void {
  if (existsSync(file)) return
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600 })
  renameSync(`${file}.${process.pid}`, file)
}
