import type { Logger, Metrics } from '@vitascope/telemetry'
import pg from 'pg'

/**
 * Detects that the database has lost transactions: a standby was promoted that may lack the last
 * ones, or a backup was restored. New connections are checked before their first statement, and one
 * open connection at every ping.
 */
export interface FailoverWatch {
  /**
   * Checks the database of a connection, and records and logs a failover. Throws for a standby,
   * which accepts no writes yet.
   */
  check(client: pg.ClientBase): Promise<void>
}

export interface FailoverOptions {
  log: Logger
  metrics: Metrics
  /** Sequences that do not generate ids. They are not advanced after a failover. */
  dense?: readonly string[]
}

/**
 * Observed state of a database. Positions in the write-ahead log are bytes since the creation of
 * the database.
 */
interface DatabaseState {
  system: string
  timeline: string
  /** Position that is flushed to disk. */
  position: string
  /** Position at which this server was promoted from standby; null if it started as a primary. */
  promotion_position: string | null
  /** Id of the newest row of `failover`; null before the first row. */
  recorded_id: string | null
  recorded_system: string | null
  recorded_timeline: string | null
}

interface LastState extends DatabaseState {
  /** `performance.now()` of the check. */
  observedAt: number
}

/**
 * Number of ids to skip so that ids of lost transactions are not issued again. Lost transactions
 * cannot have used as many. At most a thousandth of the remaining ids of a sequence is skipped.
 */
const SKIPPED_IDS = 1_000_000
/**
 * SQLSTATEs of a missing privilege, function or table, as in a schema that is not migrated, and of a
 * server that does not support the functions.
 */
const UNDETECTABLE = ['42501', '42883', '42P01', '0A000']
/**
 * SQLSTATE of the functions for write positions on a server in recovery, which accepts no writes.
 */
const IN_RECOVERY = '55000'
/** SQLSTATE that `openPostgres` converts to `unavailable`. */
const STARTING_UP = '57P03'

/** Creates the watch that all connections of a service in a process share. */
export function watchFailovers({ log, metrics, dense = [] }: FailoverOptions): FailoverWatch {
  const detections = metrics.counter(
    'vitascope_database_failovers_total',
    'Detected failovers of the database. The last acknowledged changes may be lost',
  )
  let lastState: LastState | undefined
  let isUndetectable = false

  return {
    async check(client) {
      // Two connections may check at the same time and their responses may arrive out of order.
      // Each response is compared with the state that was known when its request was sent.
      const before = lastState
      const state = await readState(client).catch((error: unknown) => {
        const code = error instanceof pg.DatabaseError ? error.code : undefined
        if (code === IN_RECOVERY) throw Object.assign(new Error('the database is a standby'), { code: STARTING_UP, cause: error })
        if (!UNDETECTABLE.includes(code ?? '')) throw error
        if (!isUndetectable) log.warn({ err: error }, 'failovers to a stale standby cannot be detected; see docs/operate/troubleshoot.md')
        isUndetectable = true
      })
      if (!state) return
      isUndetectable = false
      const isRestored = isBehind(state, before)
      if (isRestored || !isRecorded(state)) {
        const isNew = await recordFailover(client, state, isRestored, dense)
        if (isNew && state.recorded_id !== null) {
          detections.inc()
          logFailover(log, state, before)
        }
      }
      if (!isOvertaken(state, before, lastState)) lastState = { ...state, observedAt: performance.now() }
    },
  }
}

async function readState(client: pg.ClientBase): Promise<DatabaseState> {
  const { rows } = await client.query<DatabaseState>(
    `select s.system_identifier::text as system, substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) as timeline,
       (pg_current_wal_flush_lsn() - '0/0')::text as position, (pg_last_wal_replay_lsn() - '0/0')::text as promotion_position,
       f.failover_id::text as recorded_id, f.system_id as recorded_system, f.timeline as recorded_timeline
     from pg_control_system() s left join lateral (select * from failover order by failover_id desc limit 1) f on true`,
  )
  const [state] = rows
  if (!state) throw new Error('the query of the database state returned no row')
  return state
}

function isRecorded(state: DatabaseState): boolean {
  return state.recorded_id !== null && state.system === state.recorded_system && state.timeline === state.recorded_timeline
}

/**
 * Returns whether the database is the same, but has less data than this process has seen, and no
 * failover row was added: an older disk was restored.
 */
function isBehind(state: DatabaseState, before: LastState | undefined): boolean {
  if (!before || state.system !== before.system || state.timeline !== before.timeline) return false
  return BigInt(state.position) < BigInt(before.position) && BigInt(state.recorded_id ?? 0) <= BigInt(before.recorded_id ?? 0)
}

/**
 * Returns whether a newer response arrived during this request, so that this older state is not a
 * failover.
 */
function isOvertaken(state: DatabaseState, before: LastState | undefined, lastState: LastState | undefined): boolean {
  return lastState !== before && isBehind(state, lastState)
}

/**
 * Records the failover, once for all processes that detect it at the same time, and advances all
 * sequences except `dense`. The first row, which marks the creation, advances none. Returns false
 * if another process has recorded it.
 */
async function recordFailover(
  client: pg.ClientBase,
  state: DatabaseState,
  isRestored: boolean,
  dense: readonly string[],
): Promise<boolean> {
  await client.query('begin')
  try {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('failover:' || current_schema(), 0))`)
    const current = await readState(client)
    const isFirst = current.recorded_id === null
    if (isRestored ? current.recorded_id !== state.recorded_id : isRecorded(current)) {
      await client.query('rollback')
      return false
    }
    if (!isFirst) {
      await client.query(
        `select setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, start_value)
           + least($1, (max_value - coalesce(last_value, start_value)) / 1000))
         from pg_sequences where schemaname = current_schema() and not sequencename = any($2::text[])
           and has_sequence_privilege(format('%I.%I', schemaname, sequencename), 'select, update')`,
        [SKIPPED_IDS, dense],
      )
    }
    await client.query('insert into failover (system_id, timeline, settle_time) values ($1, $2, case when $3 then now() end)', [
      state.system,
      state.timeline,
      isFirst,
    ])
    await client.query('commit')
    return true
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/**
 * Logs a failover. `lost_bytes` is the amount of lost data that this process had seen on disk. Data
 * that was written after the last check is not included.
 */
function logFailover(log: Logger, state: DatabaseState, before: LastState | undefined): void {
  const isSameSystem = before !== undefined && before.system === state.system
  const remainingPosition = BigInt(state.promotion_position ?? state.position)
  const lostBytes = isSameSystem ? BigInt(before.position) - remainingPosition : undefined
  log.warn(
    {
      timeline: state.timeline,
      timeline_before: before?.timeline ?? state.recorded_timeline,
      other_system: state.system !== (before?.system ?? state.recorded_system),
      lost_bytes: lostBytes === undefined ? 'unknown' : Number(lostBytes > 0n ? lostBytes : 0n),
      last_check_ms_ago: before ? Math.round(performance.now() - before.observedAt) : 'never',
    },
    'the database lost transactions: it failed over to a standby, or a backup was restored. The last acknowledged writes may be lost. New ids skip ' +
      'a range, and jobs and objects are checked now. See "Failover of the database" in docs/operate/troubleshoot.md',
  )
}
