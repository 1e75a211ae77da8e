import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from '@vitascope/telemetry'
import { runner } from 'node-pg-migrate'

export interface MigrateOptions {
  /** URL with a role that owns the schema or may create it. */
  url: string
  schema: string
  /** The service's folder of SQL files, applied in the order of their names. */
  folder: string
  /** Time limit in ms for retries while other sessions lock a table; 10 minutes by default. */
  timeoutMs?: number
  log: Logger
}

/** Migrations of every service's schema: outbox and idempotency keys. */
const COMMON = fileURLToPath(new URL('../migrations', import.meta.url))

/**
 * Maximum time in ms that a migration waits for a lock. All later statements on the table queue
 * behind it.
 */
const LOCK_TIMEOUT_MS = 1_000
/** SQLSTATE lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03'
/** Average pause in ms between two attempts. Queued statements run in it. */
const PAUSE_MS = 500
/** Default time limit in ms. It must be less than the deadline of migrations in the Helm chart. */
const TIMEOUT_MS = 600_000

/**
 * Migrates a schema: first the common tables, then those of the service. Repeated and concurrent
 * runs apply each file once. If other sessions hold a table lock for more than a second, the file
 * is rolled back and retried. Throws after `timeoutMs`. The files before the last attempted one are
 * then applied.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const deadline = performance.now() + (options.timeoutMs ?? TIMEOUT_MS)
  await retryWhileLocked(options.log, deadline, () => migrateOnce(options, COMMON, 'common_migration'))
  await retryWhileLocked(options.log, deadline, () => migrateOnce(options, options.folder, 'migration'))
}

async function retryWhileLocked(log: Logger, deadline: number, attempt: () => Promise<void>): Promise<void> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (performance.now() > deadline)
        throw new Error(
          `other sessions still lock the tables of the migration, or another migration runs, after ${attempts} attempts; end them and start the migration again`,
          {
            cause: error,
          },
        )
      log[attempts % 20 === 0 ? 'warn' : 'debug']({ err: error, attempts }, 'tables are locked or another migration runs; retrying')
      await delay(PAUSE_MS * (0.5 + Math.random()))
    }
  }
}

async function migrateOnce({ url, schema, log }: MigrateOptions, dir: string, migrationsTable: string): Promise<void> {
  /** Lines of node-pg-migrate. They matter only for an attempt that is not retried. */
  const problems: string[] = []
  const attempt = runner({
    databaseUrl: {
      connectionString: url,
      lock_timeout: LOCK_TIMEOUT_MS,
      options: '-c statement_timeout=0 -c idle_in_transaction_session_timeout=0',
    },
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
      warn: (message) => problems.push(message),
      error: (message) => problems.push(message),
    },
  })
  await attempt.catch((error: unknown) => {
    if (!isLockTimeout(error)) for (const problem of problems) log.error(problem)
    throw error
  })
}

function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE
}
