import type { Transaction } from '@vitascope/postgres'
import type { Job, JobUpdate } from '../job/job.ts'
import type { LockedMedia } from '../media/media-lock.ts'
import type { RenditionSet } from '../media/rendition-set.ts'

/** Returns the update, or a cancellation if the set to which the rendition belongs was replaced in the meantime. */
export function cancelIfReplaced(job: Pick<Job, 'setJobId'>, media: LockedMedia | undefined, update: JobUpdate): JobUpdate {
  if (update.kind !== 'published' || job.setJobId === undefined || media?.renditions?.jobId === job.setJobId) return update
  return { kind: 'cancelled', message: 'replaced by a later request' }
}

/**
 * Returns the path of an added rendition's file, relative to the URL of the set. The set's own
 * objects are not changed.
 */
export function toAddedPath(jobId: string, path: string): string {
  return `added/${jobId}/${path}`
}

/** Adds the rendition of a job to the current set. Returns the new set. */
export async function addToSet(tx: Transaction, job: Job, set: RenditionSet, newRendition: RenditionSet): Promise<RenditionSet> {
  await tx.query(
    'insert into added_rendition (job_id, media_id, organisation_id, set_job_id, prefix, bytes) values ($1, $2, $3, $4, $5, $6)',
    [job.jobId, job.mediaId, job.organisationId, set.jobId, newRendition.prefix, newRendition.bytes],
  )
  const renditions = newRendition.renditions.map((rendition) => ({ ...rendition, path: toAddedPath(job.jobId, rendition.path) }))
  return { ...set, renditions: [...set.renditions, ...renditions] }
}

/** Returns the bytes that a new set of a locked media releases: the current set and the renditions that were added to it. */
export async function countReplacedBytes(
  tx: Transaction,
  { mediaId, renditions }: Pick<LockedMedia, 'mediaId' | 'renditions'>,
): Promise<number> {
  const [row] = await tx.query<{ bytes: string }>(
    'select coalesce(sum(bytes), 0) as bytes from added_rendition where media_id = $1 and bytes > 0',
    [mediaId],
  )
  if (!row) throw new Error('the sum of added renditions returned no row')
  return (renditions?.bytes ?? 0) + Number(row.bytes)
}

/** Removes renditions of earlier sets from the quota. They are served as long as their sets. */
export async function clearAddedBytes(tx: Transaction, mediaId: string): Promise<void> {
  await tx.query('update added_rendition set bytes = 0 where media_id = $1 and bytes > 0', [mediaId])
}

/** SQL condition for an added rendition `a` whose set is current or still served. */
export const ADDED_IS_USED = `(exists (select from media m where m.set_job_id = a.set_job_id)
  or exists (select from delivery_set s where s.job_id = a.set_job_id and s.expire_time > now()))`
