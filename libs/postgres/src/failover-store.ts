import type { Query } from './db.ts'

/** A failover whose effects the service has not repaired yet. */
export interface OpenFailover {
  failoverId: string
  /** Seconds since the detection, by the clock of the database. */
  seconds: number
}

/** Returns the latest open failover, if any. */
export async function findOpenFailover(query: Query): Promise<OpenFailover | undefined> {
  const [row] = await query<{ failover_id: string; seconds: number }>(
    `select failover_id, extract(epoch from now() - notice_time)::float8 as seconds from failover where settle_time is null
     order by failover_id desc limit 1`,
  )
  return row && { failoverId: row.failover_id, seconds: row.seconds }
}

/** Records that the service has repaired the effects of a failover and of all earlier ones. */
export async function settleFailover(query: Query, { failoverId }: OpenFailover): Promise<void> {
  await query('update failover set settle_time = now() where failover_id <= $1 and settle_time is null', [failoverId])
}

/** What changed in the database: its timeline, the whole database, or only its data, which became older. */
export type FailoverCause = 'new_timeline' | 'other_database' | 'older_data'

/** A recorded failover. */
export interface Failover {
  failoverId: string
  cause: FailoverCause
  detectTime: Date
  /** Undefined until the service has repaired its effects. */
  repairTime: Date | undefined
}

/** Lists the latest failovers, newest first. The row of the creation is not one. */
export async function listFailovers(query: Query, limit: number): Promise<Failover[]> {
  const rows = await query<{ failover_id: string; cause: FailoverCause; notice_time: Date; settle_time: Date | null }>(
    `select failover_id, notice_time, settle_time, case
       when system_id <> system_before then 'other_database' when timeline <> timeline_before then 'new_timeline' else 'older_data' end as cause
     from (select *, lag(system_id) over (order by failover_id) as system_before, lag(timeline) over (order by failover_id) as timeline_before
       from failover) as history
     where system_before is not null order by failover_id desc limit $1`,
    [limit],
  )
  return rows.map((row) => ({
    ...{ failoverId: row.failover_id, cause: row.cause },
    ...{ detectTime: row.notice_time, repairTime: row.settle_time ?? undefined },
  }))
}
