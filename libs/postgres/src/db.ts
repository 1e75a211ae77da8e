import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { DomainError, isDomainError } from '@vitascope/errors'
import { currentTraceparent, traced } from '@vitascope/telemetry'
import pg from 'pg'
import * as copyStreams from 'pg-copy-streams'
import { copyInOneRoundTrip } from './copy-in-one-round-trip.ts'
import { describeStatement } from './describe-statement.ts'
import { openPool, type PoolState, type PostgresOptions, ping, toPoolState } from './pool.ts'
import { RAW_TYPES, type TextRow, toTextRow } from './text-row.ts'

/** Runs one statement with parameters. Identifiers in `text` must come from constants. */
export type Query = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>

/** One transaction. */
export interface Transaction {
  query: Query
  /**
   * Sends the lines of a `copy … from stdin` in chunks, as fast as the server reads them. Returns
   * the number of rows.
   */
  copy(text: string, chunks: AsyncIterable<string>): Promise<number>
  /** Registers a function that runs after the commit. It does not run after a rollback. */
  afterCommit(run: () => void): void
}

/**
 * A service's schema in PostgreSQL. Each statement has a timeout, and a shorter one for locks. If
 * the database is unavailable, all methods except `ping` and `close` throw `unavailable`.
 * Transactions use a separate pool, so plain queries are not blocked by transactions that wait for
 * each other.
 */
export interface Db {
  query: Query
  /**
   * Like `query`, with a statement that each connection prepares once. Only for frequent reads with
   * a constant text: planning a join of ten tables takes longer than running it for one row.
   */
  prepared: Query
  /** Like `prepared`, with rows that are parsed only on demand. */
  preparedTexts<Row>(text: string, values?: readonly unknown[]): Promise<TextRow<Row>[]>
  /**
   * Runs `change` in a transaction (read committed). Retries after a deadlock or serialisation
   * failure, up to five attempts in all, so `change` may run more than once. After that it throws
   * `unavailable`. After the signal has aborted, it starts no attempt, and statements of `change`
   * throw.
   */
  transaction<T>(change: (tx: Transaction) => Promise<T>, signal?: AbortSignal): Promise<T>
  /**
   * Runs a `copy … from stdin` with its lines in one round trip and one transaction, which includes
   * the statements before it in `text`. Retries like `transaction`. `text` has no parameters: its
   * values must be constants, numbers or days.
   */
  copy(text: string, lines: string): Promise<void>
  /**
   * Runs `read` in a read-only transaction on the pool of the plain queries, for settings that
   * apply to one or two queries.
   */
  readOnly<T>(read: (query: Query) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Returns the connections of each pool. */
  pools(): PoolState[]
  /** Returns whether the database responds. */
  ping(): Promise<boolean>
  close(): Promise<void>
}

const MAX_ATTEMPTS = 5
/** Maximum delay in ms before the second attempt. It doubles for each further attempt. */
const JITTER_MS = 20
const SERIALISATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const LOCK_NOT_AVAILABLE = '55P03'
const READ_ONLY_TRANSACTION = '25006'
/**
 * Error codes of an unavailable database: class 08 (connection), 57P (shutdown, starting up), 57014
 * (statement timeout), 53100, 53200, 53300 (no disk, memory or connection left), 25006 (read-only),
 * and socket errors.
 */
const UNAVAILABLE_CODES = new RegExp(
  `^(08...|57P0[123]|57014|53[123]00|${READ_ONLY_TRANSACTION}|ECONN\\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$`,
)
const NO_RESPONSE = /^Query read timeout$/
const RECORD_BUSY = 'another request is changing the same record; try again'
// Message of pg-pool if no connection became free within connectionTimeoutMillis.
const POOL_EXHAUSTED = 'timeout exceeded when trying to connect'

export function openPostgres(options: PostgresOptions): Db {
  const open = () => openPool(options)
  const [queryPool, transactionPool] = [open(), open()]
  const logChange = createOutageLog(options)

  return {
    query: (text, values = []) => run(queryPool, text, values),
    prepared: (text, values = []) => run(queryPool, text, values, options.isPooled ? undefined : statementName(text)),
    preparedTexts: (text, values = []) => runForTexts(queryPool, text, values, options.isPooled ? undefined : statementName(text)),
    transaction: (change, signal) => retryConflicts(() => transactionOnce(transactionPool, 'begin', change, signal), signal),
    copy: (text, lines) => retryConflicts(() => copyOnce(transactionPool, text, lines)),
    readOnly: (read, signal) => transactionOnce(queryPool, 'begin read only', ({ query }) => read(query), signal).catch(throwWriteError),
    pools: () => [toPoolState('queries', queryPool), toPoolState('transactions', transactionPool)],
    ping: async () => {
      try {
        await ping(queryPool, options.failovers)
        logChange()
        return true
      } catch (error) {
        logChange(error)
        return false
      }
    },
    close: () => Promise.all([queryPool.end(), transactionPool.end()]).then(() => {}),
  }
}

/**
 * Returns a function that logs the first failed check of an outage, and its end. Requests of that time fail with
 * `unavailable`, which is not logged for each of them.
 */
function createOutageLog({ log, schema }: PostgresOptions): (error?: unknown) => void {
  let hasFailed = false
  return (error) => {
    const fails = error !== undefined
    if (fails === hasFailed) return
    hasFailed = fails
    if (fails) log.error({ err: error, schema }, 'the database does not respond')
    else log.info({ schema }, 'the database responds again')
  }
}

/**
 * Returns whether the error is a violation of a unique constraint or index; with a name, only of
 * this one.
 */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505' && (constraint === undefined || error.constraint === constraint)
}

