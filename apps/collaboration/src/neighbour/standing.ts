import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import type { UserFact, UserFacts } from './user-facts.ts'
import type { VideoFact, VideoFacts } from './video-facts.ts'

export interface Neighbours {
  videos: VideoFacts
  users: UserFacts
}

/** What every record here stands on. */
export interface Grounds {
  videoId: string
  /** Empty for none. */
  userId: string
}

/** A record with its user; undefined where it has none. */
export interface Standing<Row> {
  row: Row
  user: UserFact | undefined
}

/** The records whose user there is, of those of a video that there is; one question for all. */
export async function thoseWithUsers<Row extends Grounds>(users: UserFacts, rows: readonly Row[], call: Call): Promise<Standing<Row>[]> {
  const known = await users.find(
    rows.map(({ userId }) => userId),
    call,
  )
  return rows.flatMap((row) => {
    const user = known.get(row.userId)
    return user || row.userId === '' ? [{ row, user }] : []
  })
}

/** One record with its video and user; refuses as if it were not there when either is gone. */
export async function needStanding<Row extends Grounds>(
  { videos, users }: Neighbours,
  row: Row | undefined,
  missing: { noun: string; id: string },
  call: Call,
): Promise<Standing<Row> & { video: VideoFact }> {
  if (!row) throw notFound(missing.noun, missing.id)
  const [found, [standing]] = await Promise.all([videos.find([row.videoId], call), thoseWithUsers(users, [row], call)])
  const video = found.get(row.videoId)
  if (!video || !standing) throw notFound(missing.noun, missing.id)
  return { ...standing, video }
}
