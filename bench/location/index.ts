import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { initDatabase, startPostgres } from '@vitascope/embedded-postgres'
import { type Db, migrate, openPostgres } from '@vitascope/postgres'
import { createLogger } from '@vitascope/telemetry'
import { importGeonames } from '../../apps/catalogue/src/location/geonames-import.ts'
import { type ReportFigure, singleValue } from '../figure.ts'
import { median, medianRatio } from '../ratio.ts'
import { writeGeonamesFile } from './geonames-file.ts'

const goalSeconds = 60
const migrations = join(import.meta.dirname, '../../apps/catalogue/migrations')
const bareTable = `create unlogged table if not exists bare (country text, postcode text, place text, name1 text, code1 text, name2 text, code2 text,
  name3 text, code3 text, latitude float8, longitude float8, accuracy text)`

/**
 * Compares the import of a GeoNames file of 2 million lines with a COPY of the same bytes without
 * validation.
 */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { lines: { type: 'string', default: '2000000' }, pairs: { type: 'string', default: '3' } },
  })
  const [lines, pairs] = [Number(values.lines), Math.max(1, Number.parseInt(values.pairs, 10) || 1)]
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-bench-location-'))
  const log = createLogger({ service: 'bench', level: 'error' })
  try {
    const file = join(folder, 'allCountries.txt')
    await writeGeonamesFile(file, lines)
    const { size } = await stat(file)
    await initDatabase(join(folder, 'postgres'), {})
    const server = await startPostgres({ dir: join(folder, 'postgres') })
    try {
      await migrate({ url: server.url, schema: 'catalogue', folder: migrations, log })
      const db = openPostgres({ url: server.url, schema: 'catalogue', log, poolSize: 1, statementTimeoutMs: 600_000 })
      try {
        console.log(
          `location: ${lines} lines (${Math.round(size / 1e6)} MB), ${pairs} interleaved pairs, on a database with synchronous commits`,
        )
        await compare(db, file, { lines, pairs }, report)
      } finally {
        await db.close()
      }
    } finally {
      await server.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function compare(db: Db, file: string, { lines, pairs }: { lines: number; pairs: number }, report: ReportFigure): Promise<void> {
  await db.query(bareTable)
  const importSeconds: number[] = []
  const bare: number[] = []
  const open = () => createReadStream(file, { highWaterMark: 1024 * 1024 })
  for (let pair = 0; pair < pairs; pair++) {
    const steps = [
      async () => {
        const result = await timed(importSeconds, () => importGeonames(db, open))
        console.log(
          `  import: ${importSeconds.at(-1)?.toFixed(1)} s, ${result.postcodes} postcodes of ${result.countries.length} countries`,
        )
      },
      async () => {
        await db.query('truncate bare')
        await timed(bare, () => db.transaction((tx) => tx.copy('copy bare from stdin', open().setEncoding('utf8'))))
        console.log(`  bare COPY: ${bare.at(-1)?.toFixed(1)} s`)
      },
    ]
    // The order alternates, so that neither side gains from a machine that warms up or slows down.
    if (pair % 2 === 1) steps.reverse()
    for (const step of steps) await step()
  }
  const ratio = medianRatio(importSeconds.map((seconds, pair) => seconds / (bare[pair] ?? seconds)))
  const seconds = median(importSeconds)
  const detail = `${Math.round(lines / seconds)} lines/s`
  report({
    row: 'import',
    title: `import of ${lines} lines`,
    unit: 's',
    value: singleValue(seconds),
    goal: { atMost: goalSeconds },
    detail,
  })
  report({ row: 'ratio', title: 'import of a GeoNames file, against a bare COPY', value: ratio })
}

async function timed<T>(times: number[], run: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await run()
  times.push((performance.now() - began) / 1000)
  return result
}
