import type { Db } from '@vitascope/postgres'
import { isSweepPaused, NO_SWEEP_HOLD } from '../objects/sweep-hold.ts'

/** An object that a browser has stored, or may store. */
export interface StoredUpload {
  uploadId: string
  organisationId: string
  object: string
  /** Empty until it is known. */
  filename: string
  /** Undefined until the object is known to exist. */
  bytes: number | undefined
  /** Empty if the store does not report one. */
  etag: string
}

export interface UploadStore {
  /**
   * Binds an object to an organisation before its bytes are recorded, and returns the id of the
   * upload. Returns undefined if the object belongs to another organisation or is being removed.
   */
  bind(organisationId: string, object: string, signal?: AbortSignal): Promise<string | undefined>
  /**
   * Records an object whose bytes are reserved under the id of the upload. Returns undefined if the
   * object belongs to another organisation or is being removed.
   */
  recordObject(
    stored: { organisationId: string; object: string; bytes: number; etag: string },
    signal?: AbortSignal,
  ): Promise<StoredUpload | undefined>
  find(object: string, signal?: AbortSignal): Promise<StoredUpload | undefined>
  findById(uploadId: string, signal?: AbortSignal): Promise<StoredUpload | undefined>
  /**
   * Extends the expiry by a day and sets the file name. Returns false if the upload no longer
   * exists.
   */
  extendExpiry(uploadId: string, filename: string, signal?: AbortSignal): Promise<boolean>
  /**
   * Marks an unused upload as dropped. Returns false if an active job reads it or it no longer
   * exists.
   */
  drop(uploadId: string, signal?: AbortSignal): Promise<boolean>
  /**
   * Drops expired uploads that no active job reads. Returns dropped uploads, also of earlier calls.
   * Returns none while a backup copies objects.
   */
  dropExpired(limit: number): Promise<{ uploadId: string; object: string }[]>
  /** Removes the row of a deleted object. */
  deleteRow(uploadId: string): Promise<void>
  /** Returns true while objects must be kept. */
  isSweepPaused(): Promise<boolean>
  /** Returns those of the objects that have a row. */
  filterRecorded(objects: readonly string[]): Promise<Set<string>>
}

/** Seconds after which an unclaimed upload expires. */
export const RETENTION_SECONDS = 24 * 3_600
/**
 * Seconds for which a reservation is valid after the expiry of its upload. In this time the sweep
 * removes the row and releases the reservation.
 */
export const SWEEP_SECONDS = 3_600
/** Maximum duration of a form that was sent before its policy expired. */
const FORM_SECONDS = 3_600

export function createUploadStore(db: Db): UploadStore {
  return {
    async bind(organisationId, object, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<{ upload_id: string }>(
        `insert into upload (organisation_id, object, expire_time) values ($1, $2, now() + $3::int * interval '1 second')
         on conflict (object) do update set expire_time = greatest(upload.expire_time, excluded.expire_time)
           where upload.organisation_id = excluded.organisation_id and upload.drop_time is null
         returning upload_id`,
        [organisationId, object, RETENTION_SECONDS + FORM_SECONDS],
      )
      return row?.upload_id
    },
    async recordObject({ organisationId, object, bytes, etag }, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(
        `insert into upload (organisation_id, object, bytes, etag, expire_time)
         values ($1, $2, $3, $4, now() + $5::int * interval '1 second')
         on conflict (object) do update set bytes = excluded.bytes, etag = excluded.etag,
             expire_time = greatest(upload.expire_time, excluded.expire_time)
           where upload.organisation_id = excluded.organisation_id and upload.drop_time is null
         returning ${COLUMNS}`,
        [organisationId, object, bytes, etag, RETENTION_SECONDS],
      )
      return row && toUpload(row)
    },
    async find(object, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(`select ${COLUMNS} from upload where object = $1 and drop_time is null`, [object])
      return row && toUpload(row)
    },
    async findById(uploadId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(`select ${COLUMNS} from upload where upload_id = $1 and drop_time is null`, [uploadId])
      return row && toUpload(row)
    },
    async extendExpiry(uploadId, filename, signal) {
      signal?.throwIfAborted()
      const rows = await db.query(
        `update upload set filename = case when $2 = '' then filename else $2 end,
           expire_time = greatest(expire_time, now() + $3::int * interval '1 second')
         where upload_id = $1 and drop_time is null returning 1`,
        [uploadId, filename, RETENTION_SECONDS],
      )
      return rows.length === 1
    },
    async drop(uploadId, signal) {
      signal?.throwIfAborted()
      const rows = await db.query(
        `update upload u set drop_time = now(), expire_time = least(expire_time, now() - interval '1 second')
         where upload_id = $1 and drop_time is null and ${IS_UNREAD} returning 1`,
        [uploadId],
      )
      return rows.length === 1
    },
    async dropExpired(limit) {
      await db.query(
        `update upload set drop_time = now() where upload_id in (
           select upload_id from upload u where expire_time < now() and drop_time is null and ${IS_UNREAD}
           order by expire_time limit $1)`,
        [limit],
      )
      const rows = await db.query<{ upload_id: string; object: string }>(
        `select upload_id, object from upload where expire_time < now() and drop_time is not null and ${NO_SWEEP_HOLD} order by expire_time limit $1`,
        [limit],
      )
      return rows.map(({ upload_id, object }) => ({ uploadId: upload_id, object }))
    },
    async deleteRow(uploadId) {
      await db.query('delete from upload where upload_id = $1 and drop_time is not null', [uploadId])
    },
    isSweepPaused: () => isSweepPaused(db.query),
    async filterRecorded(objects) {
      const rows = await db.query<{ object: string }>('select object from upload where object = any($1)', [objects])
      return new Set(rows.map(({ object }) => object))
    },
  }
}

const IS_ACTIVE = `state in ('queued', 'fetching', 'probing', 'encoding', 'publishing')`

/** SQL condition: no active job reads the upload `u`. */
const IS_UNREAD = `not exists (select from job where source_url = 'upload:' || u.upload_id and ${IS_ACTIVE})
             and not exists (select from job where kind in ('slides', 'poster') and source ->> 'object' = u.object and ${IS_ACTIVE})`

const COLUMNS = 'upload_id, organisation_id, object, filename, bytes, etag'

interface Row {
  upload_id: string
  organisation_id: string
  object: string
  filename: string
  bytes: string | null
  etag: string
}

function toUpload({ upload_id, organisation_id, object, filename, bytes, etag }: Row): StoredUpload {
  return {
    uploadId: upload_id,
    organisationId: organisation_id,
    object,
    filename,
    bytes: bytes === null ? undefined : Number(bytes),
    etag,
  }
}
