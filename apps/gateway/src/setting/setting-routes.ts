import { invalid } from '@vitascope/errors'
import { z } from 'zod'
import { id } from '../fields.ts'
import { namedOrganisation } from '../organisation-rule.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { given, shown } from '../public-form.ts'
import { Reply, route } from '../route.ts'
import { settingChanges, settingUpdate } from './setting-changes.ts'
import { SettingRecord, settingView } from './setting-record.ts'

const section = 'Player settings profiles'
const busy = { passwords_busy: 'too many passwords are being checked or set: `Retry-After`' }
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

export const createSetting = route({
  post: ['/setting/:organisationId'],
  section,
  access: 'user',
  summary: 'Create a player settings profile',
  description: `Fields that are left out take their defaults. ${passwords}`,
  params: z.object({ organisationId: id('organisation') }),
  payload: settingChanges,
  payloadOptional: true,
  status: 201,
  answer: z.object({ status: z.literal('Created'), message: z.object({ created: shown.id('profile') }) }),
  refusals: busy,
  async handle({ params, payload }, { caller, services, call }) {
    const organisationId = namedOrganisation(caller, params.organisationId)
    const { settingId } = await services.settings.createSetting({ organisationId, ...settingUpdate('', payload) }, call)
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
  async handle({ params, payload }, { services, call }) {
    const { setting, mask: updateMask } = settingUpdate(params.settingId, payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    await services.settings.updateSetting({ setting, updateMask }, call)
    return { status: 'OK' as const, message: { updated: params.settingId } }
  },
})

export const deleteSetting = route({
  delete: ['/setting/:settingId'],
  section,
  access: 'user',
  summary: 'Delete a player settings profile',
  description: 'Its videos have the default profile of their organisation then.',
  params: z.object({ settingId: id('profile') }),
  answer: z.object({ status: z.literal('OK'), message: z.object({ deleted: shown.id('profile') }) }),
  refusals: { setting_in_use: 'it has a password, and videos name it or it is the default of its organisation: remove the password first' },
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
