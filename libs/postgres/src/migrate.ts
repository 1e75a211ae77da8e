import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from '@vitascope/telemetry'
import { runner } from 'node-pg-migrate'

export interface MigrateOptions {
  /** Of a role that owns, or may create, the schema. */
  url: string
  schema: string
  /** The service's folder of SQL files, applied in the order of their names. */
  folder: string
  /** How long it tries where others hold a table, in ms; 10 minutes unless it is said. */
  patienceMs?: number
  log: Logger
}

/** What every service's schema holds: outbox and idempotency keys. */
const COMMON = fileURLToPath(new URL('../migrations', import.meta.url))

/** So long a migration may stand in line for a table: whoever comes after it waits behind it. */
const LOCK_TIMEOUT_MS = 1_000
/** As PostgreSQL says it. */
const LOCK_NOT_AVAILABLE = '55P03'
/** Between two tries, in which those who waited have their turn. */
const PAUSE_MS = 500
/** Below the deadline that the chart gives to migrations. */
const PATIENCE_MS = 600_000

/**
 * Brings a schema up to date: the common tables, then the service's own. Running it again, or twice at once, changes nothing. Where others hold a table for
 * more than a second, all of it is undone and tried again; throws when its patience is over, and then nothing of the last file it tried has happened.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const until = performance.now() + (options.patienceMs ?? PATIENCE_MS)
  await patiently(options.log, until, () => migrateOnce(options, COMMON, 'common_migration'))
  await patiently(options.log, until, () => migrateOnce(options, options.folder, 'migration'))
}

async function patiently(log: Logger, until: number, attempt: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error
      if (performance.now() > until)
        throw new Error(`others hold what the migration is about, or migrate, also after ${tries} tries: end them, and start it again`, {
          cause: error,
        })
      log[tries % 20 === 0 ? 'warn' : 'debug']({ err: error, tries }, 'others hold what the migration is about, or migrate: trying again')
      await delay(PAUSE_MS * (0.5 + Math.random()))
    }
  }
}

async function migrateOnce({ url, schema, log }: MigrateOptions, dir: string, migrationsTable: string): Promise<void> {
  await runner({
    databaseUrl: { connectionString: url, lock_timeout: LOCK_TIMEOUT_MS },
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
