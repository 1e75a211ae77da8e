import { randomUUID } from 'node:crypto'
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
/** Numbers of inserts that are asked for at once, so that an insert is one way to the database and back. */
const NUMBERS = 100

/** `writer` is a UUID of this process alone, and stands beside its inserts; one that nobody else knows unless it is told. */
export function createEventStore(db: Db, writer: string = randomUUID()): EventStore {
  const ready = new Set<string>()
  let numbers: string[] = []
  const prepare = async (days: readonly string[]) => {
    const missing = days.filter((day) => !ready.has(day))
    if (missing.length === 0) return
    await db.transaction((tx) => makePartitions(tx, missing))
    for (const day of missing) ready.add(day)
  }
  const nextNumber = async () => {
    const left = numbers.pop()
    if (left !== undefined) return left
    const rows = await db.query<{ batch_id: string }>(
      `select nextval(pg_get_serial_sequence('pending_batch', 'batch_id'))::text as batch_id from generate_series(1, $1)`,
      [NUMBERS],
    )
    const [first, ...others] = rows.map(({ batch_id }) => batch_id)
    if (first === undefined) throw new Error('a sequence without numbers')
    numbers = others.reverse()
    return first
  }
  return {
    prepare,
    async write({ days, lines }) {
      await prepare(days)
      const batchId = await nextNumber()
      try {
        await db.copy(
          `insert into pending_batch (batch_id, days, events, writer) overriding system value
             values (${batchId}, '{${days.join()}}', ${lines.length}, '${writer}');
           copy event (${COLUMNS}) from stdin`,
          `${batchId}\t${lines.join(`${batchId}\t`)}`,
        )
        return batchId
      } catch (error) {
        // A partition may have been dropped since, and a database that took over may give these numbers to others.
        ready.clear()
        numbers = []
        throw error
      }
    },
  }
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
