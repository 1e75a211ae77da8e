import type { Query, Transaction } from '@vitascope/postgres'
import { toArrayText, toBytesArrayText } from './array-text.ts'
import { escapeCopyText, formatCopyBytes, joinInChunks, NULL } from './copy-text.ts'
import { DAY_MS, toDay } from './day.ts'
import type { ViewPart } from './view.ts'

interface ViewRow {
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
  switches: number | null
  failed: boolean
  client: string | null
  client_ms: string | null
  last_day: string
}

/** A part with the day of the last event of its view. The day determines the partition. */
export type StoredPart = ViewPart & { lastDay: string }

const COLUMNS = `view_id, video_id, duration_ms, organisation_id, first_ms, last_ms, played, furthest_ms, buckets, watched, rewatched,
  language, language_ms, subtitle, subtitle_ms, startup_ms, stalls, stalled_ms, switches, failed, client, client_ms, last_day`

/** The columns of the quality of a part that has none. */
const NO_QUALITY = [NULL, NULL, NULL, NULL].join('\t')
/** The columns of the client of a part whose events have none. */
const NO_CLIENT = `${NULL}\t${NULL}`
/** Maximum number of views per statement that searches all partitions. */
const MAX_SEARCHED = 2_000

/** Returns the stored parts of the views. It does not lock rows, so a caller that changes them must have the merge lock. */
export async function readParts(query: Query, views: readonly { viewId: string; videoId: string }[]): Promise<StoredPart[]> {
  // Most stored views had an event in the last seven days. Older partitions are only searched for
  // the other views.
  const recentDays = [toDay(Date.now() - 7 * DAY_MS), toDay(Date.now() + 2 * DAY_MS)]
  const find = (searched: readonly { viewId: string; videoId: string }[], days: string) =>
    query<ViewRow>(
      `select v.view_id, v.video_id, v.duration_ms, v.organisation_id, v.first_ms, v.last_ms, v.played, v.furthest_ms, v.buckets, v.watched,
         v.rewatched, v.language, v.language_ms, v.subtitle, v.subtitle_ms, v.startup_ms, v.stalls, v.stalled_ms, v.switches, v.failed,
         v.client, v.client_ms, v.last_day::text as last_day
       from unnest($1::uuid[], $2::bigint[]) searched (view_id, video_id) join view v using (view_id, video_id) where ${days}`,
      [toArrayText(searched, ({ viewId }) => viewId), toArrayText(searched, ({ videoId }) => videoId), ...recentDays],
    )
  const recent = await find(views, 'v.last_day >= $3::date and v.last_day < $4::date')
  const recentKeys = new Set(recent.map((row) => `${row.view_id} ${row.video_id}`))
  const notRecent = views.filter(({ viewId, videoId }) => !recentKeys.has(`${viewId} ${videoId}`))
  const parts = recent.map(toPart)
  for (let offset = 0; offset < notRecent.length; offset += MAX_SEARCHED) {
    const chunk = notRecent.slice(offset, offset + MAX_SEARCHED)
    parts.push(...(await find(chunk, '(v.last_day < $3::date or v.last_day >= $4::date)')).map(toPart))
  }
  return parts
}

/**
 * Inserts parts that `readParts` did not return. The caller must have the merge lock, so no other
 * process has inserted them in the meantime.
 */
export async function addParts(copy: Transaction['copy'], parts: readonly StoredPart[]): Promise<void> {
  if (parts.length > 0) await copy(`copy view (${COLUMNS}) from stdin`, joinInChunks(formatLines(parts)))
}

function* formatLines(parts: readonly StoredPart[]): Generator<string> {
  for (const part of parts) {
    const { viewId, videoId, durationMs, organisationId, firstMs, lastMs, played, furthestMs, buckets, language, subtitle, quality } = part
    const watchedColumns = `${played}\t${furthestMs}\t${buckets}\t${formatCopyBytes(part.watched)}\t${formatCopyBytes(part.rewatched)}`
    const textColumns = `${escapeCopyText(language.text)}\t${language.atMs}\t${escapeCopyText(subtitle.text)}\t${subtitle.atMs}`
    const qualityColumns = quality
      ? `${quality.startupMs ?? NULL}\t${quality.stalls}\t${quality.stalledMs}\t${quality.switches}`
      : NO_QUALITY
    yield `${viewId}\t${videoId}\t${durationMs}\t${organisationId}\t${firstMs}\t${lastMs}\t${watchedColumns}\t${textColumns}\t${qualityColumns}\t${part.failed}\t${formatClientColumns(part)}\t${part.lastDay}\n`
  }
}

