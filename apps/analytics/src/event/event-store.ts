import { randomUUID } from 'node:crypto'
import { createPartitions, type Db } from '@vitascope/postgres'
import { EVENTS } from '../view/partitions.ts'
import { COLUMNS } from './event-line.ts'

/** Events of several requests that are inserted together. */
export interface Batch {
  /** Results of `toLine`: rows in COPY's text format that lack the first column, `batch_id`, and end with a newline. */
  lines: readonly string[]
  /** Distinct UTC days of the events as `YYYY-MM-DD`. */
  days: readonly string[]
}

export interface EventStore {
  /**
   * Inserts a batch in one transaction and returns its id. The events are durable when the promise
   * resolves. Throws `unavailable` if the database is unavailable.
   */
  write(batch: Batch): Promise<string>
  /** Creates the partitions of these days (`YYYY-MM-DD`) that do not exist yet. */
  prepare(days: readonly string[]): Promise<void>
}

/** Number of batch ids that one query fetches. While fetched ids are left, an insert needs only one round trip. */
const IDS_PER_FETCH = 100

/**
 * Creates the store. `writer` is the UUID of this process. It is stored with each batch, because batch
 * ids can repeat after a failover. The default is a random UUID.
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
        // A partition may have been dropped in the meantime, so all partitions are created again. After a
        // failover, the new primary may assign the fetched ids to other processes, so they are discarded.
        preparedDays.clear()
        batchIds = []
        throw error
      }
    },
  }
}
