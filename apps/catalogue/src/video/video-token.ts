import { normaliseAddress, signVideoToken, type TokenKeys } from '@vitascope/access'
import { invalid, notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, once } from '@vitascope/postgres'
import { sealedCodec } from '../answer-codec.ts'
import type { Scope } from '../visibility.ts'
import type { VideoStore } from './video-store.ts'

export interface VideoTokenRequest {
  videoId: string
  expiresInSeconds: number
  /** Empty for any. */
  address: string
}

/** `expires` in whole seconds since the epoch. */
export interface VideoToken {
  token: string
  expires: number
}

export interface VideoTokens {
  create(scope: Scope, request: VideoTokenRequest, call: Pick<Call, 'idempotency' | 'signal'>): Promise<VideoToken>
}

const LONGEST_SECONDS = 86_400

export function createVideoTokens(db: Db, videos: VideoStore, keys: TokenKeys, masterKey: string): VideoTokens {
  const codec = sealedCodec<VideoToken>(masterKey)
  return {
    async create(scope, { videoId, expiresInSeconds, address }, call) {
      const video = await videos.find(scope, videoId, call.signal)
      if (!video) throw notFound('video', videoId)
      const ip = address === '' ? undefined : normaliseAddress(address)
      const problems = [
        ...(expiresInSeconds >= 1 && expiresInSeconds <= LONGEST_SECONDS
          ? []
          : [{ field: 'expires_in', message: `must be from 1 to ${LONGEST_SECONDS}` }]),
        ...(address === '' || ip !== undefined ? [] : [{ field: 'ip', message: 'must be an IPv4 or IPv6 address' }]),
      ]
      if (problems.length > 0) throw invalid(problems)
      return once(db, call, codec, async () => {
        const expires = Math.floor(Date.now() / 1000) + expiresInSeconds
        const grant = { videoId, expires: new Date(expires * 1000), ...(ip !== undefined && { ip }) }
        return { token: await signVideoToken(grant, keys), expires }
      })
    },
  }
}
