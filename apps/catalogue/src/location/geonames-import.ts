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

/** Thrown if a file is rejected; nothing of it is stored. Each problem names its line. */
export class ImportRefused extends Error {
  constructor(problems: readonly string[], more: number) {
    super([...problems, ...(more > 0 ? [`and ${more} more`] : []), 'nothing was imported'].join('\n'))
    this.name = 'ImportRefused'
  }
}

/** Maximum number of problems in the error message. */
const MAX_LISTED_PROBLEMS = 20
/** Characters that are sent to COPY at once. */
const COPY_CHARACTERS = 64 * 1024
/** Only one import runs at a time. Readers are not blocked. */
const IMPORT_LOCK = `select pg_advisory_xact_lock(hashtextextended('vitascope catalogue postcodes', 0))`

/**
 * Imports a GeoNames postal code file in one transaction. It replaces all postcodes of every
 * country in the file. Throws `ImportRefused` if a line is malformed, or passes its problem to
 * `skip` if that is given. `open` is called again for each attempt of the transaction.
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
    const count = { lines: 0, skipped: 0 }
    const copied = await tx.copy('copy pg_temp.incoming from stdin', copyParts(open(), count, skip))
    if (copied === 0) throw new ImportRefused(['the file contains no postcode'], 0)
    await tx.query(`set local work_mem = '64MB'`)
    const countryRows = await tx.query<{ country: string }>('select distinct country from pg_temp.incoming order by country')
    const countries = countryRows.map(({ country }) => country)
    await tx.query('delete from postcode where country = any($1)', [countries])
    const [stored] = await tx.query<{ postcodes: number }>(
      `with stored as (
         insert into postcode (postcode_key, country, postcode, latitude, longitude)
         select distinct on (key, country) key, country, postcode, latitude, longitude from pg_temp.incoming
         order by key, country, accuracy desc, line
         returning 1)
       select count(*)::int as postcodes from stored`,
    )
    return { ...count, postcodes: stored?.postcodes ?? 0, countries }
  }, signal)
}

/**
 * Yields the valid lines in the text format of COPY. Throws `ImportRefused` at the end of the file
 * if there were invalid lines and `skip` is not given.
 */
async function* copyParts(
  bytes: AsyncIterable<Uint8Array>,
  count: { lines: number; skipped: number },
  skip: ((problem: string) => void) | undefined,
): AsyncGenerator<string> {
  const problems: string[] = []
  let malformedLines = 0
  let part = ''
  for await (const lines of readLines(bytes)) {
    for (const line of lines) {
      count.lines++
      const place = readGeonamesLine(line)
      if (typeof place === 'string') {
        const problem = `line ${count.lines} ${place}`
        malformedLines++
        if (skip) skip(problem)
        else if (problems.length < MAX_LISTED_PROBLEMS) problems.push(problem)
      } else {
        const { country, postcode, key, latitude, longitude, accuracy } = place
        part += `${count.lines}\t${country}\t${postcode}\t${key}\t${latitude}\t${longitude}\t${accuracy}\n`
      }
      if (part.length < COPY_CHARACTERS) continue
      if (malformedLines === 0 || skip) yield part
      part = ''
    }
  }
  if (malformedLines > 0 && !skip) throw new ImportRefused(problems, malformedLines - problems.length)
  count.skipped = malformedLines
  if (part !== '') yield part
}
