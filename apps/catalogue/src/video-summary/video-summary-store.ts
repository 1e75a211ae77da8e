import type { Db } from '@vitascope/postgres'

/** The summary of a video that other services store with their own records. */
export interface VideoSummary {
  videoId: string
  organisationId: string
  /** Undefined until the video is playable. */
  durationSeconds: number | undefined
  /** Distinct languages of the video, its audio and its captions; at most 100. */
  languages: string[]
  texts: { title: string; mediaTitle: string; description: string; language: string }
}

export interface VideoSummaryStore {
  /** Returns the summaries of the videos. Videos that do not exist are omitted. */
  find(videoIds: readonly string[], signal?: AbortSignal): Promise<VideoSummary[]>
}

interface Row {
  video_id: string
  organisation_id: string
  duration_seconds: number | null
  title: string
  media_title: string
  description: string
  language: string
  languages: string[]
}

/** Maximum number of languages in a summary. */
const MAX_LANGUAGES = 100

export function createVideoSummaryStore(db: Db): VideoSummaryStore {
  return {
    async find(videoIds, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<Row>(
        `select v.video_id, v.organisation_id, (coalesce(m.renditions, m.preview) ->> 'durationSeconds')::float8 as duration_seconds,
           v.title, m.title as media_title, v.description, v.language, array(
             select v.language where v.language <> ''
             union select code from jsonb_to_recordset(v.languages) as sound (code text)
             union select c.language from caption c where c.media_id = v.media_id
             limit ${MAX_LANGUAGES}
           ) as languages
         from video v join media m using (media_id) where v.video_id = any ($1::bigint[])`,
        [videoIds],
      )
      return rows.map((row) => ({
        videoId: row.video_id,
        organisationId: row.organisation_id,
        durationSeconds: row.duration_seconds ?? undefined,
        languages: row.languages,
        texts: { title: row.title, mediaTitle: row.media_title, description: row.description, language: row.language },
      }))
    },
  }
}