/**
 * Runs a function, and repeats it after a deadlock or a serialisation failure. Throws DATABASE_BUSY
 * after MAX_ATTEMPTS attempts.
 */
async function retryConflicts<T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    try {
      return await run()
    } catch (error) {
      const isConflict = error instanceof pg.DatabaseError && (error.code === SERIALISATION_FAILURE || error.code === DEADLOCK)
      if (!isConflict) throw error
      if (attempt === MAX_ATTEMPTS) throw busyError(RECORD_BUSY, error)
    }
    // The delay is random, so that the transactions do not conflict again.
    await delay(Math.random() * JITTER_MS * 2 ** (attempt - 1), undefined, { ...(signal && { signal }) })
  }
}

async function copyOnce(pool: pg.Pool, text: string, lines: string): Promise<void> {
  const client = await connect(pool)
  let connectionError: Error | undefined
  try {
    await traced(
      () => describeStatement(text),
      () => copyInOneRoundTrip(client, text, lines),
    )
  } catch (error) {
    // The connection is discarded after a failed copy, because its state is unknown.
    connectionError = error as Error
    throw toDomainError(error)
  } finally {
    client.release(connectionError)
  }
}

/**
 * Runs one attempt of a transaction: commits it if `change` returns, and rolls it back if `change`
 * throws.
 */
async function transactionOnce<T>(
  pool: pg.Pool,
  begin: 'begin' | 'begin read only',
  change: (tx: Transaction) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted()
  const client = await connect(pool)
  const afterCommitCallbacks: (() => void)[] = []
  let connectionError: Error | undefined
  // A connection that ends between two statements emits an error, which would end the process
  // without this listener. The next statement fails.
  const onError = (error: Error) => {
    connectionError = error
  }
  client.on('error', onError)
  try {
    await run(client, begin === 'begin' ? beginInTrace() : begin, [])
    const result = await change({
      query: (text, values = []) => {
        signal?.throwIfAborted()
        return run(client, text, values)
      },
      copy: (text, chunks) => copy(client, text, chunks, signal),
      afterCommit: (callback) => void afterCommitCallbacks.push(callback),
    })
    signal?.throwIfAborted()
    await commit(client)
    for (const callback of afterCommitCallbacks) callback()
    return result
  } catch (error) {
    if (isDomainError(error) && NO_RESPONSE.test((error.cause as Error | undefined)?.message ?? '')) connectionError = error
    else {
      await client.query('rollback').catch((failure: Error) => {
        connectionError = failure
      })
    }
    throw error
  } finally {
    client.off('error', onError)
    // The pool discards a connection that ended or could not roll back.
    client.release(connectionError)
  }
}

