import { type PlaybackSession, PlaybackSessionState } from '@vitascope/proto/catalogue/v1/playback_session'
import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { id, text } from '../../server/schema/fields.ts'
import { formatOptionalTimestamp, required, schema } from '../../server/schema/response-format.ts'

const section = 'Playback sessions'
const STATES = ['active', 'too_many', 'ended', 'idle'] as const
const WORDS: Readonly<Partial<Record<PlaybackSessionState, (typeof STATES)[number]>>> = {
  [PlaybackSessionState.PLAYBACK_SESSION_STATE_ACTIVE]: 'active',
  [PlaybackSessionState.PLAYBACK_SESSION_STATE_TOO_MANY]: 'too_many',
  [PlaybackSessionState.PLAYBACK_SESSION_STATE_ENDED]: 'ended',
}

const SessionResponse = z.object({
  session_id: schema.text('Id of the session.', 'vb3mK0ZcX1q2H8n4TzQ5aw'),
  token_id: schema.text('Claim `jti` of the token, or a hash of it. Empty for viewers without a personal token.', 'viewer-17'),
  address: schema.text('IPv4 address or IPv6 network of the viewer.', '192.0.2.7'),
  user_agent: schema.text('`User-Agent` of the viewer.', 'Mozilla/5.0 (X11; Linux x86_64)'),
  state: z.enum(STATES).meta({
    description:
      '`active`: it may load files. `too_many`: enough others with the same token began before it. `ended`: it was ended by this API. ' +
      '`idle`: it made no request for 30 s.',
  }),
  started: schema.timestamp('Time of its first request.'),
  last_request: schema.timestamp('Time of its last request, exact to a few seconds.'),
})

export const listPlaybackSessions = route({
  get: ['/video/:videoId/sessions'],
  operationId: 'listPlaybackSessions',
  section,
  access: 'user',
  summary: 'List the playback sessions of a video',
  description:
    'Returns the sessions of the last hour, newest first, at most 1,000. They are counted only if their number is limited: by `max_sessions` of ' +
    'the token or of the player settings profile.',
  params: z.object({ videoId: id('video') }),
  response: z.array(SessionResponse),
  async handle({ params: { videoId } }, { services, call }) {
    const { sessions } = await services.playbackSessions.listPlaybackSessions({ videoId }, call)
    return sessions.map(sessionResponse)
  },
})

export const endPlaybackSession = route({
  delete: ['/video/:videoId/sessions/:sessionId'],
  operationId: 'endPlaybackSession',
  section,
  access: 'user',
  summary: 'End a playback session',
  description:
    'Delivery rejects the requests of the session within 5 s, until it has been silent for an hour. Its token stays valid elsewhere.',
  params: z.object({
    videoId: id('video'),
    sessionId: text(64, { min: 1 }, { description: 'Id of the session.', example: 'vb3mK0ZcX1q2H8n4TzQ5aw' }),
  }),
  response: z.object({ deleted: z.literal(true) }),
  async handle({ params: { videoId, sessionId } }, { services, call }) {
    await services.playbackSessions.endPlaybackSession({ videoId, sessionId }, call)
    return { deleted: true as const }
  },
})

function sessionResponse(session: PlaybackSession): z.input<typeof SessionResponse> {
  return {
    session_id: session.sessionId,
    token_id: session.tokenId,
    address: session.address,
    user_agent: session.userAgent,
    state: WORDS[session.state] ?? 'idle',
    started: formatOptionalTimestamp(required(session.startTime, 'startTime')),
    last_request: formatOptionalTimestamp(required(session.lastRequestTime, 'lastRequestTime')),
  }
}

export const playbackSessionRoutes = [listPlaybackSessions, endPlaybackSession]
