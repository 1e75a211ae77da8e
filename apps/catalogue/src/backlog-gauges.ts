import type { Db } from '@vitascope/postgres'
import type { Metrics } from '@vitascope/telemetry'
import { CDN_PURGE } from './cdn/cdn-purge.ts'

/**
 * Exports gauges of the backlog: outbox, webhooks, mails and active jobs. While the database is
 * unavailable, the gauges keep their values. Without a mail transport, no mail waits for a server.
 */
export function registerBacklogGauges(metrics: Metrics, db: Db, { sendsMails }: { sendsMails: boolean }): void {
  const addGauge = (name: string, help: string, statement: string) =>
    metrics.gauge(name, help, [], async (gauge) => {
      const [row] = await db.query<{ value: number }>(statement).catch(() => [])
      if (row) gauge.set(row.value)
    })
  addGauge(
    'vitascope_catalogue_outbox_lag_seconds',
    'Age of the oldest outbox message that encoding has not received',
    `select coalesce(extract(epoch from now() - min(create_time)), 0)::float8 as value from outbox
     where dead_time is null and topic <> '${CDN_PURGE}'`,
  )
  addGauge(
    'vitascope_catalogue_webhook_lag_seconds',
    'Delay of the most overdue webhook delivery',
    `select coalesce(extract(epoch from now() - min(next_time)), 0)::float8 as value from webhook_lane where next_time <= now()`,
  )
  addGauge(
    'vitascope_catalogue_mails_waiting',
    'Mails that wait for the mail server',
    sendsMails ? `select count(*)::int as value from mail where state = 'waiting'` : 'select 0 as value',
  )
  addGauge(
    'vitascope_catalogue_active_jobs',
    'Jobs that were accepted and have not ended',
    `select count(*)::int as value from job where state in ('queued', 'running')`,
  )
}
