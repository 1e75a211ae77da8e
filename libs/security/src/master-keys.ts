import { timingSafeEqual } from 'node:crypto'
import { fixedKeys, type KeyFile, type KeyFileListener, openKeyFile } from './key-file.ts'

/** A key that values are encrypted with. */
export interface MasterKey {
  /** Version of the key, 1 to 65,535. Each encrypted value starts with the version of its key. */
  version: number
  secret: string
}

/** The first key encrypts; all keys decrypt. So a key can be replaced while there are values encrypted with it. */
export type MasterKeyList = readonly [MasterKey, ...MasterKey[]]

/** The current master keys. */
export type MasterKeys = KeyFile<MasterKeyList>

/** Version of the secret in a file of older releases, which contains one secret without a version. */
const FIRST_VERSION = 1
const MAX_VERSION = 65_535
const MAX_KEYS = 8
const MIN_CHARACTERS = 32

/**
 * Parses a key file: a line `VERSION:SECRET` for each key, or one line with a secret, which has version 1. Throws an
 * error that contains no secret.
 */
export function parseMasterKeys(text: string): MasterKeyList {
  const lines = text.split('\n').map((line) => line.trim())
  const [first, ...others] = lines.filter((line) => line !== '').map((line, index, all) => parseLine(line, index, all.length))
  if (!first || others.length >= MAX_KEYS) throw new Error(`must contain 1 to ${MAX_KEYS} keys, one per line`)
  const keys: MasterKeyList = [first, ...others]
  if (new Set(keys.map(({ version }) => version)).size < keys.length) throw new Error('contains two keys with the same version')
  return keys
}

function parseLine(line: string, index: number, lines: number): MasterKey {
  const [, digits, rest] = /^(\d+):(.*)$/.exec(line) ?? []
  if (digits === undefined && lines > 1) throw new Error(`line ${index + 1} must be VERSION:SECRET`)
  const version = digits === undefined ? FIRST_VERSION : Number(digits)
  const secret = rest ?? line
  if (version < 1 || version > MAX_VERSION) throw new Error(`line ${index + 1}: the version must be 1 to ${MAX_VERSION}`)
  if (secret.length < MIN_CHARACTERS) throw new Error(`line ${index + 1}: the secret must have ${MIN_CHARACTERS} characters or more`)
  return { version, secret }
}

function isSameKey(left: MasterKey, right: MasterKey): boolean {
  const [a, b] = [left, right].map(({ secret }) => Buffer.from(secret)) as [Buffer, Buffer]
  return left.version === right.version && a.length === b.length && timingSafeEqual(a, b)
}

/** Returns the error in the text of a key file, without its secrets, or undefined if the text is valid or empty. */
export function masterKeysProblem(text: string): string | undefined {
  if (text === '') return undefined
  try {
    parseMasterKeys(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Returns keys that never change. */
export function fixedMasterKeys(text: string): MasterKeys {
  return fixedKeys(parseMasterKeys(text))
}

/**
 * Reads a key file, and polls it as `openKeyFile` does. A change is rejected if it has no key in common with the current
 * keys.
 */
export function openMasterKeys(file: string, listener: KeyFileListener, pollMs?: number): MasterKeys {
  return openKeyFile(file, {
    parse: parseMasterKeys,
    check(next, current) {
      if (!next.some((key) => current.some((known) => isSameKey(known, key))))
        throw new Error(`${file} contains none of the master keys in use`)
    },
    ...listener,
    ...(pollMs !== undefined && { pollMs }),
  })
}
