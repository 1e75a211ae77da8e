import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createLogger, type Logger } from '@vitascope/telemetry'
import { connectOnce } from './connect-once.ts'
import { migrate } from './migrate.ts'

const POLL_MS = 500

/**
 * Migrates the schema of a service and sets the exit code: 0, or 1 on failure. With `--wait` it
 * first waits without limit until the database accepts a connection, and logs why it does not. Of
 * two concurrent runs, the second one changes nothing.
 */
export async function migrateCommand(options: { schema: string; folder: string; readUrl: () => string }): Promise<void> {
  const { schema, folder, readUrl } = options
  const log = createLogger({ service: `${schema}-migrate` })
  try {
    const { values } = parseArgs({ options: { wait: { type: 'boolean', default: false } } })
    const url = readUrl()
    if (values.wait) await waitForDatabase(url, log)
    await migrate({ url, schema, folder, log })
    log.info('schema is up to date')
  } catch (error) {
    // Errors of settings and arguments are logged as one line, without a stack.
    const isUserError =
      error instanceof Error && (error.name === 'ConfigError' || ('code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')))
    if (isUserError) log.fatal(error.message)
    else log.fatal({ err: error }, 'migration failed')
    process.exitCode = 1
  }
}

/**
 * Waits until the database accepts a connection, also while role and database are still being
 * created.
 */
async function waitForDatabase(url: string, log: Logger): Promise<void> {
  for (let logged = ''; ; ) {
    try {
      const client = await connectOnce(url)
      await client.query('select 1').finally(() => client.end())
      return
    } catch (error) {
      const reason = String((error as { code?: unknown }).code ?? (error as Error).message)
      if (reason !== logged) log.warn({ err: error }, 'waiting for the database')
      logged = reason
      await delay(POLL_MS)
    }
  }
}
