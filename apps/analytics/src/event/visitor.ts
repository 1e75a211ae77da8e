import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Db } from '@vitascope/postgres'
import { DAY_MS, toDay } from '../view/day.ts'

/**
 * Derives an anonymous visitor id from the IP address and the user agent. It is stable for one UTC day
 * and cannot be linked across days, because each day has its own random salt.
 */
export interface Visitors {
  /**
   * Returns the id as 16 hex digits, or undefined if the address is empty. `day` is `YYYY-MM-DD` (UTC).
   * Throws `unavailable` if the salt of the day is not in memory and the database is unavailable.
   */
  findId(client: { address: string; userAgent: string; day: string }): Promise<string | undefined>
  /**
   * Loads the salts of yesterday, today and tomorrow into memory, so that they are available during
   * a database outage. Creates missing ones. Deletes older salts from memory and the database.
   */
  renewSalts(): Promise<void>
}

/** Maximum number of cached ids. Players send events every few seconds, so most ids are cached. */
const MAX_CACHED = 20_000

export function createVisitors(db: Db, now: () => number = Date.now): Visitors {
  const salts = new Map<string, KeyObject>()
  /** Visitor ids that were computed since the last call of `renewSalts`. */
  const cache = new Map<string, string>()
  /** Returns the salt of a day from memory or the database. The first process that needs a salt creates it. */
  const loadSalt = async (day: string) => {
    const cached = salts.get(day)
    if (cached) return cached
    await db.query('insert into salt (day, salt) values ($1, $2) on conflict do nothing', [day, randomBytes(32)])
    const [row] = await db.query<{ salt: Buffer }>('select salt from salt where day = $1', [day])
    if (!row) throw new Error(`the salt of ${day} was deleted`)
    const salt = createSecretKey(row.salt)
    salts.set(day, salt)
    return salt
  }
  return {
    async findId({ address, userAgent, day }) {
      if (address === '') return undefined
      const client = `${address}\0${userAgent}`
      const key = `${day} ${client}`
      const cached = cache.get(key)
      if (cached !== undefined) return cached
      const visitor = createHmac('sha256', await loadSalt(day))
        .update(client)
        .digest('hex')
        .slice(0, 16)
      if (cache.size >= MAX_CACHED) cache.clear()
      cache.set(key, visitor)
      return visitor
    },
    async renewSalts() {
      cache.clear()
      const days = [-1, 0, 1].map((shift) => toDay(now() + shift * DAY_MS))
      for (const day of days) await loadSalt(day)
      for (const day of salts.keys()) if (!days.includes(day)) salts.delete(day)
      await db.query('delete from salt where day < $1', [days[0]])
    },
  }
}
