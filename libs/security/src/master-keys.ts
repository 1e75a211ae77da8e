import { timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A key that values are encrypted with. */
export interface MasterKey {
  /** Version of the key, 1 to 65,535. Each encrypted value starts with the version of its key. */
  version: number
  secret: string
}

/** The first key encrypts; all keys decrypt. So a key can be replaced while there are values encrypted with it. */
export type MasterKeyList = readonly [MasterKey, ...MasterKey[]]

/** The current master keys. */
export interface MasterKeys {
  current(): MasterKeyList
  /** Stops polling the file. */
  close(): void
}

/** Version of the secret in a file of older releases, which contains one secret without a version. */
const FIRST_VERSION = 1
const MAX_VERSION = 65_535
const MAX_KEYS = 8
const MIN_CHARACTERS = 32
const POLL_MS = 5_000

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
  const keys = parseMasterKeys(text)
  return { current: () => keys, close: () => {} }
}

/**
 * Reads a key file, and polls it every 5 s. A change that cannot be read, that is invalid, or that has no key in common
 * with the current keys, is reported to `onProblem` once; the previous keys stay in use. Throws if the first read fails.
 */
export function openMasterKeys(file: string, onProblem: (error: unknown) => void, pollMs = POLL_MS): MasterKeys {
  let text = readFileSync(file, 'utf8')
  let keys = parseMasterKeys(text)
  let problem: string | undefined
  const poll = () => {
    try {
      const next = readFileSync(file, 'utf8')
      problem = undefined
      if (next === text) return
      // A problem is reported once for each content of the file.
      text = next
      const parsed = parseMasterKeys(next)
      if (!parsed.some((key) => keys.some((known) => isSameKey(known, key))))
        throw new Error(`${file} contains none of the master keys in use`)
      keys = parsed
    } catch (error) {
      const { message } = error as Error
      // A file that still cannot be read is not reported again.
      if (message === problem) return
      problem = message
      onProblem(error)
    }
  }
  const timer = setInterval(poll, pollMs)
  timer.unref()
  return { current: () => keys, close: () => clearInterval(timer) }
}
