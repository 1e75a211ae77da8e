import { notFound, requireValid } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { type MasterKeys, normaliseAddress, signVideoToken, type TokenKeyFile, type TokenKeys, verifyVideoToken } from '@vitascope/security'
import { sealedCodec } from '../rules/sealed-codec.ts'
import type { VideoStore } from './video-store.ts'

export interface VideoTokenRequest {
  videoId: string
  expiresInSeconds: number
  /** Empty if the token is valid for any address. */
  address: string
}

/** A signed token. `expires` is in seconds since 1970. */
export interface VideoToken {
  token: string
  expires: number
}

export interface VideoTokens {
  create(scope: Scope, request: VideoTokenRequest, call: Pick<Call, 'idempotency' | 'signal'>): Promise<VideoToken>
  /** Returns true if the token shows the video to everyone who has it. */
  isValid(token: string, videoId: string): Promise<boolean>
}

const MAX_LIFETIME_SECONDS = 86_400

export function createVideoTokens(db: Db, videos: VideoStore, keys: TokenKeyFile, masterKeys: MasterKeys): VideoTokens {
  const codec = sealedCodec<VideoToken>(masterKeys)
  return {
    async create(scope, { videoId, expiresInSeconds, address }, call) {
      const video = await videos.find(scope, videoId, call.signal)
      if (!video) throw notFound('video', videoId)
      const limits = readTokenLimits({ expiresInSeconds, address })
      return withIdempotency(db, call, codec, async () => {
        const token = await signVideoToken({ videoId, ...limits }, keys.current())
        return { token, expires: limits.expires.getTime() / 1_000 }
      })
    },
    isValid: (token, videoId) => isPlaybackToken(token, videoId, keys.current()),
  }
}

/** Returns true if the token plays a video for everyone who has it: without a limit to an address, a file or a password. */
async function isPlaybackToken(token: string, videoId: string, keys: TokenKeys): Promise<boolean> {
  if (token === '') return false
  const check = await verifyVideoToken(token, { videoId, address: '', now: new Date() }, keys)
  return check.allowed && check.password === undefined && check.download === undefined
}

/** Returns the expiry of a new token, and its only address if there is one. Throws `invalid` with every invalid field. */
export function readTokenLimits({ expiresInSeconds, address }: Omit<VideoTokenRequest, 'videoId'>): { expires: Date; ip?: string } {
  const ip = address === '' ? undefined : normaliseAddress(address)
  const isInRange = expiresInSeconds >= 1 && expiresInSeconds <= MAX_LIFETIME_SECONDS
  requireValid([
    ...(isInRange ? [] : [{ field: 'expires_in_seconds', message: `must be from 1 to ${MAX_LIFETIME_SECONDS}` }]),
    ...(address === '' || ip !== undefined ? [] : [{ field: 'address', message: 'must be an IPv4 or IPv6 address' }]),
  ])
  return { expires: new Date((Math.floor(Date.now() / 1_000) + expiresInSeconds) * 1_000), ...(ip !== undefined && { ip }) }
}
