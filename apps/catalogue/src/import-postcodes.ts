import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { ConfigError, readDatabaseConfig } from '@vitascope/config'
import { isDomainError } from '@vitascope/errors'
import { openPostgres } from '@vitascope/postgres'
import { createLogger } from '@vitascope/telemetry'
import { ImportRejected, importGeonames } from './location/geonames-import.ts'

// Command `node apps/catalogue/src/import-postcodes.ts [--skip-bad] FILE|-`: imports a GeoNames postal
// code file, or the standard input, into the catalogue's database.
const USAGE = 'usage: node apps/catalogue/src/import-postcodes.ts [--skip-bad] FILE|-'
/** Statement timeout. Some statements process millions of rows. */
const STATEMENT_TIMEOUT_MS = 600_000
const CHUNK_BYTES = 1024 * 1024

process.exitCode = await run()

async function run(): Promise<number> {
  const options = readOptions()
  if (!options) return fail(USAGE, 2)
  const { file: named, skip } = options
  // A transaction that is repeated reads the file again, so the standard input is stored first.
  const folder = named === '-' ? await mkdtemp(join(tmpdir(), 'postcodes-')) : undefined
  const file = folder === undefined ? named : join(folder, 'postcodes')
  try {
    if (folder !== undefined) await pipeline(process.stdin, createWriteStream(file))
    const { databaseUrl } = readDatabaseConfig(process.env, 'CATALOGUE')
    const log = createLogger({ service: 'catalogue-import' })
    const db = openPostgres({ url: databaseUrl, schema: 'catalogue', log, poolSize: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS })
    try {
      const began = performance.now()
      const { lines, skipped, postcodes, countries } = await importGeonames(
        db,
        () => createReadStream(file, { highWaterMark: CHUNK_BYTES }),
        { skip },
      )
      const seconds = ((performance.now() - began) / 1000).toFixed(1)
      const skippedNote = skipped > 0 ? `, ${skipped} of them skipped` : ''
      process.stdout.write(`${postcodes} postcodes of ${countries.join(', ')} from ${lines} lines${skippedNote}, in ${seconds} s\n`)
      return 0
    } finally {
      await db.close()
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof ImportRejected || error instanceof ConfigError || isDomainError(error)) return fail(error.message, 1)
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR') return fail(`${file} cannot be read (${code})`, 1)
    throw error
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true })
  }
}

function readOptions(): { file: string; skip: ((problem: string) => void) | undefined } | undefined {
  try {
    const { values, positionals } = parseArgs({ options: { 'skip-bad': { type: 'boolean' } }, allowPositionals: true })
    const [file, ...otherArguments] = positionals
    if (file === undefined || otherArguments.length > 0) return undefined
    return { file, skip: values['skip-bad'] ? (problem) => void process.stderr.write(`${problem}\n`) : undefined }
  } catch {
    return undefined
  }
}

function fail(message: string, code: number): number {
  process.stderr.write(`${message}\n`)
  return code
}
