import { type PlaybackKey, type TokenVerification, verifyToken } from '@vitascope/playback-policy'
import type { TokenKeyFile, TokenKeys } from '@vitascope/security'
import { LRUCache } from 'lru-cache'

/**
 * Returns a verifier that caches valid tokens, because players send the same token for every segment. The signature of
 * a token is checked once a minute. Its expiry, and whether its key is still active, are checked for each request.
 */
export function createTokenVerifier(tokenKeys: TokenKeyFile) {
  const verifiedTokens = new LRUCache<string, TokenVerification & { expires: Date }>({ max: 10_000, ttl: 60_000 })
  let platformKeys: TokenKeys = tokenKeys.current()
  return async (
    token: string,
    { videoId, address, keys }: { videoId: string; address: string; keys: readonly PlaybackKey[] },
  ): Promise<TokenVerification> => {
    const name = `${videoId} ${address} ${token}`
    // Tokens of a removed key must not stay valid.
    if (platformKeys !== tokenKeys.current()) verifiedTokens.clear()
    platformKeys = tokenKeys.current()
    const cached = verifiedTokens.get(name)
    const now = new Date()
    if (cached && cached.expires > now && (cached.keyId === undefined || keys.some(({ keyId }) => keyId === cached.keyId))) return cached
    const verified = await verifyToken(token, { videoId, address, now }, { platform: platformKeys, organisation: keys })
    const { expires } = verified
    if (expires) verifiedTokens.set(name, { ...verified, expires })
    return verified
  }
}
