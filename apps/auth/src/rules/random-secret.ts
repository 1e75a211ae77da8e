import { createHash, randomBytes } from 'node:crypto'

/** 256 random bits, so that a hash without a salt suffices. */
const SECRET_BYTES = 32

/** Returns a new secret of 43 characters for URLs and cookies. */
export function makeSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** Returns the hash that is stored in place of a secret. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
