import { type TokenKeys, verifyVideoToken } from '@vitascope/security'
import type { VerifiedToken } from './decide.ts'

/** Verifies a token of the platform for a video. */
export async function verifyToken(
  token: string,
  request: { videoId: string; address: string; now: Date },
  keys: TokenKeys,
): Promise<VerifiedToken & { expires?: Date }> {
  const check = await verifyVideoToken(token, request, keys)
  return check.allowed
    ? { claims: { custom: new Map(), isByPassword: check.password !== undefined }, expires: check.expires }
    : { rejection: check.reason }
}
