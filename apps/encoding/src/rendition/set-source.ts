import { DomainError } from '@vitascope/errors'
import type { Query } from '@vitascope/postgres'
import type { RenditionSet } from '@vitascope/proto/catalogue/v1/rendition'
import type { StoredSource } from '../task/task.ts'

/** The source of a finished job, if it was kept. `j` is the job. */
const OWN_SOURCE = `case when exists (select from object_prefix p where p.job_id = j.job_id and p.drop_time is null
  and j.source ->> 'object' like p.prefix || '/%') then source end`

/** Returns the source of a job whose set is published, or undefined if it was not kept. */
export async function findKeptSource(query: Query, jobId: string): Promise<StoredSource | undefined> {
  const [row] = await query<{ own_source: StoredSource | null }>(
    `select ${OWN_SOURCE} as own_source from job j where job_id = $1 and kind = 'renditions' and state = 'ok' and not is_dropped`,
    [jobId],
  )
  return row?.own_source ?? undefined
}

/**
 * Returns the source of a rendition that is added to the set of a job: the source of that set if it
 * was kept, otherwise the largest file of the set (ADR 0014). This job never deletes the
 * source. The source is stored as long as the set, and a replacement of the set cancels this job.
 */
export async function findSetSource(query: Query, { setJobId, mediaId }: SetKey): Promise<StoredSource> {
  const set = await readPublishedSet(query, { setJobId, mediaId })
  return set.own_source ?? findLargestFile(set.result, { setJobId, mediaId })
}

/** Returns the largest file of the set of a job. Its picture has square pixels and is upright. */
export async function findSetFile(query: Query, key: SetKey): Promise<StoredSource> {
  return findLargestFile((await readPublishedSet(query, key)).result, key)
}

interface SetKey {
  setJobId: string
  mediaId: string
}

interface PublishedSet {
  result: Pick<RenditionSet, 'prefix' | 'renditions'>
  own_source: StoredSource | null
}

async function readPublishedSet(query: Query, key: SetKey): Promise<PublishedSet> {
  const [row] = await query<PublishedSet>(
    `select result, ${OWN_SOURCE} as own_source
     from job j where job_id = $1 and media_id = $2 and kind = 'renditions' and state = 'ok' and not is_dropped`,
    [key.setJobId, key.mediaId],
  )
  if (!row) throw setNotFound(key)
  return row
}

function findLargestFile({ prefix, renditions }: PublishedSet['result'], key: SetKey): StoredSource {
  const [largest] = renditions.toSorted((a, b) => b.width * b.height - a.width * a.height || b.bytes - a.bytes)
  if (!largest) throw setNotFound(key)
  return { object: `${prefix}/${largest.path}`, bytes: largest.bytes, sha256: '' }
}

function setNotFound({ setJobId, mediaId }: SetKey): DomainError {
  return new DomainError('invalid', 'SET_NOT_FOUND', `job ${setJobId} has no set for media ${mediaId}`)
}
