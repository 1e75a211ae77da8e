import type { Db } from '@vitascope/postgres'

/** The data of a video that analytics needs. */
export interface Video {
  videoId: string
  organisationId: string
  /** 0 if the video is not playable yet. */
  durationMs: number
  /** Language codes of the video, its audio and its captions. Undefined if the video was read from the database. */
  languages?: readonly string[] | undefined
}

export interface VideoTexts {
  title: string
  mediaTitle: string
  description: string
  language: string
}

/** The last known catalogue data in the database of this service. */
export interface VideoStore {
  find(videoIds: readonly string[]): Promise<Video[]>
  findTexts(videoIds: readonly string[]): Promise<Map<string, VideoTexts>>
  /** Stores the videos. Texts are only updated if all videos have them. */
  save(videos: readonly (Video & { texts?: VideoTexts | undefined })[]): Promise<void>
}

export function createVideoStore(db: Db): VideoStore {
  return {
    async find(videoIds) {
      const rows = await db.query<{ video_id: string; organisation_id: string; duration_ms: number | null }>(
        'select video_id, organisation_id, duration_ms from video where video_id = any ($1::bigint[])',
        [videoIds],
      )
      return rows.map((row) => ({ videoId: row.video_id, organisationId: row.organisation_id, durationMs: row.duration_ms ?? 0 }))
    },
    async findTexts(videoIds) {
      const rows = await db.query<{ video_id: string; media_title: string } & Omit<VideoTexts, 'mediaTitle'>>(
        'select video_id, title, media_title, description, language from video where video_id = any ($1::bigint[])',
        [videoIds],
      )
      return new Map(rows.map(({ video_id, media_title, ...texts }) => [video_id, { ...texts, mediaTitle: media_title }]))
    },
    async save(videos) {
      if (videos.length === 0) return
      await db.query(
        `insert into video as stored (video_id, organisation_id, duration_ms, title, media_title, description, language)
         select video_id, organisation_id, duration_ms, coalesce(title, ''), coalesce(media_title, ''), coalesce(description, ''), coalesce(language, '')
         from unnest($1::bigint[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[])
           as row (video_id, organisation_id, duration_ms, title, media_title, description, language)
         order by video_id
         on conflict (video_id) do update set
           duration_ms = coalesce(excluded.duration_ms, stored.duration_ms), organisation_id = excluded.organisation_id,
           title = case when $8 then excluded.title else stored.title end,
           media_title = case when $8 then excluded.media_title else stored.media_title end,
           description = case when $8 then excluded.description else stored.description end,
           language = case when $8 then excluded.language else stored.language end,
           check_time = now()`,
        [
          videos.map(({ videoId }) => videoId),
          videos.map(({ organisationId }) => organisationId),
          videos.map(({ durationMs }) => durationMs || null),
          videos.map(({ texts }) => texts?.title),
          videos.map(({ texts }) => texts?.mediaTitle),
          videos.map(({ texts }) => texts?.description),
          videos.map(({ texts }) => texts?.language),
          videos.every(({ texts }) => texts !== undefined),
        ],
      )
    },
  }
}
