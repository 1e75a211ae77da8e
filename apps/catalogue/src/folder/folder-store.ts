import { DomainError, notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, isUniqueViolation, jsonCodec, type Transaction, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { isId, type PagePosition } from '@vitascope/request'
import { type Folder, type FolderFields, folderExists } from './folder.ts'

export interface FolderKey {
  scope: Scope
  folderId: string
}

export interface FolderEntry {
  /** Position in the folder. Videos that are added later have higher positions. */
  position: string
  videoId: string
}

type IdempotentCall = Pick<Call, 'idempotency' | 'signal'>

/** Methods with a key throw FOLDER_NOT_FOUND. `create` and `update` throw FOLDER_EXISTS if the name is in use. */
export interface FolderStore {
  require(key: FolderKey, signal?: AbortSignal): Promise<Folder>
  list(organisationId: string, position: PagePosition, signal?: AbortSignal): Promise<Folder[]>
  create(folder: FolderFields & { organisationId: string; userId: string }, call: IdempotentCall): Promise<Folder>
  /** Stores the fields that `change` returns for the locked folder. Returns the folder after and before the change. */
  update(
    key: FolderKey,
    byUserId: string,
    change: (current: Folder) => FolderFields,
    signal?: AbortSignal,
  ): Promise<{ folder: Folder; previous: Folder }>
  /** Deletes the folder and returns it. Its videos are not deleted. */
  remove(key: FolderKey, signal?: AbortSignal): Promise<Folder>
  videos(key: FolderKey, position: PagePosition, signal?: AbortSignal): Promise<FolderEntry[]>
  /** Returns false if the folder already contains the video. Throws VIDEO_NOT_FOUND. */
  addVideo(key: FolderKey, videoId: string, call: IdempotentCall): Promise<boolean>
  /** Throws FOLDER_VIDEO_NOT_FOUND if the folder does not contain the video. */
  removeVideo(key: FolderKey, videoId: string, call: IdempotentCall): Promise<void>
}

const COLUMNS = `folder_id, organisation_id, name, description, created_by_user_id, last_modified_by_user_id, create_time, update_time`
const FIND = `select ${COLUMNS} from folder where folder_id = $1 and ($2::bigint is null or organisation_id = $2)`

export function createFolderStore(db: Db): FolderStore {
  return {
    async require(key, signal) {
      signal?.throwIfAborted()
      return requireFolder(db, key)
    },
    async list(organisationId, { after, limit, skip }, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<Row>(
        `select ${COLUMNS} from folder where organisation_id = $1 and folder_id > $2 order by folder_id limit $3 offset $4`,
        [organisationId, after, limit, skip],
      )
      return rows.map(toFolder)
    },
    async create({ organisationId, userId, name, description }, call) {
      const row = await withNameConflict(name, () =>
        withIdempotency(db, call, jsonCodec<Row>(), async (tx) => {
          const [row] = await tx.query<Row>(
            `insert into folder (organisation_id, name, description, created_by_user_id, last_modified_by_user_id)
             values ($1, $2, $3, $4, $4) returning ${COLUMNS}`,
            [organisationId, name, description, userId],
          )
          if (!row) throw new Error('the insert of a folder returned no row')
          return row
        }),
      )
      return toFolder(row)
    },
    async update(key, byUserId, change, signal) {
      let name = ''
      const update = () =>
        db.transaction(async (tx) => {
          const previous = await requireFolder(tx, key, 'for update')
          const fields = change(previous)
          name = fields.name
          const [row] = await tx.query<Row>(
            `update folder set name = $2, description = $3, last_modified_by_user_id = $4, update_time = clock_timestamp()
             where folder_id = $1 returning ${COLUMNS}`,
            [previous.folderId, name, fields.description, byUserId],
          )
          if (!row) throw new Error(`folder ${previous.folderId} disappeared while it was locked`)
          return { folder: toFolder(row), previous }
        }, signal)
      return withNameConflict(() => name, update)
    },
    remove: (key, signal) =>
      db.transaction(async (tx) => {
        const folder = await requireFolder(tx, key, 'for update')
        await tx.query('delete from folder where folder_id = $1', [folder.folderId])
        return folder
      }, signal),
    async videos(key, { after, limit, skip }, signal) {
      signal?.throwIfAborted()
      const { folderId } = await requireFolder(db, key)
      const rows = await db.query<{ place: string; video_id: string }>(
        'select place, video_id from folder_video where folder_id = $1 and place > $2 order by place limit $3 offset $4',
        [folderId, after, limit, skip],
      )
      return rows.map((row) => ({ position: row.place, videoId: row.video_id }))
    },
    addVideo: (key, videoId, call) =>
      withIdempotency(db, call, jsonCodec<boolean>(), async (tx) => {
        // The locks prevent a concurrent deletion of the folder or the video.
        const { folderId, organisationId } = await requireFolder(tx, key, 'for key share')
        const [video] = isId(videoId)
          ? await tx.query('select 1 from video where video_id = $1 and organisation_id = $2 for key share', [videoId, organisationId])
          : []
        if (!video) throw notFound('video', videoId)
        const added = await tx.query(
          'insert into folder_video (folder_id, video_id, organisation_id) values ($1, $2, $3) on conflict do nothing returning 1',
          [folderId, videoId, organisationId],
        )
        return added.length > 0
      }),
    removeVideo: async (key, videoId, call) => {
      await withIdempotency(db, call, jsonCodec<boolean>(), async ({ query }) => {
        const { folderId } = await requireFolder({ query }, key)
        const removed = isId(videoId)
          ? await query('delete from folder_video where folder_id = $1 and video_id = $2 returning 1', [folderId, videoId])
          : []
        if (removed.length === 0) throw notInFolder(folderId, videoId)
        return true
      })
    },
  }
}

function notInFolder(folderId: string, videoId: string): DomainError {
  const video = isId(videoId) ? `video ${videoId}` : 'this video'
  return new DomainError('not_found', 'FOLDER_VIDEO_NOT_FOUND', `${video} is not in folder ${folderId}`)
}

async function requireFolder(
  { query }: Pick<Transaction, 'query'>,
  { scope, folderId }: FolderKey,
  lock: '' | 'for update' | 'for key share' = '',
): Promise<Folder> {
  const [row] = isId(folderId) ? await query<Row>(`${FIND} ${lock}`, [folderId, scope]) : []
  if (!row) throw notFound('folder', folderId)
  return toFolder(row)
}

async function withNameConflict<T>(name: string | (() => string), write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error, 'folder_name')) throw error
    throw folderExists(typeof name === 'string' ? name : name(), error)
  }
}

interface Row {
  folder_id: string
  organisation_id: string
  name: string
  description: string
  created_by_user_id: string
  last_modified_by_user_id: string
  /** A string in a stored idempotent response. */
  create_time: Date | string
  update_time: Date | string
}

function toFolder(row: Row): Folder {
  return {
    folderId: row.folder_id,
    organisationId: row.organisation_id,
    name: row.name,
    description: row.description,
    createdByUserId: row.created_by_user_id,
    lastModifiedByUserId: row.last_modified_by_user_id,
    createTime: new Date(row.create_time),
    updateTime: new Date(row.update_time),
  }
}
