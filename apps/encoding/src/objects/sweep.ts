import { parseArgs } from 'node:util'
import { ConfigError, readCommandDatabaseUrl, readEnvironment, readObjectStore } from '@vitascope/config'
import { isDomainError } from '@vitascope/errors'
import { openPostgres } from '@vitascope/postgres'
import { openStorage } from '@vitascope/storage'
import { createLogger } from '@vitascope/telemetry'
import { type Finding, SweepPausedError, type SweepSummary, sweepOrphans } from './sweep-orphans.ts'

// node apps/encoding/src/objects/sweep.ts [--dry-run] [--json] [--older-than SECONDS]: compares
// objects and rows.
const USAGE = 'usage: node apps/encoding/src/objects/sweep.ts [--dry-run] [--json] [--older-than SECONDS]'
/** One day. After this time, an object that a form uploaded can no longer be used by a request. */
const GRACE_SECONDS = 86_400
/** Statement timeout for queries over all rows. */
const STATEMENT_TIMEOUT_MS = 600_000

process.exitCode = await run()

async function run(): Promise<number> {
  const options = readOptions()
  if (!options) return fail(USAGE, 2)
  const { isDry, isJson, graceMs } = options
  try {
    const read = readEnvironment(process.env)
    const settings = { databaseUrl: readCommandDatabaseUrl(read, 'ENCODING'), objects: readObjectStore(read) }
    read.check()
    const log = createLogger({ service: 'encoding-sweep', level: 'fatal' })
    const db = openPostgres({ url: settings.databaseUrl, schema: 'encoding', log, poolSize: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS })
    try {
      const storage = await openStorage(settings.objects)
      const report = (finding: Finding) => print(isJson ? JSON.stringify(finding) : formatFinding(finding))
      const summary = await sweepOrphans({ db, storage, graceMs, isDry }, report, new AbortController().signal)
      print(isJson ? JSON.stringify({ summary }) : formatSummary(summary, isDry))
      return 0
    } finally {
      await db.close()
    }
  } catch (error) {
    if (error instanceof SweepPausedError || error instanceof ConfigError || isDomainError(error)) return fail(error.message, 1)
    throw error
  }
}

function readOptions(): { isDry: boolean; isJson: boolean; graceMs: number } | undefined {
  try {
    const { values } = parseArgs({
      options: { 'dry-run': { type: 'boolean' }, json: { type: 'boolean' }, 'older-than': { type: 'string' } },
    })
    const seconds = values['older-than'] ?? String(GRACE_SECONDS)
    if (!/^\d{1,9}$/.test(seconds)) return undefined
    return { isDry: values['dry-run'] ?? false, isJson: values.json ?? false, graceMs: Number(seconds) * 1000 }
  } catch {
    return undefined
  }
}

function formatFinding(finding: Finding): string {
  if (finding.kind === 'missing') return `${'missing'.padEnd(16)} ${finding.name}: a row names it, but it is not in storage`
  const { orphan, done } = finding
  return `${done.padEnd(16)} ${orphan.name}: ${orphan.objects} objects, ${orphan.bytes} bytes, the newest from ${orphan.newest.toISOString()}`
}

function formatSummary(summary: SweepSummary, isDry: boolean): string {
  const { objects, bytes, foreign, tooRecent, orphans, orphanObjects, orphanBytes, missing } = summary
  return [
    `${objects} objects of ${bytes} bytes were scanned; ${foreign} of them have names that encoding does not create, and are kept.`,
    `Objects without a row: ${orphans} names with ${orphanObjects} objects of ${orphanBytes} bytes${isDry ? '; nothing was changed' : ''}; ${tooRecent} more are too recent.`,
    `Rows without their objects: ${missing}.`,
  ].join('\n')
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function fail(message: string, code: number): number {
  process.stderr.write(`${message}\n`)
  return code
}
