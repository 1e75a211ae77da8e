import type { Db } from '@vitascope/postgres'
import { isSweepHeld, NOT_HELD } from '../objects/sweep-hold.ts'

/** An object that a browser put into the store, or may put there. */
export interface StoredUpload {
  uploadId: string
  organisationId: string
  object: string
  /** Empty before it was told. */
  filename: string
  /** Undefined until it is known to be there. */
  bytes: number | undefined
  /** Empty where the store tells none. */
  etag: string
}

export interface UploadStore {
  /** Binds an object to an organisation before it comes; false where it is another one's. */
  bind(organisationId: string, object: string, signal?: AbortSignal): Promise<boolean>
  /** Writes down what came; undefined where the object is another organisation's. */
  arrived(
    came: { organisationId: string; object: string; bytes: number; etag: string },
    signal?: AbortSignal,
  ): Promise<StoredUpload | undefined>
  find(object: string, signal?: AbortSignal): Promise<StoredUpload | undefined>
  findById(uploadId: string, signal?: AbortSignal): Promise<StoredUpload | undefined>
  /** Keeps it a day longer, under the name that its uploader gives it; false where it is gone. */
  keep(uploadId: string, filename: string, signal?: AbortSignal): Promise<boolean>
  /** Has those go that are over and that no job reads; answers the ones that are going, from earlier rounds too. */
  dropOld(limit: number): Promise<{ uploadId: string; object: string }[]>
  /** The row of an object that is gone. */
  forget(uploadId: string): Promise<void>
  /** Whether objects must stay for now. */
  isHeld(): Promise<boolean>
  /** Those of the objects that have a row. */
  known(objects: readonly string[]): Promise<Set<string>>
}

/** Nobody has come for it by then. */
export const KEPT_SECONDS = 24 * 3_600
/** A form that began before its policy ended may still be on its way. */
const LATE_SECONDS = 3_600

export function createUploadStore(db: Db): UploadStore {
  return {
    async bind(organisationId, object, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<{ organisation_id: string }>(
        `insert into upload (organisation_id, object, expire_time) values ($1, $2, now() + $3::int * interval '1 second')
         on conflict (object) do update set expire_time = greatest(upload.expire_time, excluded.expire_time)
           where upload.organisation_id = excluded.organisation_id and upload.drop_time is null
         returning organisation_id`,
        [organisationId, object, KEPT_SECONDS + LATE_SECONDS],
      )
      return rows.length === 1
    },
    async arrived({ organisationId, object, bytes, etag }, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(
        `insert into upload (organisation_id, object, bytes, etag, expire_time)
         values ($1, $2, $3, $4, now() + $5::int * interval '1 second')
         on conflict (object) do update set bytes = excluded.bytes, etag = excluded.etag,
             expire_time = greatest(upload.expire_time, excluded.expire_time)
           where upload.organisation_id = excluded.organisation_id and upload.drop_time is null
         returning ${COLUMNS}`,
        [organisationId, object, bytes, etag, KEPT_SECONDS],
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
    async keep(uploadId, filename, signal) {
      signal?.throwIfAborted()
      const rows = await db.query(
        `update upload set filename = case when $2 = '' then filename else $2 end,
           expire_time = greatest(expire_time, now() + $3::int * interval '1 second')
         where upload_id = $1 and drop_time is null returning 1`,
        [uploadId, filename, KEPT_SECONDS],
      )
      return rows.length === 1
    },
    async dropOld(limit) {
      await db.query(
        `update upload set drop_time = now() where upload_id in (
           select upload_id from upload u where expire_time < now() and drop_time is null
             and not exists (select from job where source_url = 'upload:' || u.upload_id and ${UNDER_WAY})
             and not exists (select from job where kind = 'slides' and source ->> 'object' = u.object and ${UNDER_WAY})
           order by expire_time limit $1)`,
        [limit],
      )
      const rows = await db.query<{ upload_id: string; object: string }>(
        `select upload_id, object from upload where expire_time < now() and drop_time is not null and ${NOT_HELD} order by expire_time limit $1`,
        [limit],
      )
      return rows.map(({ upload_id, object }) => ({ uploadId: upload_id, object }))
    },
    async forget(uploadId) {
      await db.query('delete from upload where upload_id = $1 and drop_time is not null', [uploadId])
    },
    isHeld: () => isSweepHeld(db.query),
    async known(objects) {
      const rows = await db.query<{ object: string }>('select object from upload where object = any($1)', [objects])
      return new Set(rows.map(({ object }) => object))
    },
  }
}

const UNDER_WAY = `state in ('queued', 'fetching', 'probing', 'encoding', 'publishing')`

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
