import { DomainError, notFound } from '@vitascope/errors'
import type { Db } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import type { ReportedPlaybackSession } from '@vitascope/proto/catalogue/v1/playback_session'

export type SessionState = 'active' | 'too_many' | 'ended' | 'idle'

/** A device that loads a video: the same token, address and browser. */
export interface PlaybackSession {
  sessionId: string
  /** Empty for viewers without a personal token. */
  tokenId: string
  address: string
  userAgent: string
  state: SessionState
  startTime: Date
  lastRequestTime: Date
}

export interface PlaybackSessionStore {
  /**
   * Records that the sessions have just made requests, and returns their states in the same order. A session must not
   * be repeated.
   */
  report(sessions: readonly ReportedPlaybackSession[], signal?: AbortSignal): Promise<SessionState[]>
  /** Returns at most 1,000 sessions of a video with requests in the last hour, newest first. Throws VIDEO_NOT_FOUND. */
  list(target: SessionTarget, signal?: AbortSignal): Promise<PlaybackSession[]>
  /** Ends a session, so that its later requests are rejected. Throws VIDEO_NOT_FOUND or SESSION_NOT_FOUND. */
  end(target: SessionTarget & { sessionId: string }, signal?: AbortSignal): Promise<void>
  /** Deletes up to `limit` sessions without a request in the last hour, and returns their number. */
  sweep(limit: number): Promise<number>
}

export interface SessionTarget {
  scope: Scope
  videoId: string
}

const MAX_LISTED = 1_000
/** A session without a request in this time is idle and does not count. */
const IDLE_AFTER = `interval '30 seconds'`
/**
 * A session is deleted after this time without requests. A session that a user ended can begin again after its
 * deletion.
 */
const RETENTION = `interval '1 hour'`

/** Inserts or updates sessions. An idle session gets a new start time, so that it does not displace others. */
const REPORT = `
  insert into playback_session (video_id, token_id, session_id, max_sessions, address, user_agent, start_time)
  select r.video_id, r.token_id, r.session_id, r.max_sessions, r.address, r.user_agent, now() - r.age_ms * interval '1 millisecond'
  from unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::int[])
    as r (video_id, token_id, session_id, max_sessions, address, user_agent, age_ms)
    join video v on v.video_id = r.video_id
  order by r.video_id, r.token_id, r.session_id
  on conflict (video_id, token_id, session_id) do update set
    start_time = case when playback_session.last_request_time < now() - ${IDLE_AFTER} then excluded.start_time else playback_session.start_time end,
    last_request_time = excluded.last_request_time, max_sessions = excluded.max_sessions`

/**
 * Selects sessions with their states. The sessions that count, which are neither idle nor ended, are ranked by start
 * time for each video and token. Those after the first `max_sessions` are `too_many`.
 */
const RANKED = `
  select s.*, case when s.end_time is not null then 'ended'
      when s.last_request_time < now() - ${IDLE_AFTER} then 'idle'
      when row_number() over (partition by s.video_id, s.token_id, s.end_time is null and s.last_request_time >= now() - ${IDLE_AFTER}
                              order by s.start_time, s.session_id) > s.max_sessions then 'too_many'
      else 'active' end as state
  from playback_session s`

export function createPlaybackSessionStore(db: Db): PlaybackSessionStore {
  return {
    async report(sessions, signal) {
      signal?.throwIfAborted()
      await db.query(REPORT, [
        sessions.map(({ videoId }) => videoId),
        sessions.map(({ tokenId }) => tokenId),
        sessions.map(({ sessionId }) => sessionId),
        sessions.map(({ maxSessions }) => maxSessions),
        sessions.map(({ address }) => address),
        sessions.map(({ userAgent }) => userAgent),
        sessions.map(({ firstRequestAgeMs }) => firstRequestAgeMs),
      ])
      const rows = await db.query<Row>(
        `select * from (${RANKED} where (s.video_id, s.token_id) in (select distinct * from unnest($1::bigint[], $2::text[]))) r
         where r.session_id = any($3)`,
        [sessions.map(({ videoId }) => videoId), sessions.map(({ tokenId }) => tokenId), sessions.map(({ sessionId }) => sessionId)],
      )
      const states = new Map(rows.map((row) => [toKey(row.video_id, row.token_id, row.session_id), row.state]))
      // The video of a session without a row was deleted. Delivery notices that by its policy.
      return sessions.map(({ videoId, tokenId, sessionId }) => states.get(toKey(videoId, tokenId, sessionId)) ?? 'active')
    },
    async list({ scope, videoId }, signal) {
      signal?.throwIfAborted()
      await requireVideo(db, { scope, videoId })
      const rows = await db.query<Row>(
        `select * from (${RANKED} where s.video_id = $1) r where r.last_request_time > now() - ${RETENTION}
         order by r.start_time desc, r.session_id limit ${MAX_LISTED}`,
        [videoId],
      )
      return rows.map(toSession)
    },
    async end({ scope, videoId, sessionId }, signal) {
      signal?.throwIfAborted()
      await requireVideo(db, { scope, videoId })
      const ended = await db.query(
        `update playback_session set end_time = coalesce(end_time, now()) where video_id = $1 and session_id = $2
           and last_request_time > now() - ${RETENTION} returning 1`,
        [videoId, sessionId],
      )
      if (ended.length === 0) throw new DomainError('not_found', 'SESSION_NOT_FOUND', 'the video has no such session')
    },
    async sweep(limit) {
      const rows = await db.query(
        `delete from playback_session where (video_id, token_id, session_id) in (
           select video_id, token_id, session_id from playback_session where last_request_time < now() - ${RETENTION}
           order by last_request_time limit $1) returning 1`,
        [limit],
      )
      return rows.length
    },
  }
}

async function requireVideo(db: Db, { scope, videoId }: SessionTarget): Promise<void> {
  const rows = await db.query('select from video where video_id = $1 and ($2::bigint is null or organisation_id = $2)', [videoId, scope])
  if (rows.length === 0) throw notFound('video', videoId)
}

interface Row {
  video_id: string
  token_id: string
  session_id: string
  address: string
  user_agent: string
  start_time: Date
  last_request_time: Date
  state: SessionState
}

function toKey(videoId: string, tokenId: string, sessionId: string): string {
  return `${videoId} ${tokenId} ${sessionId}`
}

function toSession(row: Row): PlaybackSession {
  return {
    sessionId: row.session_id,
    tokenId: row.token_id,
    address: row.address,
    userAgent: row.user_agent,
    state: row.state,
    startTime: row.start_time,
    lastRequestTime: row.last_request_time,
  }
}
