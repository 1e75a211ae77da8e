import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { initDatabase, startPostgres } from '@vitascope/embedded-postgres'
import { migrate, openPostgres } from '@vitascope/postgres'
import { testLog, type WatchedStatement, watchStatements } from '@vitascope/testing'
import { exerciseCatalogue } from '../../apps/catalogue/test/scale/exercise-catalogue.ts'
import { startScaleCatalogue } from '../../apps/catalogue/test/scale/scale-catalogue.ts'
import { type SeedSize, seedCatalogue } from '../../apps/catalogue/test/seed/seed-catalogue.ts'
import { type ReportFigure, singleValue } from '../figure.ts'
import { median } from '../ratio.ts'
import { withoutIndexes } from './without-indexes.ts'

const goalMs = 50
/**
 * A realistic setting for a database of 5 GB. The default of 128 MB would measure reads from the
 * disk cache.
 */
const BUFFERS = '1GB'
const rounds = 5

/** Fills a catalogue by COPY, runs all its queries and prints the slowest statements. */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      videos: { type: 'string', default: '1000000' },
      organisations: { type: 'string', default: '100' },
      dir: { type: 'string' },
      show: { type: 'string', default: '20' },
    },
  })
  const size = { videos: requirePositiveInteger(values.videos), organisations: requirePositiveInteger(values.organisations) }
  const folder = values.dir ?? (await mkdtemp(join(tmpdir(), 'vitascope-bench-seed-')))
  const dir = join(folder, 'postgres')
  if (await initDatabase(dir, { durable: false })) await appendFile(join(dir, 'postgresql.conf'), `shared_buffers = ${BUFFERS}\n`)
  const server = await startPostgres({ dir, durable: false })
  try {
    await fill(server.url, join(folder, 'filled'), size)
    const time = printSlowest(await measure(server.url, size), requirePositiveInteger(values.show))
    report({
      row: 'slowest',
      title: `slowest statement with ${size.videos} videos`,
      unit: 'ms',
      value: singleValue(time),
      goal: { atMost: goalMs },
    })
  } finally {
    await server.stop()
    if (values.dir === undefined) await rm(folder, { recursive: true, force: true })
    else console.log(`kept: ${folder}`)
  }
}

function requirePositiveInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`not an integer above 0: ${text}`)
  return number
}

/** Fills the folder, unless an earlier bench has filled it with the same size. */
async function fill(url: string, marker: string, size: SeedSize): Promise<void> {
  const content = JSON.stringify(size)
  if (existsSync(marker) && readFileSync(marker, 'utf8') === content) return
  if (existsSync(marker)) throw new Error(`the folder was filled with ${readFileSync(marker, 'utf8')}; choose another one`)
  const start = performance.now()
  const folder = fileURLToPath(new URL('../../apps/catalogue/migrations', import.meta.url))
  await migrate({ url, schema: 'catalogue', folder, log: testLog })
  const db = openPostgres({ url, schema: 'catalogue', log: testLog, statementTimeoutMs: 3_600_000 })
  try {
    await withoutIndexes(db, () => seedCatalogue(db, { ...size, report: console.log }), console.log)
    await db.query('vacuum analyze')
    writeFileSync(marker, content)
    const [row] = await db.query<{ size: string }>('select pg_size_pretty(pg_database_size(current_database())) as size')
    console.log(`${size.videos} videos of ${size.organisations} organisations in ${seconds(start)} s, ${row?.size}`)
  } finally {
    await db.close()
  }
}

/**
 * Returns the milliseconds of each run, by statement and round. The first round is a warm-up and is not
 * returned. Every round runs the same requests in the same order.
 */
async function measure(url: string, size: SeedSize): Promise<Map<string, number[][]>> {
  const watched = await watchStatements(url)
  const catalogue = await startScaleCatalogue(url)
  const times = new Map<string, number[][]>()
  try {
    for (let round = 0; round <= rounds; round++) {
      const start = performance.now()
      watched.statements.length = 0
      await exerciseCatalogue(catalogue.clients, size)
      console.log(`round ${round}: ${watched.statements.length} statements in ${seconds(start)} s`)
      if (round > 0) for (const [text, runs] of groupByStatement(watched.statements)) times.set(text, [...(times.get(text) ?? []), runs])
    }
  } finally {
    watched.stop()
    await catalogue.stop()
  }
  return times
}

function groupByStatement(statements: readonly WatchedStatement[]): Map<string, number[]> {
  const runs = new Map<string, number[]>()
  for (const { text, duration } of statements) {
    const key = text.replaceAll(/\s+/g, ' ').trim()
    runs.set(key, [...(runs.get(key) ?? []), duration])
  }
  return runs
}

/**
 * Returns the slowest run by its median over the rounds, which reduces the noise of other
 * processes.
 */
function slowestRun(perRound: readonly number[][]): number {
  const max = Math.max(...perRound.map((runs) => runs.length))
  const medians = Array.from({ length: max }, (_, run) => median(perRound.flatMap((runs) => runs[run] ?? [])))
  return Math.max(...medians)
}

/** Prints the slowest statements. Returns the time of the slowest one in milliseconds. */
function printSlowest(times: Map<string, number[][]>, show: number): number {
  const slowest = [...times].map(([text, perRound]) => ({ text, time: slowestRun(perRound) })).sort((a, b) => b.time - a.time)
  console.log(`${times.size} statements; the slowest by their slowest run (median of ${rounds} rounds):`)
  for (const { text, time } of slowest.slice(0, show)) console.log(`${time.toFixed(1).padStart(8)} ms  ${text.slice(0, 400)}`)
  return slowest[0]?.time ?? Number.NaN
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(1)
}
