import { createHash } from 'node:crypto'
import { DomainError } from '@vitascope/errors'
import { signVideoToken, type TokenKeyFile, type TokenKeys, verifyVideoToken } from '@vitascope/security'
import type { PasswordHasher } from './password-hash.ts'
import { isSha1 } from './setting-change.ts'

const LIFETIME_MS = 15 * 60_000

/** A token for the files of a video with a password. It is valid for 15 minutes. */
export interface AccessToken {
  token: string
  expireTime: Date
}

export interface AccessRequest {
  videoId: string
  organisationId: string
  /** The stored hash of the password of the video; undefined if it has none. */
  storedHash: string | undefined
  /** SHA-1 of the entered password in lower-case hexadecimal, or empty if the request contains a token. */
  password: string
  /** A token of an earlier response, or empty. If it is not empty, `password` is ignored. */
  token: string
}

/**
 * Returns a function that exchanges the password of a video, or a token that was issued for it, for a new token. After a
 * change of the password, it rejects earlier tokens. Delivery accepts them until they expire. The function throws
 * NO_PASSWORD if the video has no password, PASSWORD_WRONG for a wrong password or token, and PASSWORDS_BUSY if too many
 * passwords are being checked.
 */
export function createAccessTokens({ passwordHasher, tokenKeys }: { passwordHasher: PasswordHasher; tokenKeys: TokenKeyFile }) {
  return async (request: AccessRequest, signal: AbortSignal): Promise<AccessToken> => {
    const { videoId, organisationId, storedHash, password, token } = request
    if (storedHash === undefined) throw new DomainError('failed_precondition', 'NO_PASSWORD', 'this video has no password')
    const fingerprint = createFingerprint(storedHash)
    const isGranted =
      token === ''
        ? isSha1(password) && (await passwordHasher.matches(storedHash, password, `try ${organisationId}`, signal))
        : await isTokenFor(token, { videoId, fingerprint }, tokenKeys.current())
    const rejection = token === '' ? 'the password is wrong' : 'the token is not valid for the current password'
    if (!isGranted) throw new DomainError('forbidden', 'PASSWORD_WRONG', rejection)
    const expireTime = new Date(Math.floor((Date.now() + LIFETIME_MS) / 1_000) * 1_000)
    return { token: await signVideoToken({ videoId, expires: expireTime, password: fingerprint }, tokenKeys.current()), expireTime }
  }
}

async function isTokenFor(
  token: string,
  { videoId, fingerprint }: { videoId: string; fingerprint: string },
  keys: TokenKeys,
): Promise<boolean> {
  const check = await verifyVideoToken(token, { videoId, address: '', now: new Date() }, keys)
  return check.allowed && check.password === fingerprint
}

/**
 * Returns a text that identifies the stored hash. The hash has a random salt, so the text reveals
 * nothing about the password.
 */
function createFingerprint(storedHash: string): string {
  return createHash('sha256').update(storedHash).digest('base64url').slice(0, 16)
}
