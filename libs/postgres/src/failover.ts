import type { Logger, Metrics } from '@vitascope/telemetry'
import pg from 'pg'

/**
 * Detects that the database has lost transactions: a standby was promoted, which may lack the last ones, or a backup
 * was restored. Checked on every new connection before its first statement, and at every ping.
 */
export interface FailoverWatch {
  /** Checks the database of a connection. Throws for a standby, which accepts no writes yet. */
  look(client: pg.ClientBase): Promise<void>
}

export interface FailoverOptions {
  log: Logger
  metrics: Metrics
  /** Sequences that do not generate ids. They are not advanced after a failover. */
  dense?: readonly string[]
}

/** Observed state of a database. Positions in the write-ahead log are bytes since the creation of the database. */
interface Sight {
  system: string
  timeline: string
  /** Position that is flushed to disk. */
  position: string
  /** Position at which this server was promoted from standby; null if it started as a primary. */
  promoted: string | null
  /** Id of the newest row of `failover`; null before the first row. */
  known: string | null
  known_system: string | null
  known_timeline: string | null
}

interface Memory extends Sight {
  at: number
}

/**
 * Number of ids to skip so that ids of lost transactions are not issued again. Larger than lost transactions can have
 * used, and never more than a thousandth of the remaining ids.
 */
const SKIPPED_IDS = 1_000_000
/** Missing privileges, missing functions, or a missing table, as in a schema that is not migrated. */
const UNDETECTABLE = ['42501', '42883', '42P01']

/** A server in recovery has no write position and accepts no writes. */
const IN_RECOVERY = '55000'
const STARTING_UP = '57P03'

/** Creates the watch that all connections of a service in a process share. */
export function watchFailovers({ log, metrics, dense = [] }: FailoverOptions): FailoverWatch {
  const noticed = metrics.counter(
    'vitascope_database_failovers_total',
    'Detected failovers of the database. The last acknowledged changes may be lost',
  )
  let memory: Memory | undefined
  let blind = false

  return {
    async look(client) {
      // Two connections may check at the same time and their responses may arrive out of order. Each response is
      // compared with the state that was known when its request was sent.
      const before = memory
      const sight = await see(client).catch((error: unknown) => {
        const code = error instanceof pg.DatabaseError ? error.code : undefined
        if (code === IN_RECOVERY) throw Object.assign(new Error('the database is a standby'), { code: STARTING_UP, cause: error })
        if (!UNDETECTABLE.includes(code ?? '')) throw error
        if (!blind) log.warn({ err: error }, 'failovers to a stale standby cannot be detected; see docs/operate/troubleshoot.md')
        blind = true
      })
      if (!sight) return
      blind = false
      const wentBack = isBehind(sight, before)
      if (wentBack || !isKnown(sight)) {
        const isNew = await note(client, sight, wentBack, dense)
        if (isNew && sight.known !== null) {
          noticed.inc()
          logFailover(log, sight, before)
        }
      }
      if (!isOvertaken(sight, before, memory)) memory = { ...sight, at: performance.now() }
    },
  }
}

async function see(client: pg.ClientBase): Promise<Sight> {
  const { rows } = await client.query<Sight>(
    `select s.system_identifier::text as system, substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) as timeline,
       (pg_current_wal_flush_lsn() - '0/0')::text as position, (pg_last_wal_replay_lsn() - '0/0')::text as promoted,
       f.failover_id::text as known, f.system_id as known_system, f.timeline as known_timeline
     from pg_control_system() s left join lateral (select * from failover order by failover_id desc limit 1) f on true`,
  )
  const [sight] = rows
  if (!sight) throw new Error('the query of the database state returned no row')
  return sight
}

function isKnown(sight: Sight): boolean {
  return sight.known !== null && sight.system === sight.known_system && sight.timeline === sight.known_timeline
}

/**
 * Returns whether the database is the same, but has less data than this process has seen, and no failover row was
 * added: an older disk was restored.
 */
function isBehind(sight: Sight, before: Memory | undefined): boolean {
  if (!before || sight.system !== before.system || sight.timeline !== before.timeline) return false
  return BigInt(sight.position) < BigInt(before.position) && BigInt(sight.known ?? 0) <= BigInt(before.known ?? 0)
}

/** Returns whether a newer response arrived during this request, so that this older state is not a failover. */
function isOvertaken(sight: Sight, before: Memory | undefined, memory: Memory | undefined): boolean {
  return memory !== before && isBehind(sight, memory)
}

/**
 * Records the failover, once for all processes that detect it at the same time, and advances all sequences except
 * `dense`. The first row, which marks the creation, advances none. Returns false if another process has recorded it.
 */
async function note(client: pg.ClientBase, sight: Sight, wentBack: boolean, dense: readonly string[]): Promise<boolean> {
  await client.query('begin')
  try {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('failover:' || current_schema(), 0))`)
    const now = await see(client)
    const isFirst = now.known === null
    if (wentBack ? now.known !== sight.known : isKnown(now)) {
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
      sight.system,
      sight.timeline,
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
 * Logs a failover. `lost_bytes` counts what this process saw on disk and is lost. Data written after its last check,
 * a moment at most, is not included.
 */
function logFailover(log: Logger, sight: Sight, before: Memory | undefined): void {
  const comparable = before !== undefined && before.system === sight.system
  const kept = BigInt(sight.promoted ?? sight.position)
  const lost = comparable ? BigInt(before.position) - kept : undefined
  log.warn(
    {
      timeline: sight.timeline,
      timeline_before: before?.timeline ?? sight.known_timeline,
      other_system: sight.system !== (before?.system ?? sight.known_system),
      lost_bytes: lost === undefined ? 'unknown' : Number(lost > 0n ? lost : 0n),
      last_check_ms_ago: before ? Math.round(performance.now() - before.at) : 'never',
    },
    'the database lost transactions: it failed over to a standby, or a backup was restored. The last acknowledged writes may be lost. New ids skip ' +
      'a range, and jobs and objects are checked now. See "Failover of the database" in docs/operate/troubleshoot.md',
  )
}
