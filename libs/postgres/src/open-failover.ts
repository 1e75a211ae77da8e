import type { Query } from './db.ts'

/** A failover that has not been settled yet. */
export interface OpenFailover {
  failoverId: string
  /** Since it was noticed, by the clock of the database. */
  seconds: number
}

/** The failover whose traces are to be put right, if there is one. */
export async function openFailover(query: Query): Promise<OpenFailover | undefined> {
  const [row] = await query<{ failover_id: string; seconds: number }>(
    `select failover_id, extract(epoch from now() - notice_time)::float8 as seconds from failover where settle_time is null
     order by failover_id desc limit 1`,
  )
  return row && { failoverId: row.failover_id, seconds: row.seconds }
}

/** Settles a failover, and those before it. */
export async function settleFailover(query: Query, { failoverId }: OpenFailover): Promise<void> {
  await query('update failover set settle_time = now() where failover_id <= $1 and settle_time is null', [failoverId])
}
