import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** A table of the columns of an event, and of no index. */
const TABLE = `create unlogged table if not exists bare_event (video_id bigint, view_id uuid, type text, position float8, watched float8[], language text,
  subtitle text, at bigint, received bigint, organisation_id bigint, duration_ms int, visitor bytea)`
const ROWS_AT_ONCE = 5_000

export async function makeTable(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  // As durable as the table of the product.
  await client.query(TABLE.replace('unlogged ', ''))
  await client.end()
}

/** Rows a second of one connection that does nothing but COPY, a commit for each 5,000. */
export async function copyRate(url: string, seconds: number): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  const line = (nth: number) =>
    `4611686018427387905\t${randomUUID()}\tprogress\t${nth % 60}\t{0,${nth % 60}}\ten\t\t${Date.now()}\t${Date.now()}\t2\t60000\t\\\\x00112233445566778899aabbccddeeff\n`
  const text = Array.from({ length: ROWS_AT_ONCE }, (_, nth) => line(nth)).join('')
  const started = performance.now()
  let rows = 0
  while (performance.now() - started < seconds * 1_000) {
    await pipeline(Readable.from([text]), client.query(copyFrom('copy bare_event from stdin')))
    rows += ROWS_AT_ONCE
  }
  const rate = (rows / (performance.now() - started)) * 1_000
  await client.query('truncate bare_event')
  await client.end()
  return rate
}

/** The bare server as a process of its own. */
export async function startBareIntake(url: string): Promise<{ url: string; stop(): Promise<void> }> {
  const main = fileURLToPath(new URL('bare-intake.ts', import.meta.url))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    url: `http://127.0.0.1:${port.toString().trim()}`,
    async stop() {
      const gone = once(child, 'exit')
      child.stdin.end()
      await gone
    },
  }
}
