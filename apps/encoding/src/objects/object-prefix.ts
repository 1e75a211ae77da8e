import { randomBytes } from 'node:crypto'
import type { Query, Transaction } from '@vitascope/postgres'
import type { Job } from '../job/job.ts'
import { NOT_HELD } from './sweep-hold.ts'

/** Where a lease may put objects; empty where its kind of work leaves none. */
export interface TaskPlaces {
  source: string
  work: string
  /** What is published. */
  set: string
}

export type Place = keyof TaskPlaces

/** A prefix that is to be swept. */
export interface DroppedPrefix {
  prefix: string
  jobId: string
}

/** When a dropped prefix is swept again, in seconds after the sweep before: whoever lost his lease may be writing still, or stand still for long. */
const AGAIN_SECONDS = [10, 60, 900, 86_400]

/** Writes down where a lease may put objects, to be committed before anything is put there; the same places when it is asked again. */
export async function claimPlaces(tx: Transaction, job: PlacedJob, fence: number, wanted: readonly Place[]): Promise<TaskPlaces> {
  const places = await placesOf(tx.query, job.jobId, fence)
  for (const place of wanted) {
    if (places[place] !== '') continue
    places[place] = newPrefix(place, job, fence)
    await tx.query('insert into object_prefix (prefix, job_id, fence) values ($1, $2, $3)', [places[place], job.jobId, fence])
  }
  return places
}

/** The places of a lease that stands. */
export async function placesOf(query: Query, jobId: string, fence: number): Promise<TaskPlaces> {
  const places: TaskPlaces = { source: '', work: '', set: '' }
  const rows = await query<{ prefix: string }>('select prefix from object_prefix where job_id = $1 and fence = $2 and drop_time is null', [
    jobId,
    fence,
  ])
  for (const { prefix } of rows) places[placeOf(prefix)] = prefix
  return places
}

/** True for what may be published. */
export function isOfSet(prefix: string): boolean {
  return placeOf(prefix) === 'set'
}

type PlacedJob = Pick<Job, 'kind' | 'mediaId' | 'jobId'>

/**
 * Each lease has its own, so that nobody writes over anybody, and late writers are found. The random end makes it so also where a database
 * went back in time and hands out a number of a lease again: objects, once published, are cached by their names for ever.
 */
function newPrefix(place: Place, { kind, mediaId, jobId }: PlacedJob, fence: number): string {
  const lease = `${fence}-${randomBytes(6).toString('hex')}`
  if (place === 'set') return `${kind === 'slides' ? 'slides' : 'media'}/${mediaId}/${jobId}-${lease}`
  return `${place}/${jobId}/${lease}`
}

function placeOf(prefix: string): Place {
  const [area] = prefix.split('/')
  return area === 'source' || area === 'work' ? area : 'set'
}

/** The job and the lease that a folder of objects is of; undefined for one that is none of ours. */
export function readPrefix(prefix: string): { jobId: string; fence: number } | undefined {
  const [, jobId, fence] =
    /^(?:source|work)\/([1-9]\d{0,17})\/(\d{1,10})(?:-[0-9a-f]+)?$/.exec(prefix) ??
    /^(?:media|slides)\/[a-z0-9]{1,64}\/([1-9]\d{0,17})-(\d{1,10})(?:-[0-9a-f]+)?$/.exec(prefix) ??
    []
  return jobId !== undefined && Number(fence) < 2 ** 31 ? { jobId, fence: Number(fence) } : undefined
}

/** Gives up what a job has in storage: all of it, what one lease made, or all but some prefixes. */
export async function dropPrefixes(tx: Transaction, jobId: string, which: { fence?: number; but?: readonly string[] } = {}): Promise<void> {
  await tx.query(
    `update object_prefix set drop_time = now(), next_sweep = now()
     where job_id = $1 and drop_time is null and ($2::int is null or fence = $2) and ($3::text[] is null or prefix <> all($3))`,
    [jobId, which.fence ?? null, which.but ?? null],
  )
}

/** Gives up those of the prefixes that are not written down, after a while; answers which these are. */
export async function dropUnknownPrefixes(query: Query, prefixes: readonly string[], graceMs: number): Promise<string[]> {
  const found = prefixes.flatMap((prefix) => {
    const of = readPrefix(prefix)
    return of ? [{ prefix, job_id: of.jobId, fence: of.fence }] : []
  })
  const rows = await query<{ prefix: string }>(
    `insert into object_prefix (prefix, job_id, fence, drop_time, next_sweep)
     select prefix, job_id, fence, now(), now() + $2::int * interval '1 millisecond'
     from json_to_recordset($1::json) as t (prefix text, job_id bigint, fence int)
     on conflict (prefix) do nothing returning prefix`,
    [JSON.stringify(found), graceMs],
  )
  return rows.map(({ prefix }) => prefix)
}

/** Somebody who has lost this lease has just been heard of: what he may have put since the last sweep goes soon. */
export async function sweepSoon(query: Query, fence: number): Promise<void> {
  await query('update object_prefix set next_sweep = now() where fence = $1 and drop_time is not null', [fence])
}

/** Prefixes whose objects are to be removed now; none while a backup copies. */
export function duePrefixes(query: Query, limit: number): Promise<DroppedPrefix[]> {
  return query<DroppedPrefix>(
    `select prefix, job_id as "jobId" from object_prefix where next_sweep <= now() and ${NOT_HELD} order by next_sweep limit $1`,
    [limit],
  )
}

/** A prefix that cannot be swept lets the others go first. */
export async function postponeSweep(query: Query, prefix: string, seconds = 60): Promise<void> {
  await query(`update object_prefix set next_sweep = now() + $2::int * interval '1 second' where prefix = $1`, [prefix, seconds])
}

/** Notes that a prefix was found empty, or made so; after the last sweep it is forgotten. */
export async function sweptPrefix(query: Query, prefix: string): Promise<void> {
  await query(
    `update object_prefix set sweeps = sweeps + 1, next_sweep = now() + ($2::int[])[sweeps + 1] * interval '1 second' where prefix = $1`,
    [prefix, AGAIN_SECONDS],
  )
  await query('delete from object_prefix where prefix = $1 and drop_time is not null and sweeps > $2', [prefix, AGAIN_SECONDS.length])
}
