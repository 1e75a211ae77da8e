import { createHash } from 'node:crypto'
import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Fixture, NounRows } from '../support/table-row.ts'

type Setting = Record<string, string>

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')
const buildText = (length: number) => 'x'.repeat(length)

/** The profile that is created from an empty payload. */
const defaults = {
  title: '',
  allow_sharing: '0',
  allow_download: '0',
  lowest_quality_version: '100',
  highest_quality_version: '1200',
  rolls: '',
  logo_asset_id: '',
  logo_destination_url: '',
  captions_default_on: '0',
  ga_tracker_id: '',
  ga_tracker_domain: '',
  ga_library: 'legacy',
  password_protected: '0',
  password: '',
  monetization: '',
  use_https_embed: '1',
  show_title_bar: '0',
  sharing_open_link_in_new_window: '0',
  show_other_videos: '1',
  is_auto_play: '0',
  pre_buffer: '0',
  show_controls: '1',
  autohide_controls: '1',
  show_rss: '0',
  monetization_id: '',
  max_sessions: '',
  embed_wmode: 'direct',
  use_javascript_api: '1',
  javascript_api_allowed_domains: '',
}

/** Every field with another value than its default, and every text with its maximum length. */
const max = {
  title: buildText(50),
  allow_sharing: 1,
  allow_download: true,
  lowest_quality_version: 101,
  highest_quality_version: '6000',
  rolls: { pre: [], post: [], show_timer: true },
  logo_asset_id: buildText(100),
  logo_destination_url: `https://example.org/${buildText(1_980)}`,
  captions_default_on: '1',
  ga_tracker_id: buildText(100),
  ga_tracker_domain: buildText(255),
  ga_library: 'universal',
  password_protected: 1,
  password: sha1('correct horse'),
  monetization: { partner: '👩‍👩‍👧 </script>' },
  use_https_embed: 0,
  show_title_bar: 1,
  sharing_open_link_in_new_window: 1,
  show_other_videos: 0,
  is_auto_play: 1,
  pre_buffer: 1,
  show_controls: 0,
  autohide_controls: 0,
  show_rss: 1,
  monetization_id: '9007199254740991',
  max_sessions: '100000',
  embed_wmode: 'transparent',
  use_javascript_api: 0,
  javascript_api_allowed_domains: buildText(2_000),
}

const maxInResponse = Object.fromEntries(
  Object.entries(max).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : typeof value === 'boolean' ? '1' : name === 'password' ? '' : String(value),
  ]),
)

/** Adds the maximum number of pre-rolls to the largest profile. */
async function buildMaxSetting(fixture: Fixture) {
  const { video_id } = await fixture.video()
  const rolls = { pre: Array<string>(100).fill(video_id), post: [video_id], show_timer: true }
  return { payload: { ...max, rolls }, shown: { ...maxInResponse, rolls: JSON.stringify(rolls) } }
}

const outOfRange = {
  title: buildText(51),
  lowest_quality_version: 99,
  highest_quality_version: 6_001,
  rolls: { pre: Array(101).fill('1') },
  logo_asset_id: buildText(101),
  ga_library: 'newest',
  password: sha1('correct horse').toUpperCase(),
  monetization: { text: buildText(10_000) },
  monetization_id: '9007199254740992',
  max_sessions: '100001',
  embed_wmode: buildText(51),
  javascript_api_allowed_domains: buildText(2_001),
  is_auto_play: 2,
}
const outOfRangeNames = Object.keys(outOfRange).map((name) => (name === 'rolls' ? 'rolls.pre' : name))

/** Read-only fields and unknown fields. */
const unsettable = {
  ...{
    settings_id: '7',
    organisation_id: '7',
    created_by_user_id: '7',
    last_modified_by_user_id: '7',
    time_created: '2030-01-01 00:00:00',
  },
  ...{ time_last_modified: '2030-01-01 00:00:00', players: '', pre_roll_asset_id: '1', post_roll_asset_id: '1', pre_roll_id: '1' },
  ...{ pre_roll_quality: '1', id: '7', password_hash: 'x', colour: 'red' },
}

const create = async ({ clients, owner }: Fixture, payload: object = {}) => {
  const { status, body } = await clients.uploader.post<{ message: { created: string } }>(`/setting/${owner.organisationId}`, payload)
  const id = expect.stringMatching(/^\d+$/)
  expect([status, body]).toEqual([201, { id, status: 'Created', message: { created: id } }])
  return body.message.created
}
const read = async ({ clients }: Fixture, id: string) => (await clients.owner.get<Setting>(`/setting/${id}`)).body

const setDefault = async ({ clients, owner }: Fixture, id: string, shownAt: () => Promise<string | undefined>) => {
  await clients.system.put(`/organisation/${owner.organisationId}`, { default_setting_id: id })
  await waitFor(async () => ((await shownAt()) ?? '') === id, { describe: 'the default profile to reach the catalogue' })
}

