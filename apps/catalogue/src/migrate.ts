import { join } from 'node:path'
import { ConfigError } from '@vitascope/config'
import { migrate } from '@vitascope/postgres'
import { createLogger } from '@vitascope/telemetry'
import { readMigrationConfig } from './config.ts'

/** Brings the catalogue's schema up to date, and ends. */
const log = createLogger({ service: 'catalogue-migrate' })
try {
  const { databaseUrl } = readMigrationConfig(process.env)
  await migrate({ url: databaseUrl, schema: 'catalogue', folder: join(import.meta.dirname, '../migrations'), log })
  log.info('migrated')
} catch (error) {
  if (error instanceof ConfigError) log.fatal(error.message)
  else log.fatal({ err: error }, 'the migration failed')
  process.exitCode = 1
}
