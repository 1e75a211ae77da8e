import { randomBytes } from 'node:crypto'
import type { Db, Query, Transaction } from '@vitascope/postgres'
import { findArea } from '@vitascope/storage'
import type { Job } from '../job/job.ts'
import { NO_SWEEP_HOLD } from './sweep-hold.ts'

/** Prefixes of a lease. A prefix that its kind of work does not use is empty. */
export interface TaskPrefixes {
  source: string
  work: string
  /** The published files. */
  set: string
}

export type PrefixType = keyof TaskPrefixes

/** A prefix that must be swept. */
export interface DroppedPrefix {
  prefix: string
  jobId: string
  /** Time of the sweep that is due, as text with the precision of the database. */
  dueTime: string
}

/**
 * Delays between repeated sweeps of a dropped prefix, in seconds. A holder that lost its lease may
 * still write, or may be suspended for a long time.
 */
const RESWEEP_SECONDS = [10, 60, 900, 86_400]

/**
 * Records the prefixes of a lease. The transaction must commit before anything is written there. A
 * repeated call returns the same prefixes.
 */
export async function claimPrefixes(tx: Transaction, job: PrefixOwner, fence: number, types: readonly PrefixType[]): Promise<TaskPrefixes> {
  const prefixes = await findPrefixes(tx.query, job.jobId, fence)
  for (const type of types) {
    if (prefixes[type] !== '') continue
    prefixes[type] = newPrefix(type, job, fence)
    await tx.query('insert into object_prefix (prefix, job_id, fence) values ($1, $2, $3)', [prefixes[type], job.jobId, fence])
  }
  return prefixes
}

/** Returns the prefixes of an active lease. */
export async function findPrefixes(query: Query, jobId: string, fence: number): Promise<TaskPrefixes> {
  const prefixes: TaskPrefixes = { source: '', work: '', set: '' }
  const rows = await query<{ prefix: string }>('select prefix from object_prefix where job_id = $1 and fence = $2 and drop_time is null', [
    jobId,
    fence,
  ])
  for (const { prefix } of rows) prefixes[requirePrefixType(prefix)] = prefix
  return prefixes
}

/** Returns true for a prefix of a published set. */
export function isOfSet(prefix: string): boolean {
  return requirePrefixType(prefix) === 'set'
}

type PrefixOwner = Pick<Job, 'kind' | 'mediaId' | 'jobId'>

/**
 * Returns a new prefix. Each lease has its own, so that writers never overwrite each other's
 * objects and late writes are found. The random suffix keeps prefixes unique even if a restored
 * database assigns a fence again, because published objects are cached by name forever.
 */
function newPrefix(type: PrefixType, { kind, mediaId, jobId }: PrefixOwner, fence: number): string {
  const lease = `${fence}-${randomBytes(6).toString('hex')}`
  if (type === 'set') return `${kind === 'slides' ? 'slides' : 'media'}/${mediaId}/${jobId}-${lease}`
  return `${type}/${jobId}/${lease}`
}

function requirePrefixType(prefix: string): PrefixType {
  const area = findArea(prefix)
  return area === 'source' || area === 'work' ? area : 'set'
}

/**
 * Returns the job and the fence of a prefix, or undefined if this service does not use its form.
 */
export function readPrefix(prefix: string): { jobId: string; fence: number } | undefined {
  const [, jobId, fence] =
    /^(?:source|work)\/([1-9]\d{0,17})\/(\d{1,16})(?:-[0-9a-f]+)?$/.exec(prefix) ??
    /^(?:media|slides)\/[a-z0-9]{1,64}\/([1-9]\d{0,17})-(\d{1,16})(?:-[0-9a-f]+)?$/.exec(prefix) ??
    []
  return jobId !== undefined && Number.isSafeInteger(Number(fence)) ? { jobId, fence: Number(fence) } : undefined
}

/** Drops prefixes of a job: all of them, those of one lease, or all except some. */
export async function dropPrefixes(
  tx: Transaction,
  jobId: string,
  which: { fence?: number; except?: readonly string[] } = {},
): Promise<void> {
  await tx.query(
    `update object_prefix set drop_time = now(), next_sweep = now()
     where job_id = $1 and drop_time is null and ($2::bigint is null or fence = $2) and ($3::text[] is null or prefix <> all($3))`,
    [jobId, which.fence ?? null, which.except ?? null],
  )
}

/** Drops all objects of a finished job. The sweep deletes them. */
export function dropJob(db: Db, jobId: string): Promise<void> {
  return db.transaction(async (tx) => {
    const dropped = await tx.query(
      `update job set is_dropped = true where job_id = $1 and state in ('ok', 'failed', 'cancelled') returning 1`,
      [jobId],
    )
    if (dropped.length > 0) await dropPrefixes(tx, jobId)
  })
}

/**
 * Records those prefixes that have no row as dropped. Their first sweep is due after `graceMs`.
 * Returns them.
 */
export async function dropUnrecordedPrefixes(query: Query, prefixes: readonly string[], graceMs: number): Promise<string[]> {
  const parsed = prefixes.flatMap((prefix) => {
    const key = readPrefix(prefix)
    return key ? [{ prefix, job_id: key.jobId, fence: key.fence }] : []
  })
  const rows = await query<{ prefix: string }>(
    `insert into object_prefix (prefix, job_id, fence, drop_time, next_sweep)
     select prefix, job_id, fence, now(), now() + $2::int * interval '1 millisecond'
     from json_to_recordset($1::json) as t (prefix text, job_id bigint, fence bigint)
     on conflict (prefix) do nothing returning prefix`,
    [JSON.stringify(parsed), graceMs],
  )
  return rows.map(({ prefix }) => prefix)
}

/**
 * Makes the next sweep of a lease's dropped prefixes due now. Call it when a holder that has lost
 * the lease sends a request, because it may have stored objects since the last sweep.
 */
export async function sweepSoon(query: Query, fence: number): Promise<void> {
  await query('update object_prefix set next_sweep = now() where fence = $1 and drop_time is not null', [fence])
}

/** Returns dropped prefixes whose sweep is due. Returns none while a backup copies objects. */
export function duePrefixes(query: Query, limit: number): Promise<DroppedPrefix[]> {
  return query<DroppedPrefix>(
    `select prefix, job_id as "jobId", next_sweep::text as "dueTime" from object_prefix where next_sweep <= now() and ${NO_SWEEP_HOLD} order by next_sweep limit $1`,
    [limit],
  )
}

/** Postpones a prefix that cannot be swept, so that others are swept first. */
export async function postponeSweep(query: Query, prefix: string, seconds = 60): Promise<void> {
  await query(`update object_prefix set next_sweep = now() + $2::int * interval '1 second' where prefix = $1`, [prefix, seconds])
}

/**
 * Records a sweep of a prefix. After the last one, its row is deleted. If `sweepSoon` was called
 * during the sweep, nothing is recorded and the prefix stays due: the sweep may have missed the
 * latest objects.
 */
export async function markPrefixSwept(query: Query, { prefix, dueTime }: Pick<DroppedPrefix, 'prefix' | 'dueTime'>): Promise<void> {
  await query(
    `update object_prefix set sweeps = sweeps + 1, next_sweep = now() + ($2::int[])[sweeps + 1] * interval '1 second'
     where prefix = $1 and next_sweep = $3::timestamptz`,
    [prefix, RESWEEP_SECONDS, dueTime],
  )
  await query('delete from object_prefix where prefix = $1 and drop_time is not null and sweeps > $2', [prefix, RESWEEP_SECONDS.length])
}
