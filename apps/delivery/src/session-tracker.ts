import { randomUUID } from 'node:crypto'
import { type Client, serviceCall } from '@vitascope/grpc'
import { everyAfterDelay } from '@vitascope/process'
import { type PlaybackSessionServiceService, PlaybackSessionState } from '@vitascope/proto/catalogue/v1/playback_session'
import { toWidestNetwork } from '@vitascope/security'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { LRUCache } from 'lru-cache'
import { shortHash } from './short-hash.ts'

const REPORT_INTERVAL_MS = 2_000
/** Maximum number of sessions that the catalogue accepts per call. */
const MAX_REPORTED = 1_000
const MAX_SESSIONS = 100_000
/** A session that is idle for longer ends, and its next request starts a new one. */
const IDLE_MS = 60_000
const MAX_USER_AGENT_LENGTH = 300

/** A device that loads a video whose sessions are limited. */
export interface SessionRequest {
  videoId: string
  /** Empty for viewers without a personal token, who are counted together. */
  tokenId: string
  maxSessions: number
  address: string
  userAgent: string
}

export interface SessionTracker {
  /**
   * Records a request of a session. Returns why it is rejected, or undefined. A new session is admitted until its first
   * report, at most 2 s later, and while the catalogue is unavailable.
   */
  check(request: SessionRequest): 'too_many_sessions' | 'session_ended' | undefined
  /** Stops the reports. */
  close(): void
}

interface Session extends Omit<SessionRequest, 'address'> {
  sessionId: string
  address: string
  state: PlaybackSessionState
  /** When it made its first request after the previous report, by `performance.now()`. Undefined if it made none. */
  dueSince: number | undefined
}

/**
 * Counts the sessions whose number is limited. The catalogue decides for all replicas which of them may continue. A
 * request costs a hash and a lookup in memory, and each session a row in a report every 2 s.
 */
export function createSessionTracker({
  client,
  log,
  metrics,
}: {
  client: Pick<Client<typeof PlaybackSessionServiceService>, 'reportPlaybackSessions'>
  log: Logger
  metrics: Metrics
}): SessionTracker {
  const sessions = new LRUCache<string, Session>({ max: MAX_SESSIONS, ttl: IDLE_MS, updateAgeOnGet: true })
  metrics.gauge('vitascope_delivery_limited_sessions', 'Sessions of videos or tokens with a limit of sessions', [], (gauge) => {
    sessions.purgeStale()
    gauge.set(sessions.size)
  })
  const report = async (signal: AbortSignal): Promise<void> => {
    const due = [...sessions.values()].filter(({ dueSince }) => dueSince !== undefined)
    for (let start = 0; start < due.length; start += MAX_REPORTED) {
      const batch = due.slice(start, start + MAX_REPORTED)
      const now = performance.now()
      const reported = batch.map((session) => ({ ...session, firstRequestAgeMs: Math.round(now - (session.dueSince ?? now)) }))
      const firstRequests = batch.map(({ dueSince }) => dueSince)
      for (const session of batch) session.dueSince = undefined
      try {
        const { states } = await client.reportPlaybackSessions({ sessions: reported }, serviceCall('delivery', randomUUID(), signal))
        for (const [index, session] of batch.entries()) session.state = states[index] ?? session.state
      } catch (error) {
        // The next report has these sessions too, with the age of the same request.
        for (const [index, session] of batch.entries()) session.dueSince = firstRequests[index]
        throw error
      }
    }
  }
  const stop = new AbortController()
  // `close` ends this loop. `everyAfterDelay` logs failures.
  void everyAfterDelay(report, REPORT_INTERVAL_MS, log, stop.signal)
  return {
    check({ videoId, tokenId, maxSessions, address, userAgent }) {
      const network = toWidestNetwork(address)
      const agent = userAgent.slice(0, MAX_USER_AGENT_LENGTH).toWellFormed().replaceAll('\0', '')
      const sessionId = shortHash(`${tokenId}\n${network}\n${agent}`)
      const key = `${videoId} ${sessionId}`
      const session = sessions.get(key) ?? {
        ...{ videoId, tokenId, sessionId, maxSessions, address: network, userAgent: agent },
        ...{ state: PlaybackSessionState.PLAYBACK_SESSION_STATE_ACTIVE, dueSince: undefined },
      }
      session.dueSince ??= performance.now()
      session.maxSessions = maxSessions
      sessions.set(key, session)
      if (session.state === PlaybackSessionState.PLAYBACK_SESSION_STATE_TOO_MANY) return 'too_many_sessions'
      return session.state === PlaybackSessionState.PLAYBACK_SESSION_STATE_ENDED ? 'session_ended' : undefined
    },
    close: () => stop.abort(),
  }
}
