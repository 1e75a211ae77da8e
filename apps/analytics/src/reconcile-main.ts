import { readDatabaseConfig } from '@vitascope/config'
import { openPostgres } from '@vitascope/postgres'
import { createLogger } from '@vitascope/telemetry'
import { RECONCILE_TIMEOUT_MS, type Reconciliation, reconcile } from './reconcile/reconcile.ts'

/**
 * Compares the counts with the events. Prints one line per difference and a summary line, and exits
 * with 1 if there are differences. As a child process of the service, it sends the result to the
 * service instead.
 */
const log = createLogger({ service: 'analytics-reconcile' })
const { databaseUrl } = readDatabaseConfig(process.env, 'ANALYTICS')
const db = openPostgres({ url: databaseUrl, schema: 'analytics', log, poolSize: 1, statementTimeoutMs: RECONCILE_TIMEOUT_MS })
// The service disconnects after it has received the result.
process.once('disconnect', () => process.exit())
try {
  const result = await reconcile(db)
  if (process.send) process.send(result)
  else print(result)
} catch (error) {
  log.fatal({ err: error }, 'comparing counts with events failed')
  process.exitCode = 1
  if (process.connected) process.disconnect()
} finally {
  await db.close()
}

function print({ since, events, views, differences }: Reconciliation): void {
  for (const { table, key, counts } of differences) process.stdout.write(`${table} ${key}: ${counts.join('; ')}\n`)
  process.stdout.write(
    `${differences.length} differences in ${events} events of ${views} views${since === undefined ? '' : ` since ${since}`}\n`,
  )
  if (differences.length > 0) process.exitCode = 1
}
