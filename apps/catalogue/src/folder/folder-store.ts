import { DomainError, notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, isUniqueViolation, jsonCodec, once, type Transaction } from '@vitascope/postgres'
import { parseId } from '../id/id.ts'
import type { IdPlace } from '../id-page.ts'
import type { Scope } from '../visibility.ts'
import { type Folder, type FolderFields, folderExists } from './folder.ts'

export interface FolderKey {
  scope: Scope
  folderId: string
}

export interface FolderPlace {
  /** Grows with each video that is put in. */
  place: string
  videoId: string
}

type Repeatable = Pick<Call, 'idempotency' | 'signal'>

/** Calls with a key refuse with FOLDER_NOT_FOUND; names that are taken with FOLDER_EXISTS. */
export interface FolderStore {
  need(key: FolderKey, signal?: AbortSignal): Promise<Folder>
  list(organisationId: string, place: IdPlace, signal?: AbortSignal): Promise<Folder[]>
  create(folder: FolderFields & { organisationId: string; userId: string }, call: Repeatable): Promise<Folder>
  /** Locks the folder and stores what `change` makes of it; answers both. */
  update(
    key: FolderKey,
    byUserId: string,
    change: (now: Folder) => FolderFields,
    signal?: AbortSignal,
  ): Promise<{ folder: Folder; previous: Folder }>
  /** Answers the folder as it was; its videos stay. */
  remove(key: FolderKey, signal?: AbortSignal): Promise<Folder>
  videos(key: FolderKey, place: IdPlace, signal?: AbortSignal): Promise<FolderPlace[]>
  /** False where the video lay there already; refuses with VIDEO_NOT_FOUND. */
  add(key: FolderKey, videoId: string, call: Repeatable): Promise<boolean>
  /** Refuses with FOLDER_VIDEO_NOT_FOUND where the video did not lie there. */
  take(key: FolderKey, videoId: string, call: Repeatable): Promise<void>
}

const COLUMNS = `folder_id, organisation_id, name, description, created_by_user_id, last_modified_by_user_id, create_time, update_time`
const FIND = `select ${COLUMNS} from folder where folder_id = $1 and ($2::bigint is null or organisation_id = $2)`

export function createFolderStore(db: Db): FolderStore {
  return {
    async need(key, signal) {
      signal?.throwIfAborted()
      return needFolder(db, key)
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
      const made = await refusingTaken(name, () =>
        once(db, call, jsonCodec<Row>(), async (tx) => {
          const [row] = await tx.query<Row>(
            `insert into folder (organisation_id, name, description, created_by_user_id, last_modified_by_user_id)
             values ($1, $2, $3, $4, $4) returning ${COLUMNS}`,
            [organisationId, name, description, userId],
          )
          if (!row) throw new Error('the insert of a folder answered no row')
          return row
        }),
      )
      return toFolder(made)
    },
    async update(key, byUserId, change, signal) {
      let name = ''
      const update = () =>
        db.transaction(async (tx) => {
          const previous = await needFolder(tx, key, 'for update')
          const fields = change(previous)
          name = fields.name
          const [row] = await tx.query<Row>(
            `update folder set name = $2, description = $3, last_modified_by_user_id = $4, update_time = clock_timestamp()
             where folder_id = $1 returning ${COLUMNS}`,
            [previous.folderId, name, fields.description, byUserId],
          )
          if (!row) throw new Error(`folder ${previous.folderId} went away under its lock`)
          return { folder: toFolder(row), previous }
        }, signal)
      return refusingTaken(() => name, update)
    },
    remove: (key, signal) =>
      db.transaction(async (tx) => {
        const folder = await needFolder(tx, key, 'for update')
        await tx.query('delete from folder where folder_id = $1', [folder.folderId])
        return folder
      }, signal),
    async videos(key, { after, limit, skip }, signal) {
      signal?.throwIfAborted()
      const { folderId } = await needFolder(db, key)
      const rows = await db.query<{ place: string; video_id: string }>(
        'select place, video_id from folder_video where folder_id = $1 and place > $2 order by place limit $3 offset $4',
        [folderId, after, limit, skip],
      )
      return rows.map((row) => ({ place: row.place, videoId: row.video_id }))
    },
    add: (key, videoId, call) =>
      once(db, call, jsonCodec<boolean>(), async (tx) => {
        // Both stay while the row between them is written.
        const { folderId, organisationId } = await needFolder(tx, key, 'for key share')
        const [video] = parseId(videoId)
          ? await tx.query('select 1 from video where video_id = $1 and organisation_id = $2 for key share', [videoId, organisationId])
          : []
        if (!video) throw notFound('video', videoId)
        const added = await tx.query(
          'insert into folder_video (folder_id, video_id, organisation_id) values ($1, $2, $3) on conflict do nothing returning 1',
          [folderId, videoId, organisationId],
        )
        return added.length > 0
      }),
    take: async (key, videoId, call) => {
      await once(db, call, jsonCodec<boolean>(), async ({ query }) => {
        const { folderId } = await needFolder({ query }, key)
        const taken = parseId(videoId)
          ? await query('delete from folder_video where folder_id = $1 and video_id = $2 returning 1', [folderId, videoId])
          : []
        if (taken.length === 0) throw notInFolder(folderId, videoId)
        return true
      })
    },
  }
}

function notInFolder(folderId: string, videoId: string): DomainError {
  const video = parseId(videoId) ? `video ${videoId}` : 'this video'
  return new DomainError('not_found', 'FOLDER_VIDEO_NOT_FOUND', `${video} is not in folder ${folderId}`)
}

async function needFolder(
  { query }: Pick<Transaction, 'query'>,
  { scope, folderId }: FolderKey,
  lock: '' | 'for update' | 'for key share' = '',
): Promise<Folder> {
  const [row] = parseId(folderId) ? await query<Row>(`${FIND} ${lock}`, [folderId, scope]) : []
  if (!row) throw notFound('folder', folderId)
  return toFolder(row)
}

async function refusingTaken<T>(name: string | (() => string), write: () => Promise<T>): Promise<T> {
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
  /** A text in an answer that was kept. */
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
