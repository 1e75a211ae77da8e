import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, storedResponse, type Transaction, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { isId, isStorable } from '@vitascope/request'
import type { References } from '../clients/resolve-references.ts'
import { CLIPS_OF_ENTRY, type ClipRow, toClip } from './clip-row.ts'
import { type Entry, type EntryFields, type EntryHead, entriesFull, MAX_ENTRIES } from './entry.ts'
import { type EntryKey, lockEntry } from './entry-lock.ts'

export interface NewEntry {
  videoId: string
  organisationId: string
  /** Empty if the entry belongs to no user. */
  userId: string
  /** Empty if the address of the user applies. */
  email: string
  byUserId: string
}

/** A page of the entries of a video. It starts after the entry with the id `after`. */
export interface EntryPage {
  scope: Scope
  videoId: string
  after: string
  limit: number
  skip: number
}

type IdempotentCall = Pick<Call, 'idempotency' | 'signal'>

/** Methods that change an entry throw COLLABORATION_NOT_FOUND. */
export interface EntryStore {
  find(key: EntryKey, signal?: AbortSignal): Promise<Entry | undefined>
  findHead(key: EntryKey, signal?: AbortSignal): Promise<EntryHead | undefined>
  /** Returns the entries of a video with this email address or user, newest first. */
  findHeads(
    criteria: { scope: Scope; videoId: string; email: string; userId: string | undefined },
    signal?: AbortSignal,
  ): Promise<EntryHead[]>
  /** Returns entries, oldest first. */
  list(page: EntryPage, signal?: AbortSignal): Promise<Entry[]>
  /** Returns the entry that an earlier attempt of this call created, if there is one. */
  findCreated(call: IdempotentCall): Promise<EntryHead | undefined>
  /** Stores an entry. Throws COLLABORATION_FULL. */
  create(entry: NewEntry, call: IdempotentCall): Promise<EntryHead>
  /** Stores the fields that `change` returns for the locked entry. Returns the entry after and before the change. */
  update(
    key: EntryKey,
    byUserId: string,
    change: (current: EntryFields) => EntryFields,
    signal?: AbortSignal,
  ): Promise<{ entry: Entry; previous: Entry }>
  /** Deletes the entry with its clips and returns it. */
  remove(key: EntryKey, signal?: AbortSignal): Promise<Entry>
  /** Returns the references of the entries whose ids are greater than `after`, ordered by id. */
  listReferences(after: string, limit: number): Promise<(References & { collaborationId: string })[]>
  /** Deletes entries. Skips entries whose user has changed since the row was read. Returns the number of deleted entries. */
  removeAll(rows: readonly (References & { collaborationId: string })[]): Promise<number>
}

const HEAD = `e.entry_id, e.video_id, e.organisation_id, e.user_id, e.email, e.created_by_user_id, e.last_modified_by_user_id, e.create_time,
  e.update_time, (select g.expire_time from guest_link g where g.entry_id = e.entry_id and g.expire_time > now()) as guest_link_expire_time`
const SELECT_ENTRY = `select ${HEAD}, ${CLIPS_OF_ENTRY} as clips from entry e`
const BY_KEY = `where e.entry_id = $1 and ($2::bigint is null or e.organisation_id = $2)`
const OF_VIDEO = `e.video_id = $1 and ($2::bigint is null or e.organisation_id = $2)`

const headCodec = jsonCodec<HeadRow>()