/** Invalid cursors: not a cursor, one with an invalid id, and one of another list. */
const badCursors = ['x', 'WyJ4Il0', 'WyIxIiwiMSJd']

const readOnlyFields = ['players', 'pre_roll_asset_id', 'post_roll_asset_id', 'pre_roll_id', 'pre_roll_quality']

export const settingRows: NounRows = {
  noun: 'setting',
  rows: [
    {
      endpoint: 'GET /setting/{id}',
      async works(fixture) {
        const id = await create(fixture)
        const profile = await read(fixture, id)
        const { organisationId, userId } = fixture.uploader
        expect(profile).toEqual({
          ...{ id, settings_id: id, setting_id: id, organisation_id: organisationId, ...defaults },
          ...{ created_by_user_id: userId, last_modified_by_user_id: userId },
          ...Object.fromEntries(readOnlyFields.map((name) => [name, ''])),
          ...{ time_created: expect.any(String), time_last_modified: expect.any(String) },
        })
        expect((await fixture.clients.system.get(`/setting/${id}`)).body).toEqual(profile)
      },
      async rejectedCalls(fixture) {
        const path = `/setting/${await create(fixture)}`
        return [
          { caller: 'otherTenant', method: 'GET', path, status: 404, code: 'setting_not_found' },
          { method: 'GET', path: '/setting/999999', status: 404, code: 'setting_not_found' },
          { method: 'GET', path: '/setting/0x7', status: 404 },
          { caller: 'guest', method: 'GET', path, status: 401 },
        ]
      },
    },
    {
      endpoint: 'POST /setting/{organisation_id}',
      async works(fixture) {
        const { payload, shown } = await buildMaxSetting(fixture)
        const id = await create(fixture, payload)
        expect(await read(fixture, id)).toMatchObject(shown)
        const low = await create(fixture, { lowest_quality_version: 100, highest_quality_version: 100, title: '' })
        expect(await read(fixture, low)).toMatchObject({ ...defaults, highest_quality_version: '100' })
        const form = await fixture.clients.system.send<{ message: { created: string } }>(
          'POST',
          `/setting/${fixture.otherTenant.organisationId}`,
          {
            body: new URLSearchParams({ data: JSON.stringify({ title: 'By the system' }) }),
          },
        )
        expect((await fixture.clients.otherTenant.get(`/setting/${form.body.message.created}`)).body).toMatchObject({
          title: 'By the system',
        })
      },
      async rejectedCalls(fixture) {
        const { owner, otherTenant } = fixture
        const path = `/setting/${owner.organisationId}`
        const { video_id } = await fixture.video()
        const post = { method: 'POST', path, status: 400 }
        return [
          { ...post, payload: outOfRange, fields: outOfRangeNames },
          { ...post, payload: unsettable, fields: Object.keys(unsettable) },
          { ...post, payload: { logo_destination_url: 'javascript:alert(1)' }, fields: ['logo_destination_url'] },
          { ...post, payload: { ga_tracker_id: `');alert(1)//`, ga_tracker_domain: '<' }, fields: ['ga_tracker_id', 'ga_tracker_domain'] },
          { ...post, payload: { lowest_quality_version: 1_201 }, fields: ['lowest_quality_version'] },
          { ...post, payload: { password_protected: 1 }, fields: ['password_protected'] },
          {
            ...{ ...post, payload: { title: buildText(51), colour: 'red', lowest_quality_version: 2_000, password_protected: 1 } },
            fields: ['title', 'colour', 'lowest_quality_version', 'password_protected'],
          },
          // Of a pair with one invalid value, only the invalid field is reported.
          { ...post, payload: { lowest_quality_version: 2_000, highest_quality_version: 6_001 }, fields: ['highest_quality_version'] },
          {
            ...post,
            payload: { title: 1, logo_destination_url: 'x', ga_tracker_id: '<' },
            fields: ['title', 'logo_destination_url', 'ga_tracker_id'],
          },
          { ...post, payload: { password: 'correct horse' }, fields: ['password'] },
          { ...post, payload: { rolls: { pre: [video_id, '999999'] } }, status: 404, code: 'video_not_found' },
          ...['otherTenant', 'system'].map((caller) => ({
            ...{ ...post, caller: caller as 'otherTenant' | 'system', path: `/setting/${otherTenant.organisationId}` },
            ...{ payload: { rolls: { post: [video_id] } }, status: 404, code: 'video_not_found' },
          })),
          { ...post, path: `/setting/${otherTenant.organisationId}`, payload: {}, status: 403, code: 'foreign_organisation' },
          { ...post, path: '/setting/999999', payload: {}, status: 403, code: 'foreign_organisation' },
          { ...post, caller: 'system', path: '/setting/999999', payload: {}, status: 404, code: 'organisation_not_found' },
          { ...post, caller: 'guest', payload: {}, status: 401 },
        ]
      },
    },
    {
      endpoint: 'PUT /setting/{setting_id}',
      async works(fixture) {
        const id = await create(fixture)
        const put = (payload: object) => fixture.clients.uploader.put(`/setting/${id}`, payload)
        const full = await buildMaxSetting(fixture)
        expect((await put(full.payload)).body).toEqual({ status: 'OK', message: { updated: id } })
        expect(await read(fixture, id)).toMatchObject(full.shown)
        await put({ password: '', title: 'Kept' })
        expect(await read(fixture, id)).toMatchObject({ ...full.shown, title: 'Kept', password_protected: '1' })
        await put({ password_protected: 0, rolls: '', monetization: null, monetization_id: '', max_sessions: null })
        expect(await read(fixture, id)).toMatchObject({
          password_protected: '0',
          rolls: '',
          monetization: '',
          monetization_id: '',
          max_sessions: '',
        })

        // The profile applies to the videos that name it, and as default to all others.
        const { video_id } = await fixture.playing()
        const shown = async () => (await fixture.clients.guest.get<VideoWithSettings>(`/video/${video_id}?player_settings=true`)).body
        expect(await shown()).toMatchObject({ setting_id: '', player_settings: null, uri: { download_link: '' } })
        expect((await fixture.clients.owner.patch(`/video/${video_id}`, { setting_id: id })).status).toBe(200)
        const { uri, player_settings } = await shown()
        expect(player_settings).toEqual(await read(fixture, id))
        expect(Object.values(uri.http)).toContain(uri.download_link)
        expect((await fetch(uri.download_link, { method: 'HEAD' })).status).toBe(200)
        await fixture.clients.owner.patch(`/video/${video_id}`, { setting_id: '' })
        await setDefault(fixture, id, async () => (await shown()).player_settings?.['id'])
        expect(await shown()).toMatchObject({ setting_id: '', uri: { download_link: expect.stringContaining('.mp4') } })
        await setDefault(fixture, '', async () => (await shown()).player_settings?.['id'])
        expect((await fixture.clients.guest.get(`/video/${video_id}`)).body).not.toHaveProperty('player_settings')
      },
      async rejectedCalls(fixture) {
        const path = `/setting/${await create(fixture)}`
        const put = { method: 'PUT', path, status: 400 }
        const foreign = await fixture.clients.otherTenant.post<{ message: { created: string } }>(
          `/setting/${fixture.otherTenant.organisationId}`,
          {},
        )
        const { video_id } = await fixture.video()
        const { organisationId: organisation_id } = fixture.owner
        const upload = { url: `${fixture.sources.url}/none.mp4`, organisation_id }
        return [
          { ...put, payload: outOfRange, fields: outOfRangeNames },
          // Read-only fields of a profile that was read are ignored.
          { ...put, payload: unsettable, fields: ['password_hash', 'colour'] },
          { ...put, payload: { id: '7', players: '' }, fields: ['id', 'players'] },
          { ...put, payload: {}, fields: ['payload'] },
          { ...put, payload: { title: 1, lowest_quality_version: 1_201 }, fields: ['title', 'lowest_quality_version'] },
          { ...put, payload: { password_protected: 1, password: '' }, fields: ['password_protected'] },
          { ...put, payload: { password_protected: 0, password: sha1('a') }, fields: ['password_protected'] },
          ...['otherTenant', 'system'].map((caller) => ({
            ...{ ...put, caller: caller as 'otherTenant' | 'system', path: `/setting/${foreign.body.message.created}` },
            ...{ payload: { rolls: { pre: [video_id] } }, status: 404, code: 'video_not_found' },
          })),
          ...[path, '/setting/999999'].map((at) => ({
            ...{
              ...put,
              caller: 'otherTenant' as const,
              path: at,
              payload: { password: sha1('a') },
              status: 404,
              code: 'setting_not_found',
            },
          })),
          { ...put, caller: 'otherTenant', payload: { title: 'Mine' }, status: 404, code: 'setting_not_found' },
          { ...put, path: '/setting/999999', payload: { title: 'Mine' }, status: 404, code: 'setting_not_found' },
          { ...put, caller: 'guest', payload: { title: 'Mine' }, status: 401 },
          // A video or an organisation cannot reference a missing profile or one of another
          // organisation.
          ...[foreign.body.message.created, '999999'].flatMap((setting_id) => [
            {
              caller: 'system' as const,
              method: 'PUT',
              path: `/organisation/${fixture.owner.organisationId}`,
              payload: { default_setting_id: setting_id },
              status: 404,
              code: 'setting_not_found',
            },
            { method: 'PATCH', path: `/video/${video_id}`, payload: { setting_id }, status: 404, code: 'setting_not_found' },
            { caller: 'system' as const, method: 'PUT', path: `/video/${video_id}`, payload: { setting_id }, status: 404 },
            { method: 'POST', path: '/video/upload', payload: { ...upload, settings_id: setting_id }, status: 404 },
          ]),
        ]
      },
    },
    {
      endpoint: 'DELETE /setting/{setting_id}',
      async works(fixture) {
        const id = await create(fixture)
        const { video_id } = await fixture.video({ settings_id: id })
        const fetchSettingId = async () => (await fixture.clients.owner.get<Setting>(`/video/${video_id}`)).body['setting_id']
        expect(await fetchSettingId()).toBe(id)
        const remove = () => fixture.clients.uploader.delete(`/setting/${id}`)
        expect((await remove()).body).toEqual({ status: 'OK', message: { deleted: id } })
        expect((await remove()).status).toBe(404)
        expect((await fixture.clients.owner.get(`/setting/${id}`)).status).toBe(404)
        expect(await fetchSettingId()).toBe('')

        // A default profile can only be deleted after it is replaced, so that no organisation
        // references a deleted one.
        const byDefault = await create(fixture)
        const removeDefault = async () => (await fixture.clients.uploader.delete<{ code?: string }>(`/setting/${byDefault}`)).body
        const shown = async () =>
          (await fixture.clients.guest.get<VideoWithSettings>(`/video/${video_id}?player_settings=true`)).body.player_settings?.['id']
        await setDefault(fixture, byDefault, shown)
        expect(await removeDefault()).toMatchObject({ status: 409, code: 'setting_in_use' })
        await setDefault(fixture, '', shown)
        expect(await removeDefault()).toMatchObject({ status: 'OK' })
      },
      async rejectedCalls(fixture) {
        const used = await create(fixture, { password: sha1('a') })
        await fixture.video({ settings_id: used })
        return [
          { method: 'DELETE', path: `/setting/${used}`, status: 409, code: 'setting_in_use' },
          { caller: 'system', method: 'DELETE', path: `/setting/${used}`, status: 409 },
          { caller: 'otherTenant', method: 'DELETE', path: `/setting/${used}`, status: 404 },
          { method: 'DELETE', path: '/setting/999999', status: 404 },
          { caller: 'guest', method: 'DELETE', path: `/setting/${used}`, status: 401 },
        ]
      },
    },
    {
      endpoint: 'GET /setting/organisation/{organisation_id}',
      async works(fixture) {
        const ids = [await create(fixture, { title: 'One' }), await create(fixture, { title: 'Two' })]
        const path = `/setting/organisation/${fixture.owner.organisationId}`
        const { body } = await fixture.clients.uploader.get<Record<string, Setting>>(path)
        for (const id of ids) expect(body[id]).toEqual(await read(fixture, id))
        expect(Object.values(body).every((profile) => profile['organisation_id'] === fixture.owner.organisationId)).toBe(true)
        expect((await fixture.clients.system.get(path)).body).toEqual(body)
        const count = Object.keys(body).length
        const page = await fixture.clients.owner.get(`${path}?start=${count - 1}&limit=1`)
        expect(page.body).toEqual({ [ids[0] ?? '']: body[ids[0] ?? ''] })
        expect(page.headers.get('link')).toContain(`${path}?start=${count}&limit=1`)
      },
      async rejectedCalls({ owner, otherTenant }) {
        const path = `/setting/organisation/${owner.organisationId}`
        return [
          { method: 'GET', path: `/setting/organisation/${otherTenant.organisationId}`, status: 403, code: 'foreign_organisation' },
          { method: 'GET', path: '/setting/organisation/x', status: 403 },
          { caller: 'system', method: 'GET', path: '/setting/organisation/999999', status: 404, code: 'organisation_not_found' },
          { method: 'GET', path: `${path}?limit=1001&start=0`, status: 400, fields: ['limit', 'start'] },
          ...badCursors.map((cursor) => ({ method: 'GET', path: `${path}?cursor=${cursor}`, status: 400, fields: ['cursor'] })),
          { caller: 'guest', method: 'GET', path, status: 401 },
        ]
      },
    },
  ],
  samples: {
    payloads: { 'POST /setting/{}': () => ({ title: 'Sample' }), 'PUT /setting/{}': () => ({ title: 'Changed' }) },
    make: async (fixture) => ({ setting_id: await create(fixture) }),
  },
}

interface VideoWithSettings {
  setting_id: string
  player_settings: Setting | null
  uri: { http: Record<string, string>; download_link: string }
}
