import { randomUUID } from 'node:crypto'
import { createPartitions, type Db } from '@vitascope/postgres'
import { EVENTS } from '../view/partitions.ts'
import { COLUMNS } from './event-line.ts'

/** Events of several requests that are inserted together. */
export interface Batch {
  /** Lines in COPY's text format, without the batch id. */
  lines: readonly string[]
  /** Distinct days as `YYYY-MM-DD`. */
  days: readonly string[]
}

export interface EventStore {
  /** Inserts a batch and returns its id. The events are durable when the promise resolves. */
  write(batch: Batch): Promise<string>
  /** Creates missing partitions for the days. */
  prepare(days: readonly string[]): Promise<void>
}

/** Number of batch ids per query. Most inserts then need only one round trip. */
const IDS_PER_FETCH = 100

/**
 * Creates the store. `writer` is the UUID of this process and is stored with each insert. The default
 * is a random UUID.
 */
export function createEventStore(db: Db, writer: string = randomUUID()): EventStore {
  const preparedDays = new Set<string>()
  let batchIds: string[] = []
  const prepare = async (days: readonly string[]) => {
    const newDays = days.filter((day) => !preparedDays.has(day))
    if (newDays.length === 0) return
    await db.transaction((tx) => createPartitions(tx, EVENTS, newDays))
    for (const day of newDays) preparedDays.add(day)
  }
  const nextBatchId = async () => {
    const unused = batchIds.pop()
    if (unused !== undefined) return unused
    const rows = await db.query<{ batch_id: string }>(
      `select nextval(pg_get_serial_sequence('pending_batch', 'batch_id'))::text as batch_id from generate_series(1, $1)`,
      [IDS_PER_FETCH],
    )
    const [first, ...remaining] = rows.map(({ batch_id }) => batch_id)
    if (first === undefined) throw new Error('the sequence of batch ids returned no ids')
    batchIds = remaining.reverse()
    return first
  }
  return {
    prepare,
    async write({ days, lines }) {
      await prepare(days)
      const batchId = await nextBatchId()
      try {
        await db.copy(
          `insert into pending_batch (batch_id, days, events, writer) overriding system value
             values (${batchId}, '{${days.join()}}', ${lines.length}, '${writer}');
           copy event (${COLUMNS}) from stdin`,
          `${batchId}\t${lines.join(`${batchId}\t`)}`,
        )
        return batchId
      } catch (error) {
        // A partition may have been dropped in the meantime. After a failover, the new primary may assign
        // these ids to other processes.
        preparedDays.clear()
        batchIds = []
        throw error
      }
    },
  }
}
