import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createNotifications, type Notifications } from '@vitascope/postgres'
import { testLog, waitFor } from '@vitascope/testing'
import { createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { DEFAULT_SETTING } from '../setting/setting.ts'
import { createSettingStore } from '../setting/setting-store.ts'
import { DEFAULT_THEME } from '../theme/theme.ts'
import { createThemeStore } from '../theme/theme-store.ts'
import { PUBLIC_CHANGED, watchPublicChanges } from './public-changes.ts'
import { SELECT_VIDEO } from './video-row.ts'

let database: CatalogueDatabase
let notifications: Notifications
const controller = new AbortController()
/** The ids of all messages that were received, and the latest time until which they are complete. */
const received = { videoIds: [] as string[], organisationIds: [] as string[], completeUntilMs: 0 }
let watching: Promise<void>
beforeAll(async () => {
  database = await catalogueDatabase()
  notifications = createNotifications({
    url: database.url,
    channel: PUBLIC_CHANGED,
    applicationName: 'test',
    log: testLog,
    heartbeatMs: 10,
  })
  await notifications.start()
  watching = (async () => {
    for await (const message of watchPublicChanges(notifications, controller.signal)) {
      received.videoIds.push(...message.videoIds)
      received.organisationIds.push(...message.organisationIds)
      received.completeUntilMs = message.completeUntilMs
    }
  })()
})
afterAll(async () => {
  controller.abort()
  await watching
  await notifications.stop()
  await database.close()
})

/** Waits until all changes that were committed before are received. */
async function waitUntilComplete(): Promise<void> {
  const nowMs = performance.now()
  await waitFor(() => received.completeUntilMs >= nowMs)
}

/** Runs a change and returns the ids that were notified. */
async function collect(change: () => Promise<unknown>) {
  await waitUntilComplete()
  received.videoIds.length = 0
  received.organisationIds.length = 0
  await change()
  await waitUntilComplete()
  return { videoIds: [...received.videoIds], organisationIds: [...received.organisationIds] }
}

/** Everything that a guest can read of a video by `GET /video/{id}`. */
async function readView(videoId: string) {
  const settings = createSettingStore(database.db, database.enqueue)
  const themes = createThemeStore(database.db)
  return JSON.stringify([await database.videos.find(null, videoId), await settings.findOfVideo(videoId), await themes.findOfVideo(videoId)])
}

/** Names and SQL of changes, which are applied to one video in this order. `$v` and `$m` are the ids of the video and its media. */
const CHANGES: readonly [string, string][] = [
  ['a title', `update video set title = 'other' where video_id = $v`],
  ['an expiry', `update video set expire_time = now() + interval '1 day' where video_id = $v`],
  ['the delivery version', `update video set delivery_version = new_delivery_version() where video_id = $v`],
  ['the title of the media', `update media set title = 'other' where media_id = $m`],
  ['the protection of the media', `update media set token_required = true where media_id = $m`],
  ['the set', `update media set renditions = jsonb_set(renditions, '{width}', '640') where media_id = $m`],
  [
    'the preview image',
    `update media set gif_status = 1, renditions = jsonb_set(renditions, '{previewPath}', '"p.webp"') where media_id = $m`,
  ],
  ['a failure', `update media set state = 'failed', code = 4001 where media_id = $m`],
  ['a success after the failure', `update media set state = 'ok', code = 2000 where media_id = $m`],
  ['a new encode', `update media set state = 'encoding', progress = 10 where media_id = $m`],
  ['the end of the new encode', `update media set state = 'ok', progress = 100 where media_id = $m`],
  [
    'a new metadata entry',
    `insert into metadata_entry (video_id, name, value, private, read_only) values ($v, 'place', 'a', false, false)`,
  ],
  ['a changed metadata entry', `update metadata_entry set value = 'b' where video_id = $v`],
  ['a deleted metadata entry', 'delete from metadata_entry where video_id = $v'],
  [
    'a new caption',
    `insert into caption (media_id, organisation_id, title, language, created_by_user_id, last_modified_by_user_id, plain_text)
     values ($m, 1, 'English', 'en', '7', '7', '')`,
  ],
  ['a changed caption', `update caption set title = 'Dutch' where media_id = $m`],
  ['a deleted caption', 'delete from caption where media_id = $m'],
  ['a disabled organisation', 'update organisation set active = false where organisation_id = 1'],
  ['an enabled organisation', 'update organisation set active = true where organisation_id = 1'],
  ['an IP allowlist', `update organisation set allowed_ips = '{192.0.2.1}' where organisation_id = 1`],
]

test('each change of the public view of a video is notified', async () => {
  const { videoId, mediaId } = await database.play()
  for (const [name, statement] of CHANGES) {
    const before = await readView(videoId)
    const { videoIds, organisationIds } = await collect(() =>
      database.db.query(statement.replaceAll('$v', videoId).replaceAll('$m', mediaId)),
    )
    expect(await readView(videoId)).not.toBe(before)
    expect({ name, isNotified: videoIds.includes(videoId) || organisationIds.includes('1') }).toEqual({ name, isNotified: true })
  }
  expect((await collect(() => database.db.query(`delete from media where media_id = ${mediaId}`))).videoIds).toContain(videoId)
})

test('a change of a profile or theme is notified for its organisation', async () => {
  const settings = createSettingStore(database.db, database.enqueue)
  const themes = createThemeStore(database.db)
  const owner = { organisationId: '2', userId: '7' }
  const expected = { videoIds: [], organisationIds: ['2'] }
  const created = { settingId: '', themeId: '' }
  const create = async () => {
    created.settingId = await settings.create({ ...owner, fields: DEFAULT_SETTING, passwordHash: null }, createCall())
  }
  const createTheme = async () => {
    created.themeId = (await themes.create({ ...owner, fields: DEFAULT_THEME }, createCall())).themeId
  }
  expect(await collect(create)).toEqual(expected)
  expect(await collect(createTheme)).toEqual(expected)
  const { settingId, themeId } = created
  const fields = { ...DEFAULT_SETTING, title: 'other' }
  const change = () => settings.update({ scope: '2', settingId }, '7', () => ({ fields, passwordHash: undefined }))
  expect(new Set((await collect(change)).organisationIds)).toEqual(new Set(['2']))
  expect((await collect(() => settings.remove({ scope: '2', settingId }))).organisationIds).toContain('2')
  expect((await collect(() => themes.remove({ scope: '2', themeId }))).organisationIds).toContain('2')
})

test('a change is notified for the videos that it affects only, and the progress of an encode is not', async () => {
  const waiting = await database.upload()
  const video = await database.play()
  const other = await database.play()
  const change = (statement: string) => collect(() => database.db.query(statement))
  const none = { videoIds: [], organisationIds: [] }
  expect(await change(`update media set state = 'encoding', progress = 5 where media_id = ${waiting.mediaId}`)).toEqual(none)
  expect(await change(`update media set progress = 50 where media_id = ${waiting.mediaId}`)).toEqual(none)
  expect(await change(`update video set title = title where video_id = ${video.videoId}`)).toEqual(none)
  expect(await collect(() => database.upload())).toEqual(none)
  const { videoIds } = await change(`update video set title = 'new' where video_id = ${video.videoId}`)
  expect(videoIds).toEqual([video.videoId])
  expect(videoIds).not.toContain(other.videoId)
})

test('a change of many videos is notified in several messages', async () => {
  const { mediaId } = await database.play()
  await database.db.query(
    `insert into video select (jsonb_populate_record(v, jsonb_build_object('video_id', v.video_id - n))).*
     from video v, generate_series(1, 400) n where v.media_id = $1`,
    [mediaId],
  )
  const { videoIds } = await collect(() => database.db.query(`update video set title = 'many' where media_id = $1`, [mediaId]))
  expect(new Set(videoIds).size).toBe(401)
})

test('every table of which guests see data has a trigger', async () => {
  const tables = new Set([...`${SELECT_VIDEO} from setting join theme`.matchAll(/\b(?:from|join) ([a-z_]+)/g)].map(([, table]) => table))
  const rows = await database.db.query<{ table: string }>(
    `select distinct c.relname as "table" from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
     where p.prosrc like '%notify_public_%'`,
  )
  expect([...tables].sort()).toEqual(rows.map(({ table }) => table).sort())
})
