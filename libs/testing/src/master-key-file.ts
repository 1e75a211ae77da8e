import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { TEST_KEYS, writeOnce } from './test-keys.ts'

/** Returns the path of a file with this text. The same text has the same path. */
export function masterKeyFile(text: string): string {
  const file = join(TEST_KEYS, 'master', createHash('sha256').update(text).digest('hex'))
  writeOnce(file, text)
  return file
}
