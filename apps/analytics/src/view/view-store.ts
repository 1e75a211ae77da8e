import type { Query, Transaction } from '@vitascope/postgres'
import { copyBytes, copyText, inParts, NULL } from '../event/copy-text.ts'
import { arrayOf, bytesArrayOf } from './array-text.ts'
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

const COLUMNS = `view_id, video_id, duration_ms, organisation_id, first_ms, last_ms, played, furthest_ms, buckets, watched, rewatched,
  language, language_ms, subtitle, subtitle_ms, startup_ms, stalls, stalled_ms, failed`

/** The parts of the given views. Whoever changes views holds the lock of the merge, so that these need none of their own. */
export async function readParts(query: Query, views: readonly { viewId: string; videoId: string }[]): Promise<ViewPart[]> {
  const rows = await query<Row>(
    'select v.* from unnest($1::uuid[], $2::bigint[]) wanted (view_id, video_id) join view v using (view_id, video_id)',
    [arrayOf(views, ({ viewId }) => viewId), arrayOf(views, ({ videoId }) => videoId)],
  )
  return rows.map(toPart)
}

/** Those that were not there when the others were read; only the merge makes them, so nobody did since. */
export async function addParts(copy: Transaction['copy'], parts: readonly ViewPart[]): Promise<void> {
  if (parts.length > 0) await copy(`copy view (${COLUMNS}) from stdin`, inParts(lines(parts)))
}

function* lines(parts: readonly ViewPart[]): Generator<string> {
  for (const part of parts) {
    const { viewId, videoId, durationMs, organisationId, firstMs, lastMs, played, furthestMs, buckets, language, subtitle, quality } = part
    const seen = `${played}\t${furthestMs}\t${buckets}\t${copyBytes(part.watched)}\t${copyBytes(part.rewatched)}`
    const named = `${copyText(language.text)}\t${language.atMs}\t${copyText(subtitle.text)}\t${subtitle.atMs}`
    const measured = quality ? `${quality.startupMs ?? NULL}\t${quality.stalls}\t${quality.stalledMs}` : `${NULL}\t${NULL}\t${NULL}`
    yield `${viewId}\t${videoId}\t${durationMs}\t${organisationId}\t${firstMs}\t${lastMs}\t${seen}\t${named}\t${measured}\t${part.failed}\n`
  }
}

export async function saveParts(query: Query, parts: readonly ViewPart[]): Promise<void> {
  if (parts.length === 0) return
  await query(
    `update view set
       first_ms = part.first_ms, last_ms = part.last_ms, played = part.played, furthest_ms = part.furthest_ms,
       buckets = part.buckets, watched = part.watched, rewatched = part.rewatched,
       language = part.language, language_ms = part.language_ms, subtitle = part.subtitle, subtitle_ms = part.subtitle_ms,
       startup_ms = part.startup_ms, stalls = part.stalls, stalled_ms = part.stalled_ms, failed = part.failed
     from unnest($1::uuid[], $2::bigint[], $3::int[], $4::bigint[], $5::bigint[], $6::boolean[], $7::int[], $8::int[], $9::bytea[],
       $10::bytea[], $11::text[], $12::bigint[], $13::text[], $14::bigint[], $15::int[], $16::int[], $17::int[], $18::boolean[]) as part
       (view_id, video_id, duration_ms, first_ms, last_ms, played, furthest_ms, buckets, watched, rewatched, language, language_ms,
       subtitle, subtitle_ms, startup_ms, stalls, stalled_ms, failed)
     where view.view_id = part.view_id and view.video_id = part.video_id and view.duration_ms = part.duration_ms`,
    [
      arrayOf(parts, ({ viewId }) => viewId),
      arrayOf(parts, ({ videoId }) => videoId),
      arrayOf(parts, ({ durationMs }) => durationMs),
      arrayOf(parts, ({ firstMs }) => firstMs),
      arrayOf(parts, ({ lastMs }) => lastMs),
      arrayOf(parts, ({ played }) => String(played)),
      arrayOf(parts, ({ furthestMs }) => furthestMs),
      arrayOf(parts, ({ buckets }) => buckets),
      bytesArrayOf(parts, ({ watched }) => watched),
      bytesArrayOf(parts, ({ rewatched }) => rewatched),
      parts.map(({ language }) => language.text),
      arrayOf(parts, ({ language }) => language.atMs),
      parts.map(({ subtitle }) => subtitle.text),
      arrayOf(parts, ({ subtitle }) => subtitle.atMs),
      arrayOf(parts, ({ quality }) => quality?.startupMs ?? null),
      arrayOf(parts, ({ quality }) => quality?.stalls ?? null),
      arrayOf(parts, ({ quality }) => quality?.stalledMs ?? null),
      arrayOf(parts, ({ failed }) => String(failed)),
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