function formatClientColumns({ client }: ViewPart): string {
  return client.text === '' ? NO_CLIENT : `${escapeCopyText(client.text)}\t${client.atMs}`
}

/** Updates stored parts. `previousDay` is in the current partition of a part, `lastDay` in its new one. */
export async function saveParts(query: Query, parts: readonly (StoredPart & { previousDay: string })[]): Promise<void> {
  if (parts.length === 0) return
  await query(
    `update view set
       first_ms = part.first_ms, last_ms = part.last_ms, played = part.played, furthest_ms = part.furthest_ms,
       buckets = part.buckets, watched = part.watched, rewatched = part.rewatched,
       language = part.language, language_ms = part.language_ms, subtitle = part.subtitle, subtitle_ms = part.subtitle_ms,
       startup_ms = part.startup_ms, stalls = part.stalls, stalled_ms = part.stalled_ms, switches = part.switches, failed = part.failed,
       client = part.client, client_ms = part.client_ms, last_day = part.last_day
     from unnest($1::uuid[], $2::bigint[], $3::int[], $4::bigint[], $5::bigint[], $6::boolean[], $7::int[], $8::int[], $9::bytea[],
       $10::bytea[], $11::text[], $12::bigint[], $13::text[], $14::bigint[], $15::int[], $16::int[], $17::int[], $18::int[],
       $19::boolean[], $20::date[], $21::date[], $22::text[], $23::bigint[]) as part
       (view_id, video_id, duration_ms, first_ms, last_ms, played, furthest_ms, buckets, watched, rewatched, language, language_ms,
       subtitle, subtitle_ms, startup_ms, stalls, stalled_ms, switches, failed, last_day, previous_day, client,
       client_ms)
     where view.view_id = part.view_id and view.video_id = part.video_id and view.duration_ms = part.duration_ms
       and view.last_day = part.previous_day`,
    [
      toArrayText(parts, ({ viewId }) => viewId),
      toArrayText(parts, ({ videoId }) => videoId),
      toArrayText(parts, ({ durationMs }) => durationMs),
      toArrayText(parts, ({ firstMs }) => firstMs),
      toArrayText(parts, ({ lastMs }) => lastMs),
      toArrayText(parts, ({ played }) => String(played)),
      toArrayText(parts, ({ furthestMs }) => furthestMs),
      toArrayText(parts, ({ buckets }) => buckets),
      toBytesArrayText(parts, ({ watched }) => watched),
      toBytesArrayText(parts, ({ rewatched }) => rewatched),
      parts.map(({ language }) => language.text),
      toArrayText(parts, ({ language }) => language.atMs),
      parts.map(({ subtitle }) => subtitle.text),
      toArrayText(parts, ({ subtitle }) => subtitle.atMs),
      toArrayText(parts, ({ quality }) => quality?.startupMs ?? null),
      toArrayText(parts, ({ quality }) => quality?.stalls ?? null),
      toArrayText(parts, ({ quality }) => quality?.stalledMs ?? null),
      toArrayText(parts, ({ quality }) => quality?.switches ?? null),
      toArrayText(parts, ({ failed }) => String(failed)),
      toArrayText(parts, ({ lastDay }) => lastDay),
      toArrayText(parts, ({ previousDay }) => previousDay),
      parts.map(({ client }) => client.text || null),
      toArrayText(parts, ({ client }) => (client.text === '' ? null : client.atMs)),
    ],
  )
}

function toPart(row: ViewRow): StoredPart {
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
      row.stalls === null
        ? undefined
        : { startupMs: row.startup_ms ?? undefined, stalls: row.stalls, stalledMs: row.stalled_ms ?? 0, switches: row.switches ?? 0 },
    failed: row.failed,
    client: { text: row.client ?? '', atMs: Number(row.client_ms ?? 0) },
    lastDay: row.last_day,
  }
}
