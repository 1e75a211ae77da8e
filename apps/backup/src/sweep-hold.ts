import { randomUUID } from 'node:crypto'
import { connectOnce } from '@vitascope/postgres'
import { BackupError } from './backup-error.ts'

/**
 * Prevents encoding from deleting objects, through a row that encoding checks before each deletion.
 */
export interface SweepHold {
  /** Throws if the hold was interrupted, or if it may have expired because the database does not respond. */
  check(): void
  release(): Promise<void>
}

const EXTEND_MS = 15_000
const HOLD_SECONDS = 180

/** Creates a hold. Its row expires if this process ends. */
export async function holdSweep(url: string): Promise<SweepHold> {
  const holder = randomUUID()
  const client = await connectOnce(url)
  await client.query('delete from encoding.sweep_hold where end_time < now()')
  let heldUntil = performance.now() + 1_000 * HOLD_SECONDS
  await client.query(`insert into encoding.sweep_hold values ($1, now() + $2::int * interval '1 second')`, [holder, HOLD_SECONDS])
  let lost: unknown
  const extend = async () => {
    const end = performance.now() + 1_000 * HOLD_SECONDS
    const text = `update encoding.sweep_hold set end_time = now() + $2::int * interval '1 second' where holder = $1 and end_time > now() returning 1`
    const { rows } = await client.query(text, [holder, HOLD_SECONDS])
    if (rows.length === 0) throw new Error('the hold has expired')
    heldUntil = end
  }
  const timer = setInterval(() => {
    extend().catch((error: unknown) => {
      lost ??= error
    })
  }, EXTEND_MS)
  return {
    check() {
      if (performance.now() > heldUntil) lost ??= new Error('the database has not responded')
      if (lost !== undefined) {
        throw new BackupError(`the hold on the deletion of objects was lost (${(lost as Error).message}): run the backup again`)
      }
    },
    async release() {
      clearInterval(timer)
      try {
        // The row of a lost hold expires. Its database may not respond.
        if (lost === undefined) await client.query('delete from encoding.sweep_hold where holder = $1', [holder])
      } finally {
        await client.end()
      }
    },
  }
}
