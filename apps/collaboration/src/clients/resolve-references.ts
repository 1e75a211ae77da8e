import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import type { UserSummaries, UserSummary } from './user-summaries.ts'
import type { VideoSummaries, VideoSummary } from './video-summaries.ts'

export interface Clients {
  videos: VideoSummaries
  users: UserSummaries
}

/** The ids of other services that every record references. */
export interface References {
  videoId: string
  /** Empty if there is none. */
  userId: string
}

/** A record with its user; undefined if it references none. */
export interface Resolved<Row> {
  row: Row
  user: UserSummary | undefined
}

/**
 * Returns the records with their users, without those whose user was deleted. Makes one call for
 * all users. The video must be checked separately.
 */
export async function withUsers<Row extends References>(users: UserSummaries, rows: readonly Row[], call: Call): Promise<Resolved<Row>[]> {
  const known = await users.find(
    rows.map(({ userId }) => userId),
    call,
  )
  return rows.flatMap((row) => {
    const user = known.get(row.userId)
    return user || row.userId === '' ? [{ row, user }] : []
  })
}

/**
 * Returns one record with its video and user. Throws the record's `not_found` if the record, its
 * video or its user does not exist.
 */
export async function requireResolved<Row extends References>(
  { videos, users }: Clients,
  row: Row | undefined,
  missing: { noun: string; id: string },
  call: Call,
): Promise<Resolved<Row> & { video: VideoSummary }> {
  if (!row) throw notFound(missing.noun, missing.id)
  const [found, [withUser]] = await Promise.all([videos.find([row.videoId], call), withUsers(users, [row], call)])
  const video = found.get(row.videoId)
  if (!video || !withUser) throw notFound(missing.noun, missing.id)
  return { ...withUser, video }
}
