import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import type { TokenAlgorithm } from '@vitascope/playback-policy'
import { type Db, jsonCodec, type Transaction, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { isId } from '@vitascope/request'
import { addEvent } from '../notification/event/event-store.ts'
import {
  MAX_ACTIVE_KEYS,
  MAX_KEYS,
  type NewPlaybackKey,
  type PlaybackKey,
  type PlaybackKeyFields,
  playbackKeyExists,
  playbackKeysFull,
  tooManyActiveKeys,
} from './playback-key.ts'

/** Identifies a key. If `scope` is null, the key can belong to any organisation. */
export interface PlaybackKeyTarget {
  scope: Scope
  keyId: string
}

/** Methods with a target throw PLAYBACK_KEY_NOT_FOUND. */
export interface PlaybackKeyStore {
  /** Returns all keys, oldest first. */
  list(organisationId: string, signal?: AbortSignal): Promise<PlaybackKey[]>
  /** Throws PLAYBACK_KEYS_FULL, TOO_MANY_ACTIVE_KEYS or PLAYBACK_KEY_EXISTS. */
  create(key: NewPlaybackKey, call: Pick<Call, 'idempotency' | 'signal'>): Promise<PlaybackKey>
  /** Locks the key and stores the fields that `change` returns. Throws TOO_MANY_ACTIVE_KEYS. */
  update(target: PlaybackKeyTarget, change: (current: PlaybackKey) => PlaybackKeyFields, signal?: AbortSignal): Promise<PlaybackKey>
  remove(target: PlaybackKeyTarget, signal?: AbortSignal): Promise<void>
}

const COLUMNS = 'key_id, organisation_id, name, algorithm, public_key, active, create_time'

/** SQL of the active keys of an `organisation o`, for a policy. */
export const ACTIVE_KEYS = `
  coalesce((select json_agg(json_build_object('keyId', k.key_id::text, 'algorithm', k.algorithm, 'publicKey', k.public_key) order by k.key_id)
            from playback_key k where k.organisation_id = o.organisation_id and k.active), '[]')`

export function createPlaybackKeyStore(db: Db): PlaybackKeyStore {
  return {
    async list(organisationId, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<Row>(`select ${COLUMNS} from playback_key where organisation_id = $1 order by key_id`, [organisationId])
      return rows.map(toKey)
    },
    async create({ organisationId, name, algorithm, publicKey, active }, call) {
      const row = await withIdempotency(db, call, jsonCodec<Row>(), async (tx) => {
        const { count, activeCount } = await lockKeys(tx, organisationId)
        if (count >= MAX_KEYS) throw playbackKeysFull()
        if (active && activeCount >= MAX_ACTIVE_KEYS) throw tooManyActiveKeys()
        const [inserted] = await tx.query<Row>(
          `insert into playback_key (organisation_id, name, algorithm, public_key, active) values ($1, $2, $3, $4, $5)
           on conflict do nothing returning ${COLUMNS}`,
          [organisationId, name, algorithm, publicKey, active],
        )
        if (!inserted) throw playbackKeyExists()
        await addKeyEvent(tx, inserted, 'created')
        return inserted
      })
      return toKey(row)
    },
    update: (target, change, signal) =>
      db.transaction(async (tx) => {
        const { organisationId, keyId } = await requireKey(tx, target)
        const { activeCount } = await lockKeys(tx, organisationId)
        // Read again, because it may have changed before the lock.
        const before = await requireKey(tx, target)
        const { name, active } = change(before)
        if (active && !before.active && activeCount >= MAX_ACTIVE_KEYS) throw tooManyActiveKeys()
        const [row] = await tx.query<Row>(`update playback_key set name = $2, active = $3 where key_id = $1 returning ${COLUMNS}`, [
          keyId,
          name,
          active,
        ])
        if (!row) throw notFound('playback key', keyId)
        await addKeyEvent(tx, row, 'changed')
        return toKey(row)
      }, signal),
    remove: (target, signal) =>
      db.transaction(async (tx) => {
        const { keyId } = await requireKey(tx, target)
        const [row] = await tx.query<Row>(`delete from playback_key where key_id = $1 returning ${COLUMNS}`, [keyId])
        if (!row) throw notFound('playback key', keyId)
        await addKeyEvent(tx, row, 'deleted')
      }, signal),
  }
}

async function requireKey({ query }: Pick<Transaction, 'query'>, { scope, keyId }: PlaybackKeyTarget): Promise<PlaybackKey> {
  const [row] = isId(keyId)
    ? await query<Row>(`select ${COLUMNS} from playback_key where key_id = $1 and ($2::bigint is null or organisation_id = $2)`, [
        keyId,
        scope,
      ])
    : []
  if (!row) throw notFound('playback key', keyId)
  return toKey(row)
}

/** Counts the keys of an organisation. Concurrent changes of its keys wait until the transaction ends. */
async function lockKeys(tx: Transaction, organisationId: string): Promise<{ count: number; activeCount: number }> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('playback keys of ' || $1::text, 0))`, [organisationId])
  const [row] = await tx.query<{ count: number; active_count: number }>(
    'select count(*)::int as count, count(*) filter (where active)::int as active_count from playback_key where organisation_id = $1',
    [organisationId],
  )
  return { count: row?.count ?? 0, activeCount: row?.active_count ?? 0 }
}

function addKeyEvent(tx: Transaction, row: Row, change: 'created' | 'changed' | 'deleted'): Promise<void> {
  const { organisation_id: organisationId, key_id: keyId, name, active } = row
  const data = { organisation_id: organisationId, key_id: keyId, name, change, active: active && change !== 'deleted' }
  return addEvent(tx, { type: 'playback_key.changed', organisationId, objectKey: `playback_key:${keyId}`, data })
}

interface Row {
  key_id: string
  organisation_id: string
  name: string
  algorithm: TokenAlgorithm
  public_key: string
  active: boolean
  /** A string in a stored idempotent response. */
  create_time: Date | string
}

function toKey(row: Row): PlaybackKey {
  return {
    keyId: row.key_id,
    organisationId: row.organisation_id,
    name: row.name,
    algorithm: row.algorithm,
    publicKey: row.public_key,
    active: row.active,
    createTime: new Date(row.create_time),
  }
}
