import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { getScope, requireService, requireUser } from '@vitascope/principal'
import { type PlaybackSessionServiceService, PlaybackSessionState } from '@vitascope/proto/catalogue/v1/playback_session'
import { isId } from '@vitascope/request'
import type { PlaybackSessionStore, SessionState } from './playback-session-store.ts'

const MAX_REPORTED = 1_000

const STATES: Readonly<Record<SessionState, PlaybackSessionState>> = {
  active: PlaybackSessionState.PLAYBACK_SESSION_STATE_ACTIVE,
  too_many: PlaybackSessionState.PLAYBACK_SESSION_STATE_TOO_MANY,
  ended: PlaybackSessionState.PLAYBACK_SESSION_STATE_ENDED,
  idle: PlaybackSessionState.PLAYBACK_SESSION_STATE_IDLE,
}

export function playbackSessionHandlers(sessions: PlaybackSessionStore): Handlers<typeof PlaybackSessionServiceService> {
  return {
    async reportPlaybackSessions({ sessions: reported }, { principal, signal }) {
      requireService(principal)
      if (reported.length > MAX_REPORTED) throw invalid([{ field: 'sessions', message: `must have at most ${MAX_REPORTED} sessions` }])
      return { states: (await sessions.report(reported, signal)).map((state) => STATES[state]) }
    },
    async listPlaybackSessions({ videoId }, { principal, signal }) {
      const scope = getScope(requireUser(principal))
      if (!isId(videoId)) throw notFound('video', videoId)
      const listed = await sessions.list({ scope, videoId }, signal)
      return { sessions: listed.map((session) => ({ ...session, state: STATES[session.state] })) }
    },
    async endPlaybackSession({ videoId, sessionId }, { principal, signal }) {
      const scope = getScope(requireUser(principal))
      if (!isId(videoId)) throw notFound('video', videoId)
      await sessions.end({ scope, videoId, sessionId }, signal)
      return {}
    },
  }
}
