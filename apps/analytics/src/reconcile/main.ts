import { openPostgres } from '@vitascope/postgres'
import { createLogger } from '@vitascope/telemetry'
import { readDatabaseConfig } from '../config.ts'
import { SCHEMA } from '../migrate.ts'
import { RECONCILE_STATEMENT_MS, reconcile } from './reconcile.ts'

/** Prints what differs, a line each, and a last line with the sum; ends with 1 when anything does. */
const log = createLogger({ service: 'analytics-reconcile' })
const { databaseUrl } = readDatabaseConfig(process.env)
const db = openPostgres({ url: databaseUrl, schema: SCHEMA, log, poolSize: 1, statementTimeoutMs: RECONCILE_STATEMENT_MS })
try {
  const { since, events, views, differences } = await reconcile(db)
  for (const { table, key, counts } of differences) process.stdout.write(`${table} ${key}: ${counts.join('; ')}\n`)
  process.stdout.write(`${differences.length} differences in ${events} events of ${views} views since ${since ?? 'ever'}\n`)
  if (differences.length > 0) process.exitCode = 1
} finally {
  await db.close()
}
