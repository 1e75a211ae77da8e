import type { Db } from '@vitascope/postgres'
import { readGeonamesLine } from './geonames-line.ts'
import { readLines } from './lines.ts'

export interface ImportResult {
  lines: number
  /** Lines that were skipped. */
  skipped: number
  postcodes: number
  countries: string[]
}

/** Thrown if a file is rejected. Nothing is imported then. Each problem contains its line number. */
export class ImportRejected extends Error {
  constructor(problems: readonly string[], omittedProblems: number) {
    super([...problems, ...(omittedProblems > 0 ? [`and ${omittedProblems} more`] : []), 'nothing was imported'].join('\n'))
    this.name = 'ImportRejected'
  }
}

/** Maximum number of problems in the error message. */
const MAX_LISTED_PROBLEMS = 20
/** Minimum size of a chunk that is sent to COPY, in characters. */
const COPY_CHARACTERS = 64 * 1024
/** Serialises imports. Readers do not wait for this lock. */
const IMPORT_LOCK = `select pg_advisory_xact_lock(hashtextextended('vitascope catalogue postcodes', 0))`

/**
 * Imports a GeoNames postal code file in one transaction. It replaces all postcodes of every
 * country in the file. If a line is malformed, its problem is passed to `skip`, or `ImportRejected`
 * is thrown if `skip` is undefined. `open` is called for each attempt of the transaction.
 */
export function importGeonames(
  db: Db,
  open: () => AsyncIterable<Uint8Array>,
  { skip, signal }: { skip?: ((problem: string) => void) | undefined; signal?: AbortSignal } = {},
): Promise<ImportResult> {
  return db.transaction(async (tx) => {
    await tx.query(IMPORT_LOCK)
    await tx.query(
      `create temporary table incoming (line int, country text collate "C", postcode text, key text collate "C", latitude float8,
         longitude float8, accuracy smallint) on commit drop`,
    )
    const lineCounts = { lines: 0, skipped: 0 }
    const copiedRows = await tx.copy('copy pg_temp.incoming from stdin', toCopyChunks(open(), lineCounts, skip))
    if (copiedRows === 0) throw new ImportRejected(['the file contains no postcode'], 0)
    await tx.query(`set local work_mem = '64MB'`)
    const countryRows = await tx.query<{ country: string }>('select distinct country from pg_temp.incoming order by country')
    const countries = countryRows.map(({ country }) => country)
    await tx.query('delete from postcode where country = any($1)', [countries])
    const [inserted] = await tx.query<{ postcodes: number }>(
      `with inserted as (
         insert into postcode (postcode_key, country, postcode, latitude, longitude)
         select distinct on (key, country) key, country, postcode, latitude, longitude from pg_temp.incoming
         order by key, country, accuracy desc, line
         returning 1)
       select count(*)::int as postcodes from inserted`,
    )
    return { ...lineCounts, postcodes: inserted?.postcodes ?? 0, countries }
  }, signal)
}

/**
 * Yields the valid lines in the text format of COPY. Throws `ImportRejected` at the end of the file
 * if there were invalid lines and `skip` is undefined.
 */
async function* toCopyChunks(
  bytes: AsyncIterable<Uint8Array>,
  lineCounts: { lines: number; skipped: number },
  skip: ((problem: string) => void) | undefined,
): AsyncGenerator<string> {
  const problems: string[] = []
  let malformedLines = 0
  let chunk = ''
  for await (const lines of readLines(bytes)) {
    for (const line of lines) {
      lineCounts.lines++
      const parsed = readGeonamesLine(line)
      if (typeof parsed === 'string') {
        const problem = `line ${lineCounts.lines} ${parsed}`
        malformedLines++
        if (skip) skip(problem)
        else if (problems.length < MAX_LISTED_PROBLEMS) problems.push(problem)
      } else {
        const { country, postcode, key, latitude, longitude, accuracy } = parsed
        chunk += `${lineCounts.lines}\t${country}\t${postcode}\t${key}\t${latitude}\t${longitude}\t${accuracy}\n`
      }
      if (chunk.length < COPY_CHARACTERS) continue
      if (malformedLines === 0 || skip) yield chunk
      chunk = ''
    }
  }
  if (malformedLines > 0 && !skip) throw new ImportRejected(problems, malformedLines - problems.length)
  lineCounts.skipped = malformedLines
  if (chunk !== '') yield chunk
}
