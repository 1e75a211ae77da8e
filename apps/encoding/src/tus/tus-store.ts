import type { ErrorKind } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import { isSweepPaused, NO_SWEEP_HOLD } from '../objects/sweep-hold.ts'
import type { Ticket } from '../upload/upload-ticket.ts'

export type Owner = Extract<Principal, { kind: 'user' }>

/** A resumable upload. */
export interface TusUpload {
  uploadId: string
  organisationId: string
  owner: Owner
  /** The media whose source the upload replaces. Undefined if it becomes a new video. */
  mediaId: string | undefined
  metadata: string
  title: string
  filename: string
  /** Undefined until the client has sent it. */
  length: number | undefined
  /** Number of durable bytes. */
  received: number
  parts: number
  fence: number
  /** Empty until the video exists. */
  videoId: string
  jobId: string
  error: TusError | undefined
  expires: Date
  /** Limits of an upload without a key. Undefined for others. */
  ticket: Ticket | undefined
}

/** The error because of which no video is created from a complete upload. */
export interface TusError {
  kind: ErrorKind
  reason: string
  message: string
}

export interface TusPart {
  object: string
  bytes: number
}

export type NewTusUpload = Pick<TusUpload, 'uploadId' | 'organisationId' | 'owner' | 'metadata' | 'title' | 'filename' | 'length'> & {
  ticket?: Ticket
  mediaId?: string | undefined
}

export interface TusStore {
  /** Creates an upload. Throws if its id is taken. */
  create(upload: NewTusUpload, retentionSeconds: number): Promise<TusUpload>
  /** Creates an upload, or returns the one that has its id. Returns undefined if that one was dropped. */
  findOrCreate(upload: NewTusUpload, retentionSeconds: number): Promise<TusUpload | undefined>
  find(uploadId: string, signal?: AbortSignal): Promise<TusUpload | undefined>
  /**
   * Leases the upload for `LEASE_SECONDS`, so that the caller is the only writer. If another writer
   * holds the lease, it requests that the writer releases it, and returns undefined.
   */
  lease(uploadId: string): Promise<TusUpload | undefined>
  /** Renews the lease. Returns false if it is over or another request has requested it. */
  extendLease(uploadId: string, fence: number): Promise<boolean>
  release(uploadId: string, fence: number): Promise<void>
  /**
   * Records stored parts and extends the expiry of the upload. Returns false if the lease is over.
   */
  addParts(uploadId: string, fence: number, parts: readonly TusPart[], retentionSeconds: number): Promise<boolean>
  setLength(uploadId: string, fence: number, length: number): Promise<void>
  /**
   * Starts an incomplete upload again without its parts. Returns the objects of the parts, or
   * undefined if the lease is over.
   */
  restart(
    uploadId: string,
    fence: number,
    begin: { length: number | undefined; title: string; filename: string },
  ): Promise<string[] | undefined>
  /** Returns the parts in order. */
  listParts(uploadId: string): Promise<TusPart[]>
  /**
   * Returns complete uploads without a video or a final error, those with the oldest attempt first.
   * The call counts as a new attempt for each of them.
   */
  claimComplete(limit: number): Promise<TusUpload[]>
  setVideo(uploadId: string, created: { videoId: string; jobId: string }): Promise<void>
  setError(uploadId: string, error: TusError): Promise<void>
  /**
   * Marks the upload as dropped. Returns false if it no longer exists, or if a video was or may be
   * created from it.
   */
  drop(uploadId: string): Promise<boolean>
  /**
   * Drops expired uploads, except those that an active job reads or from which a video or a job may
   * still be created. Returns the ids of dropped uploads, also of earlier calls. Returns none while
   * a backup copies objects.
   */
  dropExpired(limit: number): Promise<string[]>
  /** Returns true while objects must be kept. */
  isSweepPaused(): Promise<boolean>
  deleteRow(uploadId: string): Promise<void>
}

