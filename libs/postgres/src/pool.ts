import type { Logger } from '@vitascope/telemetry'
import pg from 'pg'
import type { FailoverWatch } from './failover.ts'

export interface PoolState {
  pool: 'queries' | 'transactions'
  active: number
  idle: number
  /** Maximum number of connections. */
  limit: number
  /** Calls that wait for a connection. */
  waiting: number
}

export interface PostgresOptions {
  url: string
  /** The service's own schema, which is the search path of every connection. */
  schema: string
  log: Logger
  /**
   * Maximum number of connections for transactions, and the same number for plain queries; 4 by
   * default, which was faster than 10 on two cores.
   */
  poolSize?: number
  /**
   * True if `url` leads through a transaction pooler such as PgBouncer. Connections then have the
   * settings of their role, and there are no prepared statements.
   */
  isPooled?: boolean
  /**
   * Timeout of a statement in ms; 5,000 by default. It has no effect with `isPooled`, where the
   * role sets the timeout.
   */
  statementTimeoutMs?: number
  /**
   * Checks every new connection before its first use, and at every ping. Shared by all pools of a
   * service.
   */
  failovers?: FailoverWatch
}

const STATEMENT_TIMEOUT_MS = 5_000
/** Milliseconds that a statement waits for a row that another transaction has locked. */
const LOCK_TIMEOUT_MS = 2_000
/** Milliseconds after which the server ends a connection that is idle in a transaction. */
const IDLE_TIMEOUT_MS = 30_000
/**
 * The server cancels a statement at its timeout. If it does not respond within this additional
 * time, the connection is dead.
 */
const RESPONSE_DELAY_MS = 1_000

export function openPool(options: PostgresOptions): pg.Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize ?? 4,
    connectionTimeoutMillis: 2_000,
    query_timeout: statementTimeoutMs + RESPONSE_DELAY_MS,
    keepAlive: true,
    application_name: `vitascope-${options.schema}`,
    ...(!options.isPooled && {
      statement_timeout: statementTimeoutMs,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_TIMEOUT_MS,
      options: `-c search_path=${quoteIdentifier(options.schema)}`,
    }),
    onConnect: async (client: pg.ClientBase) => {
      if (options.isPooled) await requireRoleSettings(client, options.schema)
      await options.failovers?.check(client)
    },
  })
  // Without a listener, a shutdown of the server would end this process. A connection may end at
  // the moment when the pool returns it, while there is no other listener. The next statement on it
  // fails.
  pool.on('connect', (client) => client.on('error', (error) => options.log.debug({ reason: error.message }, 'database connection closed')))
  pool.on('error', (error) => options.log.warn({ err: error }, 'idle database connection closed'))
  return pool
}

export function toPoolState(pool: PoolState['pool'], { totalCount, idleCount, waitingCount, options }: pg.Pool): PoolState {
  return { pool, active: totalCount - idleCount, idle: idleCount, limit: options.max ?? totalCount, waiting: waitingCount }
}

/**
 * Returns the settings that the role of a service requires behind a transaction pooler, with their
 * values.
 */
export function roleSettings(schema: string): readonly (readonly [name: string, value: string])[] {
  return [
    ['search_path', schema],
    ['statement_timeout', `${STATEMENT_TIMEOUT_MS / 1_000}s`],
    ['lock_timeout', `${LOCK_TIMEOUT_MS / 1_000}s`],
    ['idle_in_transaction_session_timeout', `${IDLE_TIMEOUT_MS / 1_000}s`],
  ]
}

/**
 * Throws unless the role has the settings that a direct connection sets itself. A transaction
 * pooler does not forward settings of a connection.
 */
async function requireRoleSettings(client: pg.ClientBase, schema: string): Promise<void> {
  const required = roleSettings(schema)
  const names = required.map(([name]) => `current_setting('${name}') as ${name}`)
  const { rows } = await client.query<Record<string, string>>(`select quote_ident(current_user) as role, ${names.join(', ')}`)
  const settings = rows[0] ?? {}
  // A timeout of 0 disables it. Other values are the operator's choice.
  const isMissing = (name: string) => (name === 'search_path' ? settings[name] !== schema : settings[name] === '0')
  const missing = required.filter(([name]) => isMissing(name))
  if (missing.length === 0) return
  const statements = missing.map(([name, value]) => `alter role ${settings['role']} set ${name} = '${value}';`)
  throw new Error(`behind a transaction pooler, the role needs its own settings; run as an administrator: ${statements.join(' ')}`)
}

/**
 * Checks the database. Behind a pooler, an open connection may lead to another server, so open
 * connections are checked too.
 */
export async function ping(pool: pg.Pool, failovers: FailoverWatch | undefined): Promise<void> {
  const client = await pool.connect()
  let connectionError: Error | undefined
  try {
    await client.query('select 1')
    await failovers?.check(client)
  } catch (error) {
    connectionError = error as Error
    throw error
  } finally {
    client.release(connectionError)
  }
}

function quoteIdentifier(name: string): string {
  if (!/^[a-z_]+$/.test(name)) throw new Error(`not a schema name: ${name}`)
  return name
}
