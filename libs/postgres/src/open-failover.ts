import type { Query } from './db.ts'

/** A failover that has not been settled. */
export interface OpenFailover {
  failoverId: string
  /** Seconds since the detection, by the clock of the database. */
  seconds: number
}

/** Returns the latest failover that has not been settled, if any. */
export async function findOpenFailover(query: Query): Promise<OpenFailover | undefined> {
  const [row] = await query<{ failover_id: string; seconds: number }>(
    `select failover_id, extract(epoch from now() - notice_time)::float8 as seconds from failover where settle_time is null
     order by failover_id desc limit 1`,
  )
  return row && { failoverId: row.failover_id, seconds: row.seconds }
}

/** Settles a failover and all earlier ones. */
export async function settleFailover(query: Query, { failoverId }: OpenFailover): Promise<void> {
  await query('update failover set settle_time = now() where failover_id <= $1 and settle_time is null', [failoverId])
}
