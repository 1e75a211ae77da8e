import { invalid } from '@vitascope/errors'
import { z } from 'zod'
import { id } from '../fields.ts'
import { namedOrganisation } from '../organisation-rule.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { given, shown } from '../public-form.ts'
import { Reply, route } from '../route.ts'
import { type SettingChanges, settingChanges, settingUpdate } from './setting-changes.ts'
import { SettingRecord, settingView } from './setting-record.ts'

const section = 'Player settings profiles'
const busy = { passwords_busy: 'too many passwords are being checked or set: `Retry-After`' }
const newPassword =
  '`password` is the lower-case hexadecimal SHA-1 of the password; left out or `""`, the profile has none. It reads as `""`.'
const passwords =
  '`password` is the lower-case hexadecimal SHA-1 of the password. It reads as `""`; leaving it out, or sending `""`, keeps it, and ' +
  '`password_protected` 0 removes it.'

export const getSetting = route({
  get: ['/setting/:id'],
  section,
  access: 'user',
  summary: 'Read a player settings profile',
  params: z.object({ id: id('profile') }),
  answer: SettingRecord,
  async handle({ params }, { services, call }) {
    const { setting } = await services.settings.getSetting({ settingId: params.id }, call)
    return settingView(given(setting, 'setting'))
  },
})

/** Values that are judged by one another: beside a bad one nothing can be said of the other. */
const pairs = [
  ['lowest_quality_version', 'highest_quality_version'],
  ['password', 'password_protected'],
] as const

function judgeable(good: SettingChanges, bad: ReadonlySet<string>): SettingChanges {
  const unclear: readonly string[] = pairs.filter((pair) => pair.some((name) => bad.has(name))).flat()
  return Object.fromEntries(Object.entries(good).filter(([name]) => !unclear.includes(name)))
}

export const createSetting = route({
  post: ['/setting/:organisationId'],
  section,
  access: 'user',
  summary: 'Create a player settings profile',
  description: `Fields that are left out take their defaults. ${newPassword}`,
  params: z.object({ organisationId: id('organisation') }),
  payload: settingChanges,
  payloadOptional: true,
  status: 201,
  answer: z.object({ status: z.literal('Created'), message: z.object({ created: shown.id('profile') }) }),
  refusals: busy,
  async judge({ params, payload, bad }, { caller, services, call }) {
    const organisationId = namedOrganisation(caller, params.organisationId)
    const request = { organisationId, ...settingUpdate('', judgeable(payload, bad)), validateOnly: true }
    await services.settings.createSetting(request, call)
  },
  async handle({ params, payload }, { caller, services, call }) {
    const organisationId = namedOrganisation(caller, params.organisationId)
    const { settingId } = await services.settings.createSetting(
      { organisationId, ...settingUpdate('', payload), validateOnly: false },
      call,
    )
    return { status: 'Created' as const, message: { created: settingId } }
  },
})

export const updateSetting = route({
  put: ['/setting/:settingId'],
  section,
  access: 'user',
  summary: 'Change a player settings profile',
  description: `Takes any of the fields; those left out stay as they are. ${passwords}`,
  params: z.object({ settingId: id('profile') }),
  payload: settingChanges,
  answer: z.object({ status: z.literal('OK'), message: z.object({ updated: shown.id('profile') }) }),
  refusals: busy,
  async judge({ params, payload, bad }, { services, call }) {
    const { setting, mask: updateMask } = settingUpdate(params.settingId, judgeable(payload, bad))
    await services.settings.updateSetting({ setting, updateMask, validateOnly: true }, call)
  },
  async handle({ params, payload }, { services, call }) {
    const { setting, mask: updateMask } = settingUpdate(params.settingId, payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    await services.settings.updateSetting({ setting, updateMask, validateOnly: false }, call)
    return { status: 'OK' as const, message: { updated: params.settingId } }
  },
})

export const deleteSetting = route({
  delete: ['/setting/:settingId'],
  section,
  access: 'user',
  summary: 'Delete a player settings profile',
  description: 'Its videos have the default profile of their organisation then. The default profile itself is not deleted.',
  params: z.object({ settingId: id('profile') }),
  answer: z.object({ status: z.literal('OK'), message: z.object({ deleted: shown.id('profile') }) }),
  refusals: {
    setting_in_use:
      'it is the default of its organisation: give that another one first; or it has a password and videos name it: remove the password first',
  },
  async handle({ params }, { services, call }) {
    await services.settings.deleteSetting({ settingId: params.settingId }, call)
    return { status: 'OK' as const, message: { deleted: params.settingId } }
  },
})

export const listSettings = route({
  get: ['/setting/organisation/:organisationId'],
  section,
  access: 'user',
  summary: 'List the player settings profiles of an organisation',
  params: z.object({ organisationId: id('organisation') }),
  query: z.object(pageQuery),
  answer: z.record(z.string(), SettingRecord).meta({ description: 'Profiles by their ids.' }),
  async handle({ params, query }, { caller, services, call, publicUrl }) {
    const organisationId = namedOrganisation(caller, params.organisationId)
    const { rows, more } = await collectRows({ ...query, part: 50 }, async (page) => {
      const { settings, nextPageToken } = await services.settings.listSettings({ organisationId, ...page }, call)
      return { rows: settings, nextPageToken }
    })
    const headers = nextLink(publicUrl, `/setting/organisation/${organisationId}`, { ...query, more })
    return new Reply(Object.fromEntries(rows.map((setting) => [setting.settingId, settingView(setting)])), { headers })
  },
})

export const settingRoutes = [getSetting, createSetting, updateSetting, deleteSetting, listSettings]
