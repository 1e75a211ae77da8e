import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, storedResponse, type Transaction, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { isId } from '@vitascope/request'
import type { References } from '../clients/resolve-references.ts'
import { type Clip, type ClipFields, clipsFull, MAX_CLIPS, orderClips } from './clip.ts'
import { CLIP_COLUMNS, type ClipRow, toClip } from './clip-row.ts'
import { type EntryKey, lockEntry } from './entry-lock.ts'

export interface ClipKey {
  scope: Scope
  clipId: string
}

type IdempotentCall = Pick<Call, 'idempotency' | 'signal'>

/** All methods with a key except `find` throw COLLABORATION_NOT_FOUND or CLIP_NOT_FOUND. */
export interface ClipStore {
  /** Returns a clip with the references of its entry. */
  find(key: ClipKey, signal?: AbortSignal): Promise<(References & { clip: Clip }) | undefined>
  /** Returns the clip that an earlier attempt of this call created, if there is one. */
  findCreated(call: IdempotentCall): Promise<Clip | undefined>
  /** Appends a clip. Throws CLIPS_FULL. */
  create(key: EntryKey, fields: ClipFields, call: IdempotentCall): Promise<Clip>
  /** Stores the fields that `change` returns for the locked clip. Returns the clip after and before the change. */
  update(key: ClipKey, change: (current: ClipFields) => ClipFields, signal?: AbortSignal): Promise<{ clip: Clip; previous: Clip }>
  /** Deletes the clip and returns it. The positions of later clips decrease by one. */
  remove(key: ClipKey, signal?: AbortSignal): Promise<Clip>
  /**
   * Returns the clips in the new and in the previous order. Throws `invalid` if the ids are not a
   * permutation of the clips.
   */
  order(key: EntryKey, clipIds: readonly string[], signal?: AbortSignal): Promise<{ clips: Clip[]; previous: Clip[] }>
}

const clipCodec = jsonCodec<ClipRow>()
const OF_CLIP = `from clip c join entry e using (entry_id) where c.clip_id = $1 and ($2::bigint is null or e.organisation_id = $2)`
const FIELD_COLUMNS = 'title, comments, time_start, time_finish, time_start_millis, time_finish_millis, type, preview, resolved'

/** Returns the values of `FIELD_COLUMNS`. */
function toValues({ title, comments, timeStart, timeFinish, timeStartMillis, timeFinishMillis, type, preview, resolved }: ClipFields) {
  return [title, comments, timeStart, timeFinish, timeStartMillis, timeFinishMillis, type, preview, resolved]
}

export function createClipStore(db: Db): ClipStore {
  return {
    async find({ scope, clipId }, signal) {
      signal?.throwIfAborted()
      if (!isId(clipId)) return undefined
      const [row] = await db.query<ClipRow & { video_id: string; user_id: string | null }>(`select c.*, e.video_id, e.user_id ${OF_CLIP}`, [
        clipId,
        scope,
      ])
      return row && { clip: toClip(row), videoId: row.video_id, userId: row.user_id ?? '' }
    },
    async findCreated(call) {
      const row = await storedResponse(db, call, clipCodec)
      return row && toClip(row)
    },
    async create(key, fields, call) {
      const row = await withIdempotency(db, call, clipCodec, async (tx) => {
        const entryId = await lockEntry(tx, key)
        const [count] = await tx.query<{ clips: number }>('select count(*)::int as clips from clip where entry_id = $1', [entryId])
        const position = count?.clips ?? 0
        if (position >= MAX_CLIPS) throw clipsFull()
        const [inserted] = await tx.query<ClipRow>(
          `insert into clip (entry_id, ${FIELD_COLUMNS}, position)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${CLIP_COLUMNS}`,
          [entryId, ...toValues(fields), position],
        )
        return requireRow(inserted, entryId)
      })
      return toClip(row)
    },
    update: ({ scope, clipId }, change, signal) =>
      db.transaction(async (tx) => {
        const [row] = isId(clipId) ? await tx.query<ClipRow>(`select c.* ${OF_CLIP} for update of c`, [clipId, scope]) : []
        if (!row) throw notFound('clip', clipId)
        const previous = toClip(row)
        const fields = change(previous)
        const [updated] = await tx.query<ClipRow>(
          `update clip set (${FIELD_COLUMNS}) = ($2, $3, $4, $5, $6, $7, $8, $9, $10)
           where clip_id = $1 returning ${CLIP_COLUMNS}`,
          [clipId, ...toValues(fields)],
        )
        return { clip: toClip(requireRow(updated, clipId)), previous }
      }, signal),
    remove: ({ scope, clipId }, signal) =>
      db.transaction(async (tx) => {
        const [clip] = isId(clipId) ? await tx.query<{ entry_id: string }>(`select e.entry_id ${OF_CLIP}`, [clipId, scope]) : []
        if (!clip) throw notFound('clip', clipId)
        await lockEntry(tx, { scope, collaborationId: clip.entry_id }, { noun: 'clip', id: clipId })
        const [row] = await tx.query<ClipRow>(`delete from clip where clip_id = $1 returning ${CLIP_COLUMNS}`, [clipId])
        if (!row) throw notFound('clip', clipId)
        await tx.query('update clip set position = position - 1 where entry_id = $1 and position > $2', [row.entry_id, row.position])
        return toClip(row)
      }, signal),
    order: (key, clipIds, signal) =>
      db.transaction(async (tx) => {
        const entryId = await lockEntry(tx, key)
        const previous = await readClips(tx, entryId)
        const clips = orderClips(previous, clipIds)
        await tx.query(
          `update clip c set position = p.position - 1 from unnest($2::bigint[]) with ordinality p (clip_id, position)
           where c.entry_id = $1 and c.clip_id = p.clip_id`,
          [entryId, clipIds],
        )
        return { clips, previous }
      }, signal),
  }
}

async function readClips({ query }: Transaction, entryId: string): Promise<Clip[]> {
  return (await query<ClipRow>(`select ${CLIP_COLUMNS} from clip where entry_id = $1 order by position`, [entryId])).map(toClip)
}

function requireRow(row: ClipRow | undefined, owner: string): ClipRow {
  if (!row) throw new Error(`a clip of ${owner} disappeared while it was locked`)
  return row
}