/**
 * Returns the statement that begins a transaction. In a trace it sets `vitascope.traceparent`, which
 * is the default of the columns that store the trace of an outbox message, a work item or a delivery.
 */
function beginInTrace(): string {
  const traceparent = currentTraceparent()
  // A traceparent consists of hexadecimal digits and hyphens.
  return traceparent === undefined ? 'begin' : `begin; set local vitascope.traceparent = '${traceparent}'`
}

/**
 * Commits the transaction. If a statement of the transaction failed, PostgreSQL responds to COMMIT
 * without an error but with a rollback.
 */
async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await traced(
    () => describeStatement('commit'),
    () => client.query('commit'),
  ).catch((error: unknown) => {
    throw toDomainError(error)
  })
  if (command !== 'COMMIT') throw new Error('a transaction was rolled back, because the error of one of its statements was ignored')
}

/**
 * Rethrows the database error for a write in a read-only transaction: it is a programming error,
 * not an unavailable database.
 */
function throwWriteError(error: unknown): never {
  const cause = isDomainError(error) ? error.cause : undefined
  throw cause instanceof pg.DatabaseError && cause.code === READ_ONLY_TRANSACTION ? cause : error
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw toDomainError(error)
  }
}

const statementNames = new Map<string, string>()

/** Returns a name for the text of a prepared statement. The same text has the same name. */
function statementName(text: string): string {
  const name = statementNames.get(text) ?? createHash('sha256').update(text).digest('base64url').slice(0, 20)
  statementNames.set(text, name)
  return name
}

/** Runs a statement, as a prepared statement if it has a name. */
async function run<Row>(queryable: pg.Pool | pg.PoolClient, text: string, values: readonly unknown[], name?: string): Promise<Row[]> {
  try {
    const { rows } = await traced(
      () => describeStatement(text),
      () => queryable.query({ text, values: [...values], ...(name !== undefined && { name }) }),
    )
    // The row type is declared by the caller and checked by the store's tests on a real database.
    return rows as Row[]
  } catch (error) {
    throw toDomainError(error)
  }
}

/** Like `run`, with rows that are parsed only on demand. */
async function runForTexts<Row>(pool: pg.Pool, text: string, values: readonly unknown[], name?: string): Promise<TextRow<Row>[]> {
  try {
    const query: pg.QueryArrayConfig = {
      text,
      values: [...values],
      rowMode: 'array',
      types: RAW_TYPES,
      ...(name !== undefined && { name }),
    }
    const { rows, fields } = await traced(
      () => describeStatement(text),
      () => pool.query<(string | null)[]>(query),
    )
    return rows.map((row) => toTextRow<Row>(row, fields))
  } catch (error) {
    throw toDomainError(error)
  }
}

async function copy(client: pg.PoolClient, text: string, chunks: AsyncIterable<string>, signal: AbortSignal | undefined): Promise<number> {
  const sink = client.query(copyStreams.from(text))
  try {
    await pipeline(Readable.from(chunks), sink, { ...(signal && { signal }) })
    return sink.rowCount
  } catch (error) {
    // After an abort the server reports a cancelled statement; throw the reason of the signal
    // instead.
    signal?.throwIfAborted()
    throw toDomainError(error)
  }
}

/**
 * Converts errors of an unavailable or busy database to domain errors. Returns other errors
 * unchanged.
 */
function toDomainError(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string }
  if (code === LOCK_NOT_AVAILABLE) return busyError(RECORD_BUSY, error)
  if (message === POOL_EXHAUSTED) return busyError('all connections to the database are in use; try again', error)
  const isUnavailable =
    UNAVAILABLE_CODES.test(code ?? '') || /Connection terminated|not queryable/.test(message ?? '') || NO_RESPONSE.test(message ?? '')
  if (!isUnavailable) return error
  return new DomainError('unavailable', 'DATABASE_UNAVAILABLE', 'the database is unreachable or read-only; try again', {
    retryAfter: 1,
    cause: error,
  })
}

function busyError(sentence: string, cause: unknown): DomainError {
  return new DomainError('unavailable', 'DATABASE_BUSY', sentence, { retryAfter: 1, cause })
}
