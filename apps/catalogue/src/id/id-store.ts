import type { Db } from '@vitascope/postgres'
import type { RandomTexts } from '../rules/random-text.ts'

export interface IdStore extends RandomTexts {
  next(signal?: AbortSignal): Promise<string>
}

export function createIdStore(db: Db): IdStore {
  return {
    async claim(text, signal) {
      signal?.throwIfAborted()
      const rows = await db.query('insert into random_id (id) values ($1) on conflict do nothing returning id', [text])
      return rows.length === 1
    },
    async next(signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<{ id: string }>(`select nextval('next_id') as id`)
      if (!row) throw new Error('nextval returned no row')
      return row.id
    },
  }
}