export function createEntryStore(db: Db): EntryStore {
  return {
    async find({ scope, collaborationId }, signal) {
      signal?.throwIfAborted()
      const [row] = isId(collaborationId) ? await db.query<Row>(`${SELECT_ENTRY} ${BY_KEY}`, [collaborationId, scope]) : []
      return row && toEntry(row)
    },
    async findHead({ scope, collaborationId }, signal) {
      signal?.throwIfAborted()
      const [row] = isId(collaborationId) ? await db.query<HeadRow>(`select ${HEAD} from entry e ${BY_KEY}`, [collaborationId, scope]) : []
      return row && toHead(row)
    },
    async findHeads({ scope, videoId, email, userId }, signal) {
      signal?.throwIfAborted()
      // A video has few entries, so the index on the video is sufficient.
      const rows = await db.query<HeadRow>(
        `select ${HEAD} from entry e where ${OF_VIDEO} and (e.email <> '' and lower(e.email) = lower($3) or e.user_id = $4)
         order by e.entry_id desc limit ${MAX_ENTRIES}`,
        [videoId, scope, isStorable(email) ? email : '', userId ?? null],
      )
      return rows.map(toHead)
    },
    async list({ scope, videoId, after, limit, skip }, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<Row>(`${SELECT_ENTRY} where ${OF_VIDEO} and e.entry_id > $3 order by e.entry_id limit $4 offset $5`, [
        videoId,
        scope,
        after,
        limit,
        skip,
      ])
      return rows.map(toEntry)
    },
    async findCreated(call) {
      const row = await storedResponse(db, call, headCodec)
      return row && toHead(row)
    },
    async create({ videoId, organisationId, userId, email, byUserId }, call) {
      const row = await withIdempotency(db, call, headCodec, async (tx) => {
        // Serialises inserts per video, so that the limit is not exceeded.
        await tx.query(`select pg_advisory_xact_lock(hashtextextended('entries of video ' || $1, 0))`, [videoId])
        const [count] = await tx.query<{ entries: number }>('select count(*)::int as entries from entry where video_id = $1', [videoId])
        if ((count?.entries ?? 0) >= MAX_ENTRIES) throw entriesFull()
        const [inserted] = await tx.query<HeadRow>(
          `insert into entry as e (video_id, organisation_id, user_id, email, created_by_user_id, last_modified_by_user_id)
           values ($1, $2, $3, $4, $5, $5) returning ${HEAD}`,
          [videoId, organisationId, userId === '' ? null : userId, email, byUserId],
        )
        if (!inserted) throw new Error('the insert of an entry returned no row')
        return inserted
      })
      return toHead(row)
    },
    update: (key, byUserId, change, signal) =>
      db.transaction(async (tx) => {
        const previous = await lockAndRead(tx, key)
        const { userId, email } = change(previous)
        const [row] = await tx.query<HeadRow>(
          `update entry e set user_id = $2, email = $3, last_modified_by_user_id = $4, update_time = clock_timestamp()
           where entry_id = $1 returning ${HEAD}`,
          [previous.collaborationId, userId === '' ? null : userId, email, byUserId],
        )
        if (!row) throw new Error(`entry ${previous.collaborationId} disappeared while it was locked`)
        return { entry: { ...toHead(row), clips: previous.clips }, previous }
      }, signal),
    remove: (key, signal) =>
      db.transaction(async (tx) => {
        const entry = await lockAndRead(tx, key)
        await tx.query('delete from entry where entry_id = $1', [entry.collaborationId])
        return entry
      }, signal),
    async listReferences(after, limit) {
      const rows = await db.query<Pick<HeadRow, 'entry_id' | 'video_id' | 'user_id'>>(
        'select entry_id, video_id, user_id from entry where entry_id > $1 order by entry_id limit $2',
        [after, limit],
      )
      return rows.map((row) => ({ collaborationId: row.entry_id, videoId: row.video_id, userId: row.user_id ?? '' }))
    },
    async removeAll(references) {
      const removed = await db.query(
        `delete from entry e using unnest($1::bigint[], $2::bigint[]) r (entry_id, user_id)
         where e.entry_id = r.entry_id and e.user_id is not distinct from r.user_id returning 1`,
        [references.map(({ collaborationId }) => collaborationId), references.map(({ userId }) => (userId === '' ? null : userId))],
      )
      return removed.length
    },
  }
}

async function lockAndRead(tx: Transaction, key: EntryKey): Promise<Entry> {
  const entryId = await lockEntry(tx, key)
  const [row] = await tx.query<Row>(`${SELECT_ENTRY} ${BY_KEY}`, [entryId, key.scope])
  if (!row) throw new Error(`entry ${entryId} disappeared while it was locked`)
  return toEntry(row)
}

interface HeadRow {
  entry_id: string
  video_id: string
  organisation_id: string
  user_id: string | null
  email: string
  created_by_user_id: string
  last_modified_by_user_id: string
  /** A string in a stored idempotent response. */
  create_time: Date | string
  update_time: Date | string
  /** An earlier release stored responses of idempotent calls without it. */
  guest_link_expire_time?: Date | string | null
}

interface Row extends HeadRow {
  clips: ClipRow[]
}

function toHead(row: HeadRow): EntryHead {
  return {
    collaborationId: row.entry_id,
    videoId: row.video_id,
    organisationId: row.organisation_id,
    userId: row.user_id ?? '',
    email: row.email,
    createdByUserId: row.created_by_user_id,
    lastModifiedByUserId: row.last_modified_by_user_id,
    createTime: new Date(row.create_time),
    updateTime: new Date(row.update_time),
    guestLinkExpireTime: row.guest_link_expire_time ? new Date(row.guest_link_expire_time) : undefined,
  }
}

function toEntry(row: Row): Entry {
  return { ...toHead(row), clips: row.clips.map(toClip) }
}
