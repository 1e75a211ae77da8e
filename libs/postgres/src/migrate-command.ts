import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createLogger, type Logger } from '@vitascope/telemetry'
import { connectOnce } from './connect-once.ts'
import { migrate } from './migrate.ts'

const EVERY_MS = 500

/**
 * The process that brings the schema of a service up to date and ends: with 0, or with 1 where it did not. With `--wait` it first waits,
 * however long, until the database lets it in, and says why it does not yet. Of two at once the second finds nothing to do.
 */
export async function migrateCommand(options: { schema: string; folder: string; readUrl: () => string }): Promise<void> {
  const { schema, folder, readUrl } = options
  const log = createLogger({ service: `${schema}-migrate` })
  try {
    const { values } = parseArgs({ options: { wait: { type: 'boolean', default: false } } })
    const url = readUrl()
    if (values.wait) await untilItLetsIn(url, log)
    await migrate({ url, schema, folder, log })
    log.info('the schema is up to date')
  } catch (error) {
    // What is wrong with settings and arguments is said in a line of its own.
    const said =
      error instanceof Error && (error.name === 'ConfigError' || ('code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')))
    if (said) log.fatal(error.message)
    else log.fatal({ err: error }, 'the migration failed')
    process.exitCode = 1
  }
}

/** Also while role and database are still being made beside it. */
async function untilItLetsIn(url: string, log: Logger): Promise<void> {
  for (let told = ''; ; ) {
    try {
      const client = await connectOnce(url)
      await client.query('select 1').finally(() => client.end())
      return
    } catch (error) {
      const why = String((error as { code?: unknown }).code ?? (error as Error).message)
      if (why !== told) log.warn({ err: error }, 'waiting for the database')
      told = why
      await delay(EVERY_MS)
    }
  }
}
