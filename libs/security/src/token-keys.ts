import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { type KeyFile, type KeyFileListener, openKeyFile } from './key-file.ts'

/** A key that signs tokens. Its secret is a `KeyObject`, so it does not appear in logs or JSON. */
export interface TokenKey {
  kid: string
  secret: KeyObject
}

/** The first key signs; all keys verify. So a key can be replaced while its tokens are still valid. */
export type TokenKeys = readonly [TokenKey, ...TokenKey[]]

/** The current token keys. */
export type TokenKeyFile = KeyFile<TokenKeys>

const secretBytes = 32
const maxKeys = 8

/**
 * Parses a key file: a JSON array of `{kid, secret}` with secrets of 32 bytes in base64url. Throws an `Error` whose
 * message contains no secret.
 */
export function parseTokenKeys(text: string): TokenKeys {
  const [first, ...others] = parseEntries(text).map(toKey)
  if (!first) throw new Error('token keys: the file contains no key')
  const keys: TokenKeys = [first, ...others]
  if (new Set(keys.map((key) => key.kid)).size < keys.length) throw new Error('token keys: two keys have the same kid')
  return keys
}

/** Reads a key file, and polls it as `openKeyFile` does. */
export function openTokenKeys(file: string, listener: KeyFileListener, pollMs?: number): TokenKeyFile {
  return openKeyFile(file, { parse: parseTokenKeys, ...listener, ...(pollMs !== undefined && { pollMs }) })
}

/**
 * Returns the text of a new key file with one new key. With the text of the present file, the new key is first and
 * the previous signing key stays, so that its tokens remain valid.
 */
export function makeTokenKeys(present?: string): string {
  const newKey = { kid: randomBytes(6).toString('hex'), secret: randomBytes(secretBytes).toString('base64url') }
  if (present === undefined) return `${JSON.stringify([newKey])}\n`
  parseTokenKeys(present)
  return `${JSON.stringify([newKey, parseEntries(present)[0]])}\n`
}

function parseEntries(text: string): unknown[] {
  let entries: unknown
  try {
    entries = JSON.parse(text)
  } catch {
    // The parser's error message would quote the text, secrets included.
    throw new Error('token keys: the file is not JSON')
  }
  if (!Array.isArray(entries) || entries.length > maxKeys) throw new Error(`token keys: not an array of at most ${maxKeys} keys`)
  return entries
}

function toKey(entry: unknown, index: number): TokenKey {
  if (typeof entry !== 'object' || entry === null || !('kid' in entry) || !('secret' in entry)) {
    throw new Error(`token keys: key ${index + 1} is not {kid, secret}`)
  }
  const { kid, secret } = entry
  if (typeof kid !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(kid)) throw new Error(`token keys: key ${index + 1} has an invalid kid`)
  const bytes = typeof secret === 'string' ? Buffer.from(secret, 'base64url') : undefined
  if (bytes?.length !== secretBytes || bytes.toString('base64url') !== secret) {
    throw new Error(`token keys: the secret of key ${index + 1} is not ${secretBytes} bytes in base64url`)
  }
  return { kid, secret: createSecretKey(bytes) }
}
