import { fileURLToPath } from 'node:url'
import type { Logger } from '@vitascope/telemetry'
import { runner } from 'node-pg-migrate'

export interface MigrateOptions {
  /** Of a role that owns, or may create, the schema. */
  url: string
  schema: string
  /** The service's folder of SQL files, applied in the order of their names. */
  folder: string
  log: Logger
}

/** What every service's schema holds: outbox and idempotency keys. */
const COMMON = fileURLToPath(new URL('../migrations', import.meta.url))

/** Brings a schema up to date: the common tables, then the service's own. Running it again, or twice at once, changes nothing. */
export async function migrate({ url, schema, folder, log }: MigrateOptions): Promise<void> {
  for (const [dir, migrationsTable] of [
    [COMMON, 'common_migration'],
    [folder, 'migration'],
  ] as const) {
    await runner({
      databaseUrl: url,
      dir: `${dir}/*.sql`,
      useGlob: true,
      direction: 'up',
      schema,
      createSchema: true,
      migrationsTable,
      migrationsSchema: schema,
      checkOrder: true,
      advisoryLockMode: 'wait',
      logger: {
        debug: (message) => log.debug(message),
        info: (message) => log.debug(message),
        warn: (message) => log.warn(message),
        error: (message) => log.error(message),
      },
    })
  }
}
