import type { IncomingMessage } from 'node:http'
import type { PlaybackKind, TokenVerification } from '@vitascope/playback-policy'
import type { DeliveryPath } from './delivery-path.ts'
import type { DeliveryPolicy } from './delivery-policy.ts'
import type { SessionTracker } from './session-tracker.ts'
import { shortHash } from './short-hash.ts'

/** Kinds of files by which sessions are counted. */
const PLAYED: ReadonlySet<PlaybackKind> = new Set(['manifest', 'segment', 'mp4'])

interface LoadedFile {
  policy: DeliveryPolicy
  kind: PlaybackKind
  token: TokenVerification | undefined
  requested: DeliveryPath
  address: string
}

/** Returns why the session of a request is rejected. Only sessions whose number is limited are counted. */
export function checkSession(
  sessions: SessionTracker,
  { headers }: IncomingMessage,
  { policy, kind, token, requested, address }: LoadedFile,
): ReturnType<SessionTracker['check']> {
  const limits = [policy.maxSessions, token?.claims?.maxSessions ?? 0].filter((limit) => limit > 0)
  if (limits.length === 0 || !PLAYED.has(kind)) return undefined
  // Players replace the token of a password every 15 minutes, so it does not identify a viewer.
  const isPersonal = requested.token !== undefined && token?.claims?.isByPassword !== true
  const tokenId = isPersonal ? (token?.claims?.tokenId ?? shortHash(requested.token ?? '')) : ''
  const userAgent = headers['user-agent'] ?? ''
  return sessions.check({ videoId: policy.videoId, tokenId, maxSessions: Math.min(...limits), address, userAgent })
}
