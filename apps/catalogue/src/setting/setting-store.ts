import { DomainError, notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, type Transaction, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { encodePageToken, readIdToken, type TokenPage } from '@vitascope/request'
import type { Enqueue } from '../publishing/job/job-messages.ts'
import { requirePrePostRolls } from './pre-post-roll.ts'
import { rotateUrlsOfVideos } from './rotate-urls.ts'
import { SETTING_PATHS, type Setting, type SettingFields } from './setting.ts'

export interface SettingKey {
  scope: Scope
  settingId: string
}

/** The hash to store. Null removes the stored hash. Undefined does not change it. */
export type PasswordHash = string | null | undefined

export interface NewSetting {
  organisationId: string
  userId: string
  fields: SettingFields
  passwordHash: string | null
}

export interface SettingStore {
  /**
   * Stores a profile and returns its id. Throws VIDEO_NOT_FOUND if `rolls` references a video that
   * the organisation does not have.
   */
  create(setting: NewSetting, call: Pick<Call, 'idempotency' | 'signal'>): Promise<string>
  find(key: SettingKey, signal?: AbortSignal): Promise<Setting | undefined>
  /** Returns a page of profiles, oldest first. */
  list(organisationId: string, page: TokenPage, signal?: AbortSignal): Promise<{ settings: Setting[]; nextPageToken: string }>
  /**
   * Locks the profile and stores what `change` returns. Throws SETTING_NOT_FOUND, and
   * VIDEO_NOT_FOUND like `create`.
   */
  update(
    key: SettingKey,
    byUserId: string,
    change: (current: Setting) => { fields: SettingFields; passwordHash: PasswordHash },
    signal?: AbortSignal,
  ): Promise<Setting>
  /**
   * Deletes a profile. Throws SETTING_NOT_FOUND, and SETTING_IN_USE if it is a default profile or
   * if videos would lose their password.
   */
  remove(key: SettingKey, signal?: AbortSignal): Promise<void>
  /** Returns the effective profile of a video. */
  findOfVideo(videoId: string, signal?: AbortSignal): Promise<Setting | undefined>
  /** Returns the password hash of a video's effective profile. */
  findPasswordOfVideo(videoId: string, signal?: AbortSignal): Promise<string | undefined>
}

/** Column names are inserted into SQL. They are constants. */
const PATHS = [...SETTING_PATHS.keys()]
const FIELDS = PATHS.join(', ')
const FIELD_PARAMETERS = PATHS.map((_, index) => `$${index + 1}`).join(', ')
const [NEXT, NEXT2, NEXT3] = [1, 2, 3].map((offset) => `$${PATHS.length + offset}`)
const COLUMNS = ['setting_id', 'organisation_id', 'created_by_user_id', 'last_modified_by_user_id', 'create_time', 'update_time', ...PATHS]
  .map((name) => `s.${name}`)
  .join(', ')
const SELECT = `select ${COLUMNS}, s.password_hash is not null as password_protected from setting s`
const OF_VIDEO = 'from video v join organisation o on o.organisation_id = v.organisation_id'

/**
 * SQL conditions for `setting s`. The first selects the profile that `video v` of `organisation o`
 * references. The second selects its effective profile: the referenced profile, or else the
 * default profile of its organisation.
 */
export const REFERENCED_SETTING = 's.organisation_id = v.organisation_id and s.setting_id::text = v.setting_id'
export const EFFECTIVE_SETTING = `s.organisation_id = v.organisation_id and s.setting_id::text in (v.setting_id, o.default_setting_id)
  order by s.setting_id::text = v.setting_id desc limit 1`

export function createSettingStore(db: Db, enqueue: Enqueue): SettingStore {
  return {
    create: ({ organisationId, userId, fields, passwordHash }, call) =>
      withIdempotency(db, call, jsonCodec<string>(), async (tx) => {
        await requirePrePostRolls(tx, organisationId, fields.rolls)
        const [row] = await tx.query<{ setting_id: string }>(
          `insert into setting (${FIELDS}, organisation_id, created_by_user_id, last_modified_by_user_id, password_hash)
           values (${FIELD_PARAMETERS}, ${NEXT}, ${NEXT2}, ${NEXT2}, ${NEXT3}) returning setting_id`,
          [...toValues(fields), organisationId, userId, passwordHash],
        )
        if (!row) throw new Error('the insert of a setting returned no row')
        return row.setting_id
      }),
    async find({ scope, settingId }, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(`${SELECT} where s.setting_id = $1 and ($2::bigint is null or s.organisation_id = $2)`, [
        settingId,
        scope,
      ])
      return row && toSetting(row)
    },
    async list(organisationId, { size, token, skip }, signal) {
      const after = readIdToken(token)
      signal?.throwIfAborted()
      const rows = await db.query<Row>(
        `${SELECT} where s.organisation_id = $1 and s.setting_id > $2 order by s.setting_id limit $3 offset $4`,
        [organisationId, after, size + 1, skip],
      )
      const settings = rows.slice(0, size).map(toSetting)
      return { settings, nextPageToken: rows.length > size ? encodePageToken([settings.at(-1)?.settingId ?? '']) : '' }
    },
    update: (key, byUserId, change, signal) =>
      db.transaction(async (tx) => {
        const before = await lockSetting(tx, key)
        const { fields, passwordHash } = change(before)
        await requirePrePostRolls(tx, before.organisationId, fields.rolls, before.rolls)
        await tx.query(
          `update setting set (${FIELDS}) = (${FIELD_PARAMETERS}), last_modified_by_user_id = ${NEXT}, update_time = clock_timestamp()
           where setting_id = ${NEXT2}`,
          [...toValues(fields), byUserId, key.settingId],
        )
        if (passwordHash !== undefined) {
          await tx.query('update setting set password_hash = $2 where setting_id = $1', [key.settingId, passwordHash])
          if (passwordHash !== null) await rotateUrlsOfVideos(tx, enqueue, before)
        }
        return lockSetting(tx, key)
      }, signal),
    remove: (key, signal) =>
      db.transaction(async (tx) => {
        const { settingId, organisationId, passwordProtected } = await lockSetting(tx, key)
        if (await isDefault(tx, settingId, organisationId)) {
          const message = 'this is the default profile of its organisation: set another default_setting_id for the organisation first'
          throw new DomainError('failed_precondition', 'SETTING_IN_USE', message)
        }
        if (passwordProtected && (await isUsedByVideo(tx, settingId, organisationId))) {
          throw new DomainError(
            'failed_precondition',
            'SETTING_IN_USE',
            'videos use the password of this profile; remove the password first',
          )
        }
        await tx.query('delete from setting where setting_id = $1', [settingId])
      }, signal),
    async findOfVideo(videoId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(
        `select e.* ${OF_VIDEO} cross join lateral (${SELECT} where ${EFFECTIVE_SETTING}) e where v.video_id = $1`,
        [videoId],
      )
      return row && toSetting(row)
    },
    async findPasswordOfVideo(videoId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<{ password_hash: string | null }>(
        `select (select s.password_hash from setting s where ${EFFECTIVE_SETTING}) as password_hash ${OF_VIDEO} where v.video_id = $1`,
        [videoId],
      )
      return row?.password_hash ?? undefined
    },
  }
}

/**
 * Locks and returns a profile. A video that references the profile takes a key share lock on this row,
 * so no video can reference the profile between the check and the deletion.
 */
async function lockSetting(tx: Transaction, { scope, settingId }: SettingKey): Promise<Setting> {
  const [row] = await tx.query<Row>(
    `${SELECT} where s.setting_id = $1 and ($2::bigint is null or s.organisation_id = $2) for update of s`,
    [settingId, scope],
  )
  if (!row) throw notFound('setting', settingId)
  return toSetting(row)
}

async function isDefault(tx: Transaction, settingId: string, organisationId: string): Promise<boolean> {
  const rows = await tx.query('select from organisation where organisation_id = $2 and default_setting_id = $1', [
    settingId,
    organisationId,
  ])
  return rows.length > 0
}

async function isUsedByVideo(tx: Transaction, settingId: string, organisationId: string): Promise<boolean> {
  const rows = await tx.query(`select from video where setting_id = $1 and setting_id <> '' and organisation_id = $2 limit 1`, [
    settingId,
    organisationId,
  ])
  return rows.length > 0
}

function toValues(fields: SettingFields): unknown[] {
  return [...SETTING_PATHS.values()].map((key) => fields[key] ?? null)
}

interface Row {
  setting_id: string
  organisation_id: string
  created_by_user_id: string
  last_modified_by_user_id: string
  create_time: Date
  update_time: Date
  password_protected: boolean
  monetization_id: string | null
  max_sessions: number | null
  [field: string]: unknown
}

function toSetting(row: Row): Setting {
  // Each path is a column with the type of its field, except that bigint is read as a string.
  const fields = Object.fromEntries([...SETTING_PATHS].map(([path, key]) => [key, row[path]])) as unknown as SettingFields
  return {
    ...fields,
    monetizationId: row.monetization_id === null ? undefined : Number(row.monetization_id),
    maxSessions: row.max_sessions ?? undefined,
    settingId: row.setting_id,
    organisationId: row.organisation_id,
    passwordProtected: row.password_protected,
    createdByUserId: row.created_by_user_id,
    lastModifiedByUserId: row.last_modified_by_user_id,
    createTime: row.create_time,
    updateTime: row.update_time,
  }
}
