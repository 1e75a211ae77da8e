import type { Db } from '@vitascope/postgres'

export const DOWNLOAD_FILES = ['original', 'mp4', 'audio', 'caption'] as const
export type DownloadFile = (typeof DOWNLOAD_FILES)[number]

export interface DownloadCount {
  videoId: string
  file: DownloadFile
  count: number
}

/** Downloads of a day. */
export interface DownloadDay {
  /** `YYYY-MM-DD` in UTC. */
  day: string
  counts: Readonly<Record<DownloadFile, number>>
}

export interface DownloadsRequest {
  organisationId: string
  /** Undefined for all videos. */
  videoId: string | undefined
  dateStart: string
  dateEnd: string
}

export interface DownloadStore {
  /** Adds downloads of the current UTC day. A report that is repeated within an hour changes nothing. */
  add(reportId: string, counts: readonly DownloadCount[], signal?: AbortSignal): Promise<void>
  /** Returns the days with downloads, oldest first. */
  listDays(request: DownloadsRequest, signal?: AbortSignal): Promise<DownloadDay[]>
  /** Deletes up to `limit` ids of reports that are older than one hour, and returns their number. */
  sweep(limit: number): Promise<number>
}

export function createDownloadStore(db: Db): DownloadStore {
  return {
    add: (reportId, counts, signal) =>
      db.transaction(async (tx) => {
        const inserted = await tx.query('insert into download_report (report_id) values ($1) on conflict do nothing returning 1', [
          reportId,
        ])
        if (inserted.length === 0) return
        await tx.query(
          `insert into download_count (video_id, organisation_id, day, file, count)
           select r.video_id, v.organisation_id, (now() at time zone 'UTC')::date, r.file, sum(r.count)
           from unnest($1::bigint[], $2::text[], $3::int[]) as r (video_id, file, count) join video v using (video_id)
           group by 1, 2, 3, 4 order by 1, 4
           on conflict (video_id, day, file) do update set count = download_count.count + excluded.count`,
          [counts.map(({ videoId }) => videoId), counts.map(({ file }) => file), counts.map(({ count }) => count)],
        )
      }, signal),
    async listDays({ organisationId, videoId, dateStart, dateEnd }, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<{ day: string } & Record<DownloadFile, string>>(
        `select to_char(day, 'YYYY-MM-DD') as day,
           ${DOWNLOAD_FILES.map((file) => `coalesce(sum(count) filter (where file = '${file}'), 0) as ${file}`).join(', ')}
         from download_count where organisation_id = $1 and ($2::bigint is null or video_id = $2) and day between $3 and $4
         group by download_count.day order by download_count.day`,
        [organisationId, videoId ?? null, dateStart, dateEnd],
      )
      return rows.map((row) => ({
        day: row.day,
        counts: { original: Number(row.original), mp4: Number(row.mp4), audio: Number(row.audio), caption: Number(row.caption) },
      }))
    },
    async sweep(limit) {
      const rows = await db.query(
        `delete from download_report where report_id in (
           select report_id from download_report where create_time < now() - interval '1 hour' order by create_time limit $1) returning 1`,
        [limit],
      )
      return rows.length
    },
  }
}
