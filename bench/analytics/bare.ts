import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import * as copyStreams from 'pg-copy-streams'
import { COLUMNS } from '../../apps/analytics/src/event/event-line.ts'
import { withClient } from './with-client.ts'

const ROWS_AT_ONCE = 5_000

/**
 * Creates the tables of both baselines in the same database, logged and without indexes. `bare_event` has
 * the columns and NOT NULL constraints of the product's table. `bare_intake_event` has the fields of a
 * received event.
 */
export async function makeTables(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('create table if not exists bare_event (like analytics.event including defaults)')
    await client.query(`create table if not exists bare_intake_event (video_id bigint, view_id uuid, type text, position float8, watched float8[], language text,
      subtitle text, at bigint)`)
  })
}

/**
 * Returns the rows per second of one connection that only runs COPY, with a commit per 5,000 rows.
 * Every row is generated for its insert, and the next rows are generated while PostgreSQL writes.
 */
export function copyRate(url: string, videoIds: readonly string[], seconds: number): Promise<number> {
  return withClient(url, async (client) => {
    await client.query('set search_path = analytics')
    const started = performance.now()
    let rows = 0
    let text = lines(videoIds)
    while (performance.now() - started < seconds * 1_000) {
      const copying = pipeline(Readable.from([text]), client.query(copyStreams.from(`copy public.bare_event (${COLUMNS}) from stdin`)))
      text = lines(videoIds)
      await copying
      rows += ROWS_AT_ONCE
    }
    const rate = (rows / (performance.now() - started)) * 1_000
    await client.query('truncate public.bare_event')
    return rate
  })
}

/** Returns 5,000 rows with the data of the events that the load generator sends, as input of COPY. */
function lines(videoIds: readonly string[]): string {
  const now = Date.now()
  const day = new Date(now).toISOString().slice(0, 10)
  let text = ''
  for (let nth = 0; nth < ROWS_AT_ONCE; nth++) {
    text += `1\t${day}\t${now}\t${now}\t2\t${videoIds[nth % videoIds.length]}\t${randomUUID()}\t3\t60000\t3500\t{0,3500}\t{}\ten\t\t\\\\x0011223344556677\t\\N\t\\N\t\\N\t\t\\N\t\\N\n`
  }
  return text
}

/** Starts `bare-intake.ts` as its own process. */
export async function startBareIntake(url: string): Promise<{ url: string; stop(): Promise<void> }> {
  const main = fileURLToPath(new URL('bare-intake.ts', import.meta.url))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    url: `http://127.0.0.1:${port.toString().trim()}`,
    async stop() {
      const exited = once(child, 'exit')
      child.stdin.end()
      await exited
    },
  }
}