const LEASE_SECONDS = 3
/**
 * Time after the expiry of a complete upload in which its video and the job of the video may still
 * be created. Both are retried for days.
 */
const LATEST_JOB_SECONDS = 7 * 86_400

export function createTusStore(db: Db): TusStore {
  const queryUpload = async (text: string, values: unknown[]) => {
    const [row] = await db.query<Row>(text, values)
    return row && toUpload(row)
  }
  const hasChangedRow = async (text: string, values: unknown[]) => (await db.query(text, values)).length === 1

  /** Returns undefined if the id is taken. */
  const insert = (
    { uploadId, organisationId, owner, metadata, title, filename, length, ticket, mediaId }: NewTusUpload,
    retentionSeconds: number,
  ) =>
    queryUpload(
      `insert into tus_upload (upload_id, organisation_id, owner, metadata, title, filename, length, expire_time, ticket, media_id)
       values ($1, $2, $3, $4, $5, $6, $7, now() + $8::int * interval '1 second', $9, $10)
       on conflict (upload_id) do nothing returning ${COLUMNS}`,
      [
        ...[uploadId, organisationId, JSON.stringify(owner), metadata, title, filename, length ?? null, retentionSeconds],
        ...[ticket === undefined ? null : JSON.stringify(ticket), mediaId ?? null],
      ],
    )
  const find = (uploadId: string) => queryUpload(`select ${COLUMNS} from tus_upload where upload_id = $1 and drop_time is null`, [uploadId])

  return {
    async create(upload, retentionSeconds) {
      const created = await insert(upload, retentionSeconds)
      if (!created) throw new Error(`an upload with the id ${upload.uploadId} exists`)
      return created
    },
    async findOrCreate(upload, retentionSeconds) {
      return (await insert(upload, retentionSeconds)) ?? (await find(upload.uploadId))
    },
    async find(uploadId, signal) {
      signal?.throwIfAborted()
      return find(uploadId)
    },
    async lease(uploadId) {
      const leased = await queryUpload(
        `update tus_upload set fence = fence + 1, is_lease_requested = false, lease_end = now() + ${LEASE_SECONDS} * interval '1 second'
         where upload_id = $1 and drop_time is null and (lease_end is null or lease_end < now()) returning ${COLUMNS}`,
        [uploadId],
      )
      if (!leased) await db.query('update tus_upload set is_lease_requested = true where upload_id = $1', [uploadId])
      return leased
    },
    extendLease: (uploadId, fence) =>
      hasChangedRow(
        `update tus_upload set lease_end = now() + ${LEASE_SECONDS} * interval '1 second'
         where upload_id = $1 and fence = $2 and not is_lease_requested and drop_time is null returning 1`,
        [uploadId, fence],
      ),
    async release(uploadId, fence) {
      await db.query('update tus_upload set lease_end = null where upload_id = $1 and fence = $2', [uploadId, fence])
    },
    addParts: (uploadId, fence, parts, retentionSeconds) =>
      db.transaction(async (tx) => {
        const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
        const [row] = await tx.query<{ parts: number }>(
          `update tus_upload set received = received + $3, parts = parts + $4, expire_time = now() + $5::int * interval '1 second'
           where upload_id = $1 and fence = $2 and drop_time is null returning parts`,
          [uploadId, fence, bytes, parts.length, retentionSeconds],
        )
        if (!row) return false
        const first = row.parts - parts.length
        for (const [index, part] of parts.entries()) {
          const values = [uploadId, first + index, part.object, part.bytes]
          await tx.query('insert into tus_part (upload_id, part, object, bytes) values ($1, $2, $3, $4)', values)
        }
        return true
      }),
    async setLength(uploadId, fence, length) {
      await db.query('update tus_upload set length = $3 where upload_id = $1 and fence = $2 and length is null', [uploadId, fence, length])
    },
    restart: (uploadId, fence, { length, title, filename }) =>
      db.transaction(async (tx) => {
        const rows = await tx.query(
          `update tus_upload set received = 0, parts = 0, length = $3, title = $4, filename = $5
           where upload_id = $1 and fence = $2 and drop_time is null and video_id is null and error is null returning 1`,
          [uploadId, fence, length ?? null, title, filename],
        )
        if (rows.length === 0) return undefined
        const parts = await tx.query<{ object: string }>('delete from tus_part where upload_id = $1 returning object', [uploadId])
        return parts.map(({ object }) => object)
      }),
    async listParts(uploadId) {
      const rows = await db.query<{ object: string; bytes: string }>(
        'select object, bytes from tus_part where upload_id = $1 order by part',
        [uploadId],
      )
      return rows.map(({ object, bytes }) => ({ object, bytes: Number(bytes) }))
    },
    async claimComplete(limit) {
      const rows = await db.query<Row>(
        `update tus_upload set try_time = now() where upload_id in (
           select upload_id from tus_upload where received = length and video_id is null and error is null and drop_time is null
           order by try_time limit $1 for update skip locked)
         returning ${COLUMNS}`,
        [limit],
      )
      return rows.map(toUpload)
    },
    async setVideo(uploadId, { videoId, jobId }) {
      await db.query('update tus_upload set video_id = $2, job_id = $3, error = null where upload_id = $1', [uploadId, videoId, jobId])
    },
    async setError(uploadId, error) {
      await db.query('update tus_upload set error = $2 where upload_id = $1 and video_id is null', [uploadId, JSON.stringify(error)])
    },
    drop: (uploadId) =>
      hasChangedRow(
        `update tus_upload set drop_time = now() where upload_id = $1 and drop_time is null and video_id is null
           and (error is not null or length is null or received < length) returning 1`,
        [uploadId],
      ),
    async dropExpired(limit) {
      await db.query(
        `update tus_upload set drop_time = now() where upload_id in (
           select upload_id from tus_upload u where expire_time < now() and drop_time is null
             and (video_id is null and (error is not null or length is null or received < length)
               or expire_time < now() - ${LATEST_JOB_SECONDS} * interval '1 second'
               or video_id is not null and exists (select from job where source_url = 'tus:' || u.upload_id))
             and not exists (select from job where source_url = 'tus:' || u.upload_id
               and state in ('queued', 'fetching', 'probing', 'encoding', 'publishing'))
           order by expire_time limit $1)`,
        [limit],
      )
      const rows = await db.query<{ upload_id: string }>(
        `select upload_id from tus_upload where drop_time is not null and ${NO_SWEEP_HOLD} order by expire_time limit $1`,
        [limit],
      )
      return rows.map(({ upload_id }) => upload_id)
    },
    isSweepPaused: () => isSweepPaused(db.query),
    async deleteRow(uploadId) {
      await db.query('delete from tus_upload where upload_id = $1 and drop_time is not null', [uploadId])
    },
  }
}

const COLUMNS = `upload_id, organisation_id, owner, media_id, metadata, title, filename, length, received, parts, fence, video_id, job_id, error,
  expire_time, ticket`

interface Row {
  upload_id: string
  organisation_id: string
  owner: Owner
  media_id: string | null
  metadata: string
  title: string
  filename: string
  length: string | null
  received: string
  parts: number
  fence: number
  video_id: string | null
  job_id: string | null
  error: TusError | null
  expire_time: Date
  ticket: Ticket | null
}

function toUpload(row: Row): TusUpload {
  return {
    uploadId: row.upload_id,
    organisationId: row.organisation_id,
    owner: row.owner,
    mediaId: row.media_id ?? undefined,
    metadata: row.metadata,
    title: row.title,
    filename: row.filename,
    length: row.length === null ? undefined : Number(row.length),
    received: Number(row.received),
    parts: row.parts,
    fence: row.fence,
    videoId: row.video_id ?? '',
    jobId: row.job_id ?? '',
    error: row.error ?? undefined,
    expires: row.expire_time,
    ticket: row.ticket ?? undefined,
  }
}
