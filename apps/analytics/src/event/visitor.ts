import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Db } from '@vitascope/postgres'
import { dayOf } from '../view/contribution.ts'

/** Makes viewers of addresses, so that the same one is the same viewer for a UTC day, and nobody afterwards. */
export interface Visitors {
  /** 8 bytes in hex; undefined without an address. Refuses as unavailable when the salt of the day is not to be had. */
  of(who: { address: string; userAgent: string; day: string }): Promise<string | undefined>
  /** Has the salts of the days around today at hand, also for when the database is away, and forgets the older ones everywhere. */
  renew(): Promise<void>
}

const DAY_MS = 86_400_000
/** Whoever watches tells of it every few seconds. */
const MOST_REMEMBERED = 20_000

export function createVisitors(db: Db, now: () => number = Date.now): Visitors {
  const salts = new Map<string, KeyObject>()
  /** Viewers of the last minute at most. */
  const remembered = new Map<string, string>()
  const saltOf = async (day: string) => {
    const known = salts.get(day)
    if (known) return known
    await db.query('insert into salt (day, salt) values ($1, $2) on conflict do nothing', [day, randomBytes(32)])
    const [row] = await db.query<{ salt: Buffer }>('select salt from salt where day = $1', [day])
    if (!row) throw new Error(`the salt of ${day} is gone`)
    const salt = createSecretKey(row.salt)
    salts.set(day, salt)
    return salt
  }
  return {
    async of({ address, userAgent, day }) {
      if (address === '') return undefined
      const who = `${address}\0${userAgent}`
      const key = `${day} ${who}`
      const known = remembered.get(key)
      if (known !== undefined) return known
      const visitor = createHmac('sha256', await saltOf(day))
        .update(who)
        .digest('hex')
        .slice(0, 16)
      if (remembered.size >= MOST_REMEMBERED) remembered.clear()
      remembered.set(key, visitor)
      return visitor
    },
    async renew() {
      remembered.clear()
      const days = [-1, 0, 1].map((shift) => dayOf(now() + shift * DAY_MS))
      for (const day of days) await saltOf(day)
      for (const day of salts.keys()) if (!days.includes(day)) salts.delete(day)
      await db.query('delete from salt where day < $1', [days[0]])
    },
  }
}
