import type { Db, Transaction } from '@vitascope/postgres'
import { COLUMNS } from './event-line.ts'

/** Events of many callers, written at once. */
export interface Batch {
  /** Of COPY's text form, without the batch. */
  lines: readonly string[]
  /** `YYYY-MM-DD`, each once. */
  days: readonly string[]
}

export interface EventStore {
  /** Durable when it comes back, with the number of the insert. */
  write(batch: Batch): Promise<string>
  /** Makes the partitions of the days, where they are missing. */
  prepare(days: readonly string[]): Promise<void>
}

/** Whoever makes or drops partitions holds it until the end of the transaction. */
export const PARTITION_LOCK = `select pg_advisory_xact_lock(hashtext('vitascope analytics partitions'))`
/** Lines that are handed to the connection as one text. */
const LINES_AT_ONCE = 500

export function createEventStore(db: Db): EventStore {
  const ready = new Set<string>()
  const prepare = async (days: readonly string[]) => {
    const missing = days.filter((day) => !ready.has(day))
    if (missing.length === 0) return
    await db.transaction((tx) => makePartitions(tx, missing))
    for (const day of missing) ready.add(day)
  }
  return {
    prepare,
    async write(batch) {
      await prepare(batch.days)
      try {
        return await db.transaction(async ({ query, copy }) => {
          const [row] = await query<{ batch_id: string }>('insert into pending_batch (days, events) values ($1, $2) returning batch_id', [
            batch.days,
            batch.lines.length,
          ])
          const batchId = String(row?.batch_id)
          await copy(`copy event (${COLUMNS}) from stdin`, numbered(batch.lines, `${batchId}\t`))
          return batchId
        })
      } catch (error) {
        // A partition may have been dropped since.
        ready.clear()
        throw error
      }
    },
  }
}

async function* numbered(lines: readonly string[], prefix: string): AsyncGenerator<string> {
  for (let at = 0; at < lines.length; at += LINES_AT_ONCE) yield prefix + lines.slice(at, at + LINES_AT_ONCE).join(prefix)
}

/** Attached when they are made: that, unlike making them in place, waits for nobody who inserts. */
async function makePartitions({ query }: Transaction, days: readonly string[]): Promise<void> {
  await query(PARTITION_LOCK)
  for (const day of days) {
    const name = partitionOf(day)
    const [found] = await query<{ there: boolean }>('select to_regclass($1) is not null as there', [name])
    if (found?.there) continue
    const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
    await query(`create table ${name} (like event including defaults)`)
    await query(`alter table event attach partition ${name} for values from ('${day}') to ('${next}')`)
  }
}

/** `day` is one of ours, so that the name needs no quotes. */
export function partitionOf(day: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new Error(`not a day: ${day}`)
  return `event_${day.replaceAll('-', '')}`
}
