import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import type { UserSummaries, UserSummary } from './user-summaries.ts'
import type { VideoSummaries, VideoSummary } from './video-summaries.ts'

export interface Clients {
  videos: VideoSummaries
  users: UserSummaries
}

/** The references of a record to records of other services. */
export interface References {
  videoId: string
  /** Empty if the record belongs to no user. */
  userId: string
}

/** A record with its user. The user is undefined if the record belongs to no user. */
export interface ResolvedRow<Row> {
  row: Row
  user: UserSummary | undefined
}

/**
 * Returns the records with their users. Omits records whose user was deleted. Makes one call for all
 * users. The caller must check the video.
 */
export async function withUsers<Row extends References>(
  users: UserSummaries,
  rows: readonly Row[],
  call: Call,
): Promise<ResolvedRow<Row>[]> {
  const usersById = await users.find(
    rows.map(({ userId }) => userId),
    call,
  )
  return rows.flatMap((row) => {
    const user = usersById.get(row.userId)
    return user || row.userId === '' ? [{ row, user }] : []
  })
}

/**
 * Returns one record with its video and user. Throws `not_found` for the record if the record, its
 * video or its user does not exist.
 */
export async function requireResolved<Row extends References>(
  { videos, users }: Clients,
  row: Row | undefined,
  record: { noun: string; id: string },
  call: Call,
): Promise<ResolvedRow<Row> & { video: VideoSummary }> {
  if (!row) throw notFound(record.noun, record.id)
  const [videosById, [withUser]] = await Promise.all([videos.find([row.videoId], call), withUsers(users, [row], call)])
  const video = videosById.get(row.videoId)
  if (!video || !withUser) throw notFound(record.noun, record.id)
  return { ...withUser, video }
}
