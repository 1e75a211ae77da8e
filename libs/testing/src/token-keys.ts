import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { makeTokenKeys, parseTokenKeys, type TokenKeys } from '@vitascope/security'
import { TEST_KEYS, writeOnce } from './test-keys.ts'

/** Returns new token keys, and the path of their file. */
export function testTokenKeys(): { tokenKeys: TokenKeys; tokenKeysFile: string } {
  const text = makeTokenKeys()
  const tokenKeysFile = join(TEST_KEYS, 'token', createHash('sha256').update(text).digest('hex'))
  writeOnce(tokenKeysFile, text)
  return { tokenKeys: parseTokenKeys(text), tokenKeysFile }
}
