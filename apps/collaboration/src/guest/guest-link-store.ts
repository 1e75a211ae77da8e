import { createHash, randomBytes } from 'node:crypto'
import type { Db } from '@vitascope/postgres'
import { type EntryKey, lockEntry } from '../entry/entry-lock.ts'

/** A valid link with its entry. */
export interface GuestLink {
  collaborationId: string
  organisationId: string
  expireTime: Date
}

/** Stores the guest links of entries, at most one per entry. */
export interface GuestLinkStore {
  /** Replaces the link of an entry. Returns the token, of which only a hash is stored. Throws COLLABORATION_NOT_FOUND. */
  set(key: EntryKey, seconds: number, signal?: AbortSignal): Promise<{ token: string; expireTime: Date }>
  /** Ends the link of an entry, if there is one. Throws COLLABORATION_NOT_FOUND. */
  remove(key: EntryKey, signal?: AbortSignal): Promise<void>
  /** Returns the link of a token, or undefined if it has ended or never existed. */
  find(token: string, signal?: AbortSignal): Promise<GuestLink | undefined>
}

/** 256 random bits, so that a hash without a salt suffices. */
const TOKEN_BYTES = 32
const TOKEN = /^[\w-]{43}$/

export function createGuestLinkStore(db: Db): GuestLinkStore {
  return {
    set: (key, seconds, signal) =>
      db.transaction(async (tx) => {
        const entryId = await lockEntry(tx, key)
        const token = randomBytes(TOKEN_BYTES).toString('base64url')
        const [row] = await tx.query<{ expire_time: Date }>(
          `insert into guest_link (entry_id, token_hash, expire_time) values ($1, $2, now() + make_interval(secs => $3))
           on conflict (entry_id) do update set token_hash = excluded.token_hash, expire_time = excluded.expire_time, create_time = now()
           returning expire_time`,
          [entryId, hashToken(token), seconds],
        )
        if (!row) throw new Error(`the insert of a link of entry ${entryId} returned no row`)
        return { token, expireTime: row.expire_time }
      }, signal),
    remove: (key, signal) =>
      db.transaction(async (tx) => {
        await tx.query('delete from guest_link where entry_id = $1', [await lockEntry(tx, key)])
      }, signal),
    async find(token, signal) {
      signal?.throwIfAborted()
      if (!TOKEN.test(token)) return undefined
      const [row] = await db.query<{ entry_id: string; organisation_id: string; expire_time: Date }>(
        `select entry_id, e.organisation_id, g.expire_time from guest_link g join entry e using (entry_id)
         where g.token_hash = $1 and g.expire_time > now()`,
        [hashToken(token)],
      )
      return row && { collaborationId: row.entry_id, organisationId: row.organisation_id, expireTime: row.expire_time }
    },
  }
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
