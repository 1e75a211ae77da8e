import type { Db } from '@vitascope/postgres'

/** The little that other services keep beside videos of their own records. */
export interface VideoFact {
  videoId: string
  organisationId: string
  /** Undefined while nothing of it plays. */
  durationSeconds: number | undefined
  texts: { title: string; mediaTitle: string; description: string; language: string }
}

export interface VideoFactStore {
  /** Those of the given videos that there are. */
  find(videoIds: readonly string[], signal?: AbortSignal): Promise<VideoFact[]>
}

interface Row {
  video_id: string
  organisation_id: string
  duration_seconds: number | null
  title: string
  media_title: string
  description: string
  language: string
}

export function createVideoFactStore(db: Db): VideoFactStore {
  return {
    async find(videoIds, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<Row>(
        `select v.video_id, v.organisation_id, (coalesce(m.renditions, m.early) ->> 'durationSeconds')::float8 as duration_seconds,
           v.title, m.title as media_title, v.description, v.language
         from video v join media m using (media_id) where v.video_id = any ($1::bigint[])`,
        [videoIds],
      )
      return rows.map((row) => ({
        videoId: row.video_id,
        organisationId: row.organisation_id,
        durationSeconds: row.duration_seconds ?? undefined,
        texts: { title: row.title, mediaTitle: row.media_title, description: row.description, language: row.language },
      }))
    },
  }
}
