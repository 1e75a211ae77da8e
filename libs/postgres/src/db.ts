import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { DomainError, isDomainError } from '@vitascope/errors'
import type { Logger } from '@vitascope/telemetry'
import pg from 'pg'
import * as copyStreams from 'pg-copy-streams'
import { copyAtOnce } from './copy-at-once.ts'
import type { FailoverWatch } from './failover.ts'

/** Runs one statement with parameters; identifiers in `text` come from constants only. */
export type Query = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>

/** One transaction. `afterCommit` runs when, and only when, it was committed. */
export interface Transaction {
  query: Query
  /** Feeds a `copy … from stdin` with its text, part by part as the server takes it; answers the number of rows. */
  copy(text: string, parts: AsyncIterable<string>): Promise<number>
  afterCommit(run: () => void): void
}

/**
 * A service's schema in PostgreSQL. Each statement has a timeout, and a shorter one for locks; a database that is away refuses as
 * unavailable. Transactions have connections of their own: however long they wait for each other, plain queries are answered.
 */
export interface Db {
  query: Query
  /**
   * Runs `change` in a transaction (read committed). A deadlock or serialisation failure is tried again, five times in all, so
   * `change` may run more than once; then it is refused as unavailable. Nothing is begun, and no statement is sent, once the signal has
   * aborted.
   */
  transaction<T>(change: (tx: Transaction) => Promise<T>, signal?: AbortSignal): Promise<T>
  /**
   * Feeds a `copy … from stdin` with its lines, in a transaction of its own, which statements in front of it in `text` share: one way to the server and
   * back. Tried again as a transaction is. `text` holds no parameters: what it names is a constant, a number, or a day.
   */
  copy(text: string, lines: string): Promise<void>
  /** Runs `look` in a read-only transaction, for settings that hold for a query or two, on the connections of the plain queries. */
  reading<T>(look: (query: Query) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** True when the database answers. */
  ping(): Promise<boolean>
  close(): Promise<void>
}

export interface PostgresOptions {
  url: string
  /** The service's own schema: the search path of every connection. */
  schema: string
  log: Logger
  /** Connections at most for transactions, and as many for plain queries; 4 was faster than 10 on two cores. */
  poolSize?: number
  /** Milliseconds that one statement may take; 5,000 by default. */
  statementTimeoutMs?: number
  /** Looks at every new connection before it is used, and at every ping; shared by all that a service opens. */
  failovers?: FailoverWatch
}

const TRIES = 5
/** Milliseconds before the second try at most, twice as many before the third, and so on. */
const JITTER_MS = 20
/** Milliseconds that a statement waits for a row that another transaction holds. */
const LOCK_TIMEOUT_MS = 2_000
const SERIALISATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const LOCKED = '55P03'
const READ_ONLY = '25006'
/**
 * Class 08 (connection), 57P (shutdown, starting up), 57014 (its time was over), 53100, 53200, 53300 (no disk, memory or connection left), 25006 (it is
 * read-only), and what the socket says.
 */
const AWAY = new RegExp(
  `^(08...|57P0[123]|57014|53[123]00|${READ_ONLY}|ECONN\\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$`,
)
/** The server ends a statement by itself; one that says nothing for so much longer is behind a connection that is dead without a word. */
const SILENCE_MS = 1_000
const SILENT = /^Query read timeout$/

export function openPostgres(options: PostgresOptions): Db {
  const open = () => openPool(options)
  const [plain, changing] = [open(), open()]

  return {
    query: (text, values = []) => run(plain, text, values),
    transaction: (change, signal) => again(() => transactionOnce(changing, 'begin', change, signal), signal),
    copy: (text, lines) => again(() => copyOnce(changing, text, lines)),
    reading: (look, signal) => transactionOnce(plain, 'begin read only', ({ query }) => look(query), signal).catch(throwOwnWrite),
    ping: async () => {
      try {
        await ping(plain, options.failovers)
        return true
      } catch {
        return false
      }
    },
    close: () => Promise.all([plain.end(), changing.end()]).then(() => {}),
  }
}

function openPool(options: PostgresOptions): pg.Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? 5_000
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize ?? 4,
    connectionTimeoutMillis: 2_000,
    statement_timeout: statementTimeoutMs,
    lock_timeout: LOCK_TIMEOUT_MS,
    query_timeout: statementTimeoutMs + SILENCE_MS,
    keepAlive: true,
    idle_in_transaction_session_timeout: 30_000,
    application_name: `vitascope-${options.schema}`,
    options: `-c search_path=${quoteIdentifier(options.schema)}`,
    ...(options.failovers && { onConnect: options.failovers.look }),
  })
  // Without a listener the shutdown of the server would end this process.
  // A connection may end in the very moment in which it is handed over, when nobody else listens: the next statement on it is refused.
  pool.on('connect', (client) => client.on('error', (error) => options.log.debug({ reason: error.message }, 'a database connection ended')))
  pool.on('error', (error) => options.log.warn({ err: error }, 'an idle database connection ended'))
  return pool
}

