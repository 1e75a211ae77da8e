import type { Transaction } from '@vitascope/postgres'
import type { Job, News } from '../job/job.ts'
import type { LockedMedia } from '../media/media-lock.ts'
import type { RenditionSet } from '../media/rendition-set.ts'

/** A rendition comes too late for a set that was replaced meanwhile. */
export function unlessOvertaken(job: Pick<Job, 'setJobId'>, media: LockedMedia | undefined, news: News): News {
  if (news.kind !== 'published' || job.setJobId === undefined || media?.renditions?.jobId === job.setJobId) return news
  return { kind: 'cancelled', message: 'overtaken by a later replacement' }
}

/** Where the files of an added rendition are below the address of the set, whose own objects stay as they are. */
export function addedPath(jobId: string, path: string): string {
  return `added/${jobId}/${path}`
}

/** Adds what a job made to the set that plays; answers the set as it is then. */
export async function addToSet(tx: Transaction, job: Job, set: RenditionSet, made: RenditionSet): Promise<RenditionSet> {
  await tx.query(
    'insert into added_rendition (job_id, media_id, organisation_id, set_job_id, prefix, bytes) values ($1, $2, $3, $4, $5, $6)',
    [job.jobId, job.mediaId, job.organisationId, set.jobId, made.prefix, made.bytes],
  )
  const renditions = made.renditions.map((rendition) => ({ ...rendition, path: addedPath(job.jobId, rendition.path) }))
  return { ...set, renditions: [...set.renditions, ...renditions] }
}

/** What was added to the sets of before counts no more; it is served as long as they are. */
export async function endCountOfAdded(tx: Transaction, mediaId: string): Promise<void> {
  await tx.query('update added_rendition set bytes = 0 where media_id = $1 and bytes > 0', [mediaId])
}

/** True, as SQL, for an added rendition `a` whose set plays or is kept. */
export const ADDED_IS_USED = `(exists (select from media m where m.set_job_id = a.set_job_id)
  or exists (select from delivery_set s where s.job_id = a.set_job_id and s.expire_time > now()))`
