import { DomainError, notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, type Transaction, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { encodePageToken, readIdToken, type TokenPage } from '@vitascope/request'
import { readTimeToken, writeTimeToken } from '../rules/time-token.ts'
import { THEME_PATHS, type Theme, type ThemeFields } from './theme.ts'

export interface ThemeKey {
  scope: Scope
  themeId: string
}

export interface ThemeStore {
  create(theme: { organisationId: string; userId: string; fields: ThemeFields }, call: Pick<Call, 'idempotency' | 'signal'>): Promise<Theme>
  find(key: ThemeKey, signal?: AbortSignal): Promise<Theme | undefined>
  /** Returns themes, oldest first. */
  list(organisationId: string, page: TokenPage, signal?: AbortSignal): Promise<{ themes: Theme[]; nextPageToken: string }>
  /** Returns the videos that reference a theme, oldest first. */
  listVideos(
    theme: Theme,
    page: TokenPage,
    signal?: AbortSignal,
  ): Promise<{ videos: { videoId: string; title: string }[]; nextPageToken: string }>
  /** Locks the theme and stores the fields that `change` returns. Throws THEME_NOT_FOUND. */
  update(key: ThemeKey, byUserId: string, change: (current: Theme) => ThemeFields, signal?: AbortSignal): Promise<Theme>
  /** Deletes a theme. Throws THEME_NOT_FOUND, and THEME_IN_USE if it is the default theme of its organisation. */
  remove(key: ThemeKey, signal?: AbortSignal): Promise<void>
  /**
   * Returns the effective theme of a video: the referenced theme, or else the default theme of its
   * organisation.
   */
  findOfVideo(videoId: string, signal?: AbortSignal): Promise<Theme | undefined>
}

/** Column names are inserted into SQL. They are constants. */
const PATHS = [...THEME_PATHS.keys()]
const FIELDS = PATHS.join(', ')
const FIELD_PARAMETERS = PATHS.map((_, index) => `$${index + 1}`).join(', ')
const [NEXT, NEXT2] = [1, 2].map((offset) => `$${PATHS.length + offset}`)
const COLUMNS = `theme_id, organisation_id, update_time, ${FIELDS}`
const IN_SCOPE = 'theme_id = $1 and ($2::bigint is null or organisation_id = $2)'

export function createThemeStore(db: Db): ThemeStore {
  return {
    async create({ organisationId, userId, fields }, call) {
      const created = await withIdempotency(db, call, jsonCodec<Row>(), async (tx) => {
        const [row] = await tx.query<Row>(
          `insert into theme (${FIELDS}, organisation_id, created_by_user_id, last_modified_by_user_id)
           values (${FIELD_PARAMETERS}, ${NEXT}, ${NEXT2}, ${NEXT2}) returning ${COLUMNS}`,
          [...toValues(fields), organisationId, userId],
        )
        if (!row) throw new Error('the insert of a theme returned no row')
        return row
      })
      return toTheme(created)
    },
    async find({ scope, themeId }, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(`select ${COLUMNS} from theme where ${IN_SCOPE}`, [themeId, scope])
      return row && toTheme(row)
    },
    async list(organisationId, { size, token, skip }, signal) {
      const after = readIdToken(token)
      signal?.throwIfAborted()
      const rows = await db.query<Row>(
        `select ${COLUMNS} from theme where organisation_id = $1 and theme_id > $2 order by theme_id limit $3 offset $4`,
        [organisationId, after, size + 1, skip],
      )
      const themes = rows.slice(0, size).map(toTheme)
      return { themes, nextPageToken: rows.length > size ? encodePageToken([themes.at(-1)?.themeId ?? '']) : '' }
    },
    async listVideos({ themeId, organisationId }, { size, token, skip }, signal) {
      const after = readTimeToken(token)
      signal?.throwIfAborted()
      const rows = await db.query<{ video_id: string; title: string; create_time: Date }>(
        `select video_id, title, create_time from video
         where theme_id = $1 and theme_id <> '' and organisation_id = $2 and (create_time, video_id) > ($3::timestamptz, $4::bigint)
         order by create_time, video_id limit $5 offset $6`,
        [themeId, organisationId, after.createTime, after.id, size + 1, skip],
      )
      const page = rows.slice(0, size)
      const last = page.at(-1)
      return {
        videos: page.map((row) => ({ videoId: row.video_id, title: row.title })),
        nextPageToken: rows.length > size && last ? writeTimeToken({ createTime: last.create_time, id: last.video_id }) : '',
      }
    },
    update: (key, byUserId, change, signal) =>
      db.transaction(async (tx) => {
        const fields = change(await lockTheme(tx, key))
        const [row] = await tx.query<Row>(
          `update theme set (${FIELDS}) = (${FIELD_PARAMETERS}), last_modified_by_user_id = ${NEXT}, update_time = clock_timestamp()
           where theme_id = ${NEXT2} returning ${COLUMNS}`,
          [...toValues(fields), byUserId, key.themeId],
        )
        if (!row) throw new Error(`theme ${key.themeId} disappeared while it was locked`)
        return toTheme(row)
      }, signal),
    remove: (key, signal) =>
      db.transaction(async (tx) => {
        const { themeId, organisationId } = await lockTheme(tx, key)
        if (await isDefault(tx, themeId, organisationId)) {
          const message = 'this is the default theme of its organisation: set another default_theme_id for the organisation first'
          throw new DomainError('failed_precondition', 'THEME_IN_USE', message)
        }
        await tx.query('delete from theme where theme_id = $1', [themeId])
      }, signal),
    async findOfVideo(videoId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(
        `select t.* from video v join organisation o on o.organisation_id = v.organisation_id
         cross join lateral (
           select ${COLUMNS} from theme t
           where t.organisation_id = v.organisation_id and t.theme_id::text in (v.theme_id, o.default_theme_id)
           order by t.theme_id::text = v.theme_id desc limit 1
         ) t where v.video_id = $1`,
        [videoId],
      )
      return row && toTheme(row)
    },
  }
}

async function lockTheme(tx: Transaction, { scope, themeId }: ThemeKey): Promise<Theme> {
  const [row] = await tx.query<Row>(`select ${COLUMNS} from theme where ${IN_SCOPE} for update`, [themeId, scope])
  if (!row) throw notFound('theme', themeId)
  return toTheme(row)
}

async function isDefault(tx: Transaction, themeId: string, organisationId: string): Promise<boolean> {
  const rows = await tx.query('select from organisation where organisation_id = $2 and default_theme_id = $1', [themeId, organisationId])
  return rows.length > 0
}

function toValues(fields: ThemeFields): unknown[] {
  return [...THEME_PATHS.values()].map((key) => fields[key] ?? null)
}

interface Row {
  theme_id: string
  organisation_id: string
  /** A text in a stored response. */
  update_time: Date | string
  [field: string]: Date | string | null
}

function toTheme(row: Row): Theme {
  // Each path is a text column.
  const fields = Object.fromEntries([...THEME_PATHS].map(([path, key]) => [key, row[path] ?? undefined])) as unknown as ThemeFields
  return { ...fields, themeId: row.theme_id, organisationId: row.organisation_id, updateTime: new Date(row.update_time) }
}
