import { invalid } from '@vitascope/errors'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { id } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { requestedOrganisation } from '../shared/resolve-organisation.ts'
import { type SettingChanges, settingChanges, settingUpdate } from './setting-changes.ts'
import { SettingResponse, settingResponse } from './setting-response.ts'

const section = 'Player settings profiles'
const busy = { passwords_busy: 'Too many passwords are being checked or set. Retry after the time in `Retry-After`.' }
const newPassword =
  '`password` is the lower-case hexadecimal SHA-1 of the password. If it is omitted or `""`, the profile has no password. ' +
  'Responses contain `""` instead of it.'
const passwords =
  '`password` is the lower-case hexadecimal SHA-1 of the password. If it is omitted or `""`, the stored password is kept. ' +
  '`password_protected` 0 removes it. Responses contain `""` instead of the password.'

export const getSetting = route({
  get: ['/setting/:id'],
  operationId: 'getSetting',
  section,
  access: 'user',
  summary: 'Read a player settings profile',
  description: 'Returns a player settings profile. The password is not included.',
  params: z.object({ id: id('profile') }),
  response: SettingResponse,
  async handle({ params }, { services, call }) {
    const { setting } = await services.settings.getSetting({ settingId: params.id }, call)
    const found = required(setting, 'setting')
    return new Reply(settingResponse(found), { updateTime: found.updateTime })
  },
})

/** Fields that are validated together. If one is invalid, the other cannot be validated. */
const pairs = [
  ['lowest_quality_version', 'highest_quality_version'],
  ['password', 'password_protected'],
] as const

function withoutAffectedPairs(valid: SettingChanges, invalidFields: ReadonlySet<string>): SettingChanges {
  const affected: readonly string[] = pairs.filter((pair) => pair.some((name) => invalidFields.has(name))).flat()
  return Object.fromEntries(Object.entries(valid).filter(([name]) => !affected.includes(name)))
}

export const createSetting = route({
  post: ['/setting/:organisationId'],
  operationId: 'createSetting',
  section,
  access: 'user',
  summary: 'Create a player settings profile',
  description: `Creates a profile. Omitted fields take their defaults. ${newPassword}`,
  params: z.object({ organisationId: id('organisation') }),
  payload: settingChanges,
  payloadOptional: true,
  status: 201,
  docs: { example: { title: 'Newsroom', allow_download: true } },
  response: z.object({ id: schema.id('profile'), status: z.literal('Created'), message: z.object({ created: schema.id('profile') }) }),
  errorCodes: busy,
  async validateRemotely({ params, payload, invalidFields }, { caller, services, call }) {
    const organisationId = requestedOrganisation(caller, params.organisationId)
    const request = { organisationId, ...settingUpdate('', withoutAffectedPairs(payload, invalidFields)), validateOnly: true }
    await services.settings.createSetting(request, call)
  },
  async handle({ params, payload }, { caller, services, call }) {
    const organisationId = requestedOrganisation(caller, params.organisationId)
    const { settingId } = await services.settings.createSetting(
      { organisationId, ...settingUpdate('', payload), validateOnly: false },
      call,
    )
    return { id: settingId, status: 'Created' as const, message: { created: settingId } }
  },
})

export const updateSetting = route({
  put: ['/setting/:settingId'],
  operationId: 'updateSetting',
  section,
  access: 'user',
  summary: 'Change a player settings profile',
  description: `Changes only the fields that are sent. ${passwords}`,
  params: z.object({ settingId: id('profile') }),
  payload: settingChanges,
  record: SettingResponse,
  isConditional: true,
  docs: { example: { title: 'Newsroom', allow_download: true } },
  response: z.object({ status: z.literal('OK'), message: z.object({ updated: schema.id('profile') }) }),
  errorCodes: busy,
  async validateRemotely({ params, payload, invalidFields }, { services, call }) {
    const { setting, mask: updateMask } = settingUpdate(params.settingId, withoutAffectedPairs(payload, invalidFields))
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
  operationId: 'deleteSetting',
  section,
  access: 'user',
  summary: 'Delete a player settings profile',
  description:
    'Deletes a profile. Its videos then have the default profile of their organisation. The default profile itself cannot be deleted.',
  params: z.object({ settingId: id('profile') }),
  response: z.object({ status: z.literal('OK'), message: z.object({ deleted: schema.id('profile') }) }),
  errorCodes: {
    setting_in_use:
      'The profile is the default of its organisation: set another default first. Or it has a password and videos use it: remove the ' +
      'password first.',
  },
  async handle({ params }, { services, call }) {
    await services.settings.deleteSetting({ settingId: params.settingId }, call)
    return { status: 'OK' as const, message: { deleted: params.settingId } }
  },
})

export const listSettings = route({
  get: ['/setting/organisation/:organisationId'],
  operationId: 'listSettings',
  section,
  access: 'user',
  summary: 'List the profiles of an organisation',
  description: 'Returns the player settings profiles of an organisation by id.',
  params: z.object({ organisationId: id('organisation') }),
  query: z.object(pageQuery),
  response: z.record(z.string(), SettingResponse).meta({ description: 'Profiles by id.' }),
  async handle({ params, query }, { caller, services, call, publicUrl }) {
    const organisationId = requestedOrganisation(caller, params.organisationId)
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 50 }, async (page) => {
      const { settings, nextPageToken } = await services.settings.listSettings({ organisationId, ...page }, call)
      return { rows: settings, nextPageToken }
    })
    const headers = nextLink(publicUrl, `/setting/organisation/${organisationId}`, { ...query, nextCursor })
    return new Reply(Object.fromEntries(rows.map((setting) => [setting.settingId, settingResponse(setting)])), { headers })
  },
})

export const settingRoutes = [getSetting, createSetting, updateSetting, deleteSetting, listSettings]
