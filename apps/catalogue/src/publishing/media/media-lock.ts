import type { Transaction } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { type RenditionSet, readSet, type StoredSet } from './rendition-set.ts'
import type { Status } from './status.ts'

export interface MediaKey {
  scope: Scope
  mediaId: string
}

/** A media row that is locked by the current transaction. */
export interface LockedMedia {
  mediaId: string
  organisationId: string
  title: string
  originalFilename: string
  tokenRequired: boolean
  gifStatus: number
  updateTime: Date
  status: Status
  renditions: RenditionSet | undefined
  /** The set that plays while the first set is being encoded. */
  preview: RenditionSet | undefined
}

interface Row {
  media_id: string
  organisation_id: string
  title: string
  original_filename: string
  token_required: boolean
  gif_status: number
  update_time: Date
  state: Status['state']
  progress: number
  code: number
  message: string
  renditions: StoredSet | null
  preview: StoredSet | null
}

/**
 * Locks a media. Every change to a media, its videos or its jobs starts with this lock. This
 * serialises the changes and keeps one lock order: media, job, video.
 */
export async function lockMedia(tx: Transaction, mediaId: string, scope: Scope): Promise<LockedMedia | undefined> {
  const [row] = await tx.query<Row>(
    `select media_id, organisation_id, title, original_filename, token_required, gif_status, update_time, state, progress, code, message,
       renditions, preview
     from media where media_id = $1 and ($2::bigint is null or organisation_id = $2) for update`,
    [mediaId, scope],
  )
  return (
    row && {
      mediaId: row.media_id,
      organisationId: row.organisation_id,
      title: row.title,
      originalFilename: row.original_filename,
      tokenRequired: row.token_required,
      gifStatus: row.gif_status,
      updateTime: row.update_time,
      status: { state: row.state, progress: row.progress, code: row.code, message: row.message },
      renditions: readSet(row.renditions),
      preview: readSet(row.preview),
    }
  )
}

/** Stores the status and the sets of a locked media. */
export async function saveState(
  tx: Transaction,
  mediaId: string,
  { status, renditions, preview }: Pick<LockedMedia, 'status' | 'renditions' | 'preview'>,
): Promise<void> {
  await tx.query(
    'update media set state = $2, progress = $3, code = $4, message = $5, renditions = $6, set_job_id = $7, preview = $8 where media_id = $1',
    [
      mediaId,
      status.state,
      status.progress,
      status.code,
      status.message,
      renditions ? JSON.stringify(renditions) : null,
      renditions?.jobId ?? null,
      preview ? JSON.stringify(preview) : null,
    ],
  )
}
