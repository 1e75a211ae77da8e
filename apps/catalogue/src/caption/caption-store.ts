import type { CaptionLine } from '@vitascope/captions'
import { DomainError, notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, storedResponse, type Transaction, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { lockMedia, type MediaKey } from '../publishing/media/media-lock.ts'
import { type Caption, type CaptionFields, MAX_CAPTIONS } from './caption.ts'
import { type CaptionRow, COLUMNS, toCaption } from './caption-row.ts'
import { toSearchableText } from './searched-text.ts'

export interface CaptionKey {
  scope: Scope
  captionId: string
}

/** A caption line with its id. */
export interface StoredLine extends CaptionLine {
  captionLineId: string
}

type IdempotentCall = Pick<Call, 'idempotency' | 'signal'>

/**
 * `update` and `remove` throw CAPTION_NOT_FOUND. `create` and `update` throw MEDIA_NOT_FOUND and
 * CAPTIONS_FULL. `update` throws CAPTION_CHANGED if another request moves the captions meanwhile.
 */
export interface CaptionStore {
  find(key: CaptionKey, signal?: AbortSignal): Promise<Caption | undefined>
  /** Returns captions with their lines, from one snapshot. */
  read(key: CaptionKey, signal?: AbortSignal): Promise<{ caption: Caption; lines: StoredLine[] } | undefined>
  /**
   * Returns the id that an earlier call with this idempotency key created. Throws MEDIA_NOT_FOUND
   * if the media does not exist.
   */
  findCreated(media: MediaKey, call: IdempotentCall): Promise<string | undefined>
  create(media: MediaKey, caption: NewCaption, call: IdempotentCall): Promise<string>
  /** Locks the captions and stores the fields that `change` returns. Replaces the lines if `changes` contains lines. */
  update(key: CaptionKey, changes: CaptionChanges, signal?: AbortSignal): Promise<Caption>
  remove(key: CaptionKey, signal?: AbortSignal): Promise<void>
}

export interface NewCaption {
  title: string
  language: string
  userId: string
  lines: readonly CaptionLine[]
}

export interface CaptionChanges {
  change: (current: CaptionFields) => CaptionFields
  userId: string
  lines: readonly CaptionLine[] | undefined
}

const FIND = `select ${COLUMNS} from caption where caption_id = $1 and ($2::bigint is null or organisation_id = $2)`
/**
 * One statement reads one snapshot. Reading 20,000 lines as one JSON value takes a third of the
 * time of 20,000 rows.
 */
const READ = `select ${COLUMNS}, coalesce((select json_agg(json_build_array(l.caption_line_id::text, l.begin_ms, l.end_ms, l.text)
    order by l.caption_line_id) from caption_line l where l.caption_id = caption.caption_id), '[]') as lines
  from caption where caption_id = $1 and ($2::bigint is null or organisation_id = $2)`
type LineCells = [captionLineId: string, beginMs: number, endMs: number, text: string]
const codec = jsonCodec<{ captionId: string }>()

export function createCaptionStore(db: Db): CaptionStore {
  const find = async ({ captionId, scope }: CaptionKey, signal?: AbortSignal) => {
    signal?.throwIfAborted()
    const [row] = await db.query<CaptionRow>(FIND, [captionId, scope])
    return row && toCaption(row)
  }
  return {
    find,
    async read({ captionId, scope }, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<CaptionRow & { lines: LineCells[] }>(READ, [captionId, scope])
      return row && { caption: toCaption(row), lines: row.lines.map(toLine) }
    },
    async findCreated({ scope, mediaId }, call) {
      const earlierResult = await storedResponse(db, call, codec)
      if (earlierResult) return earlierResult.captionId
      const [media] = await db.query('select 1 from media where media_id = $1 and ($2::bigint is null or organisation_id = $2)', [
        mediaId,
        scope,
      ])
      if (!media) throw notFound('media', mediaId)
      return undefined
    },
    create: async (key, { title, language, userId, lines }, call) => {
      const { captionId } = await withIdempotency(db, call, codec, async (tx) => {
        const media = await requireBelowLimit(tx, key)
        const [row] = await tx.query<{ caption_id: string }>(
          `insert into caption (media_id, organisation_id, title, language, created_by_user_id, last_modified_by_user_id, plain_text)
           values ($1, $2, $3, $4, $5, $5, $6) returning caption_id`,
          [media.mediaId, media.organisationId, title, language, userId, toSearchableText(lines)],
        )
        if (!row) throw new Error('the insert of captions returned no row')
        await insertLines(tx, row.caption_id, lines)
        return { captionId: row.caption_id }
      })
      return captionId
    },
    update: (key, { change, userId, lines }, signal) =>
      db.transaction(async (tx) => {
        const before = await readCaption(tx, key)
        const after = change(before)
        // Lock order: media before captions, as everywhere.
        if (after.mediaId !== before.mediaId) await requireBelowLimit(tx, { scope: before.organisationId, mediaId: after.mediaId })
        const current = await readCaption(tx, key, 'for update')
        const { mediaId, title, language } = change(current)
        if (mediaId !== after.mediaId)
          throw new DomainError('conflict', 'CAPTION_CHANGED', 'the captions were moved by another request; try again')
        const [row] = await tx.query<CaptionRow>(
          `update caption set media_id = $2, title = $3, language = $4, last_modified_by_user_id = $5, update_time = clock_timestamp(),
             revision = revision + $6 ${lines ? ', plain_text = $7' : ''}
           where caption_id = $1 returning ${COLUMNS}`,
          [current.captionId, mediaId, title, language, userId, ...(lines ? [1, toSearchableText(lines)] : [0])],
        )
        if (!row) throw new Error(`captions ${current.captionId} disappeared while they were locked`)
        if (lines) {
          await tx.query('delete from caption_line where caption_id = $1', [current.captionId])
          await insertLines(tx, current.captionId, lines)
        }
        return toCaption(row)
      }, signal),
    remove: async ({ captionId, scope }, signal) => {
      await db.transaction(async (tx) => {
        const removed = await tx.query(
          'delete from caption where caption_id = $1 and ($2::bigint is null or organisation_id = $2) returning caption_id',
          [captionId, scope],
        )
        if (removed.length === 0) throw notFound('caption', captionId)
      }, signal)
    },
  }
}

function toLine([captionLineId, beginMs, endMs, text]: LineCells): StoredLine {
  return { captionLineId, beginMs, endMs, text }
}

async function insertLines(tx: Transaction, captionId: string, lines: readonly CaptionLine[]): Promise<void> {
  await tx.query(
    `insert into caption_line (caption_id, begin_ms, end_ms, text)
     select $1, begin_ms, end_ms, text from unnest($2::int[], $3::int[], $4::text[]) with ordinality as line (begin_ms, end_ms, text, position)
     order by position`,
    [captionId, lines.map(({ beginMs }) => beginMs), lines.map(({ endMs }) => endMs), lines.map(({ text }) => text)],
  )
}

/**
 * Locks the media and throws CAPTIONS_FULL if it has the maximum number of captions. The lock
 * serialises concurrent inserts.
 */
async function requireBelowLimit(tx: Transaction, { scope, mediaId }: MediaKey) {
  const media = await lockMedia(tx, mediaId, scope)
  if (!media) throw notFound('media', mediaId)
  const [row] = await tx.query<{ count: number }>('select count(*)::int as count from caption where media_id = $1', [mediaId])
  if ((row?.count ?? 0) >= MAX_CAPTIONS) {
    throw new DomainError('failed_precondition', 'CAPTIONS_FULL', `a media has at most ${MAX_CAPTIONS} captions; delete some first`)
  }
  return media
}

async function readCaption(tx: Transaction, { captionId, scope }: CaptionKey, lock: '' | 'for update' = ''): Promise<Caption> {
  const [row] = await tx.query<CaptionRow>(`${FIND} ${lock}`, [captionId, scope])
  if (!row) throw notFound('caption', captionId)
  return toCaption(row)
}
