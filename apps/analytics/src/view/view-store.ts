import type { Query } from '@vitascope/postgres'
import type { ViewPart } from './view.ts'

interface Row {
  view_id: string
  video_id: string
  duration_ms: number
  organisation_id: string
  first_ms: string
  last_ms: string
  played: boolean
  furthest_ms: number
  buckets: number
  watched: Buffer
  rewatched: Buffer
  language: string
  language_ms: string
  subtitle: string
  subtitle_ms: string
  startup_ms: number | null
  stalls: number | null
  stalled_ms: number | null
  failed: boolean
}

/** The parts of the given views, locked in the order of their keys. */
export async function lockParts(query: Query, views: readonly { viewId: string; videoId: string }[]): Promise<ViewPart[]> {
  const rows = await query<Row>(
    `select v.* from view v join unnest($1::uuid[], $2::bigint[]) wanted (view_id, video_id) using (view_id, video_id)
     order by v.view_id, v.video_id, v.duration_ms for update of v`,
    [views.map(({ viewId }) => viewId), views.map(({ videoId }) => videoId)],
  )
  return rows.map(toPart)
}

export async function saveParts(query: Query, parts: readonly ViewPart[]): Promise<void> {
  if (parts.length === 0) return
  await query(
    `insert into view (view_id, video_id, duration_ms, organisation_id, first_ms, last_ms, played, furthest_ms, buckets, watched,
       rewatched, language, language_ms, subtitle, subtitle_ms, startup_ms, stalls, stalled_ms, failed)
     select * from unnest($1::uuid[], $2::bigint[], $3::int[], $4::bigint[], $5::bigint[], $6::bigint[], $7::boolean[], $8::int[],
       $9::int[], $10::bytea[], $11::bytea[], $12::text[], $13::bigint[], $14::text[], $15::bigint[], $16::int[], $17::int[],
       $18::int[], $19::boolean[])
     on conflict (view_id, video_id, duration_ms) do update set
       first_ms = excluded.first_ms, last_ms = excluded.last_ms, played = excluded.played, furthest_ms = excluded.furthest_ms,
       buckets = excluded.buckets, watched = excluded.watched, rewatched = excluded.rewatched,
       language = excluded.language, language_ms = excluded.language_ms, subtitle = excluded.subtitle, subtitle_ms = excluded.subtitle_ms,
       startup_ms = excluded.startup_ms, stalls = excluded.stalls, stalled_ms = excluded.stalled_ms, failed = excluded.failed`,
    [
      parts.map(({ viewId }) => viewId),
      parts.map(({ videoId }) => videoId),
      parts.map(({ durationMs }) => durationMs),
      parts.map(({ organisationId }) => organisationId),
      parts.map(({ firstMs }) => firstMs),
      parts.map(({ lastMs }) => lastMs),
      parts.map(({ played }) => played),
      parts.map(({ furthestMs }) => furthestMs),
      parts.map(({ buckets }) => buckets),
      parts.map(({ watched }) => Buffer.from(watched)),
      parts.map(({ rewatched }) => Buffer.from(rewatched)),
      parts.map(({ language }) => language.text),
      parts.map(({ language }) => language.atMs),
      parts.map(({ subtitle }) => subtitle.text),
      parts.map(({ subtitle }) => subtitle.atMs),
      parts.map(({ quality }) => quality?.startupMs ?? null),
      parts.map(({ quality }) => quality?.stalls ?? null),
      parts.map(({ quality }) => quality?.stalledMs ?? null),
      parts.map(({ failed }) => failed),
    ],
  )
}

function toPart(row: Row): ViewPart {
  return {
    viewId: row.view_id,
    videoId: row.video_id,
    durationMs: row.duration_ms,
    organisationId: row.organisation_id,
    firstMs: Number(row.first_ms),
    lastMs: Number(row.last_ms),
    played: row.played,
    furthestMs: row.furthest_ms,
    buckets: row.buckets,
    watched: new Uint8Array(row.watched),
    rewatched: new Uint8Array(row.rewatched),
    language: { text: row.language, atMs: Number(row.language_ms) },
    subtitle: { text: row.subtitle, atMs: Number(row.subtitle_ms) },
    quality:
      row.stalls === null ? undefined : { startupMs: row.startup_ms ?? undefined, stalls: row.stalls, stalledMs: row.stalled_ms ?? 0 },
    failed: row.failed,
  }
}