/** A pooler in front may lead a connection that stands to another server: one that is open already is looked at, too. */
async function ping(pool: pg.Pool, failovers: FailoverWatch | undefined): Promise<void> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('select 1')
    await failovers?.look(client)
  } catch (error) {
    broken = error as Error
    throw error
  } finally {
    client.release(broken)
  }
}

/** True for a breach of a unique constraint or index, of the named one when a name is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505' && (constraint === undefined || error.constraint === constraint)
}

/** Tries once more what met a deadlock or a serialisation failure. */
async function again<T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    try {
      return await run()
    } catch (error) {
      const met = error instanceof pg.DatabaseError && (error.code === SERIALISATION_FAILURE || error.code === DEADLOCK)
      if (!met) throw error
      if (attempt === TRIES) throw busy(error)
    }
    // Those who met would meet again in step.
    await delay(Math.random() * JITTER_MS * 2 ** (attempt - 1), undefined, { ...(signal && { signal }) })
  }
}

async function copyOnce(pool: pg.Pool, text: string, lines: string): Promise<void> {
  const client = await connect(pool)
  let broken: Error | undefined
  try {
    await copyAtOnce(client, text, lines)
  } catch (error) {
    // What it is good for after that is not looked into.
    broken = error as Error
    throw asRefusal(error)
  } finally {
    client.release(broken)
  }
}

async function transactionOnce<T>(
  pool: pg.Pool,
  begin: 'begin' | 'begin read only',
  change: (tx: Transaction) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted()
  const client = await connect(pool)
  const committed: (() => void)[] = []
  let broken: Error | undefined
  // A connection that ends between two statements says so to its listener, or else ends this process; the next statement fails.
  const ended = (error: Error) => {
    broken = error
  }
  client.on('error', ended)
  try {
    await run(client, begin, [])
    const result = await change({
      query: (text, values = []) => {
        signal?.throwIfAborted()
        return run(client, text, values)
      },
      copy: (text, parts) => copy(client, text, parts, signal),
      afterCommit: (later) => void committed.push(later),
    })
    signal?.throwIfAborted()
    await commit(client)
    for (const later of committed) later()
    return result
  } catch (error) {
    if (isDomainError(error) && SILENT.test((error.cause as Error | undefined)?.message ?? '')) broken = error
    else {
      await client.query('rollback').catch((failure: Error) => {
        broken = failure
      })
    }
    throw error
  } finally {
    client.off('error', ended)
    // A connection that ended, or could not roll back, is not given to anybody else.
    client.release(broken)
  }
}

/** PostgreSQL answers the commit of a transaction in which a statement failed without an error: it rolls back, and says so. */
async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await client.query('commit').catch((error: unknown) => {
    throw asRefusal(error)
  })
  if (command !== 'COMMIT') throw new Error('a transaction was rolled back: one of its statements failed, and nobody said so')
}

/** A write where only reading was asked for is a fault of ours, and says nothing of the database. */
function throwOwnWrite(error: unknown): never {
  const cause = isDomainError(error) ? error.cause : undefined
  throw cause instanceof pg.DatabaseError && cause.code === READ_ONLY ? cause : error
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw asRefusal(error)
  }
}

async function run<Row>(queryable: pg.Pool | pg.PoolClient, text: string, values: readonly unknown[]): Promise<Row[]> {
  try {
    // The row's type is the statement's promise, checked by the store's tests on a real database.
    return (await queryable.query(text, [...values])).rows as Row[]
  } catch (error) {
    throw asRefusal(error)
  }
}

async function copy(client: pg.PoolClient, text: string, parts: AsyncIterable<string>, signal: AbortSignal | undefined): Promise<number> {
  const sink = client.query(copyStreams.from(text))
  try {
    await pipeline(Readable.from(parts), sink, { ...(signal && { signal }) })
    return sink.rowCount
  } catch (error) {
    // The server then calls it a statement that was cancelled.
    signal?.throwIfAborted()
    throw asRefusal(error)
  }
}

function asRefusal(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string }
  if (code === LOCKED) return busy(error)
  const away =
    AWAY.test(code ?? '') ||
    /Connection terminated|timeout exceeded when trying to connect|not queryable/.test(message ?? '') ||
    SILENT.test(message ?? '')
  if (!away) return error
  return new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'the database is not to be reached, or takes no writes: try again', {
    retryAfter: 1,
    cause: error,
  })
}

function busy(cause: unknown): DomainError {
  return new DomainError('unavailable', 'DATABASE_BUSY', 'others are changing the same just now: try again', { retryAfter: 1, cause })
}

function quoteIdentifier(name: string): string {
  if (!/^[a-z_]+$/.test(name)) throw new Error(`not a schema name: ${name}`)
  return name
}
