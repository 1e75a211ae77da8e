import { invalid, notFound } from '@vitascope/errors'
import { Organisation, OrganisationStatus, Quota } from '@vitascope/proto/auth/v1/organisation'
import { Usage } from '@vitascope/proto/catalogue/v1/quota'
import { z } from 'zod'
import { addressList, clearable, id, idOrNone, int, object, oneOf, text } from '../fields.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { changedFields, given, shown } from '../public-form.ts'
import { type Context, Reply, route } from '../route.ts'
import { OrganisationRecord, organisationDetails, organisationView } from './organisation-view.ts'

const name = text(255, { min: 1 }, { description: 'Its name.', example: 'Example Films' })

export const getOrganisation = route({
  get: ['/organisation/:id'],
  section: 'Organisations',
  access: 'system',
  summary: 'Read an organisation',
  params: z.object({ id: id('organisation') }),
  answer: OrganisationRecord,
  async handle({ params }, { services, call }) {
    const { organisation } = await services.organisations.getOrganisation({ organisationId: params.id }, call)
    return shownOrganisation(given(organisation, 'organisation'), { services, call })
  },
})

export const listOrganisations = route({
  get: ['/organisation/all'],
  section: 'Organisations',
  access: 'system',
  summary: 'List the names of active organisations by id',
  query: z.object(pageQuery),
  answer: z
    .record(z.string(), z.string())
    .meta({ description: 'Names by organisation id.', example: { '1': 'System', '2': 'Example Films' } }),
  async handle({ query }, { services, call, publicUrl }) {
    const { rows, more } = await collectRows({ ...query, part: 100 }, async (page) => {
      const { organisations, nextPageToken } = await services.organisations.listOrganisations({ ...page, activeOnly: true }, call)
      return { rows: organisations, nextPageToken }
    })
    const names = Object.fromEntries(rows.map((organisation) => [organisation.organisationId, organisation.name]))
    return new Reply(names, { headers: nextLink(publicUrl, '/organisation/all', { ...query, more }) })
  },
})

const limit = (max: number, description: string) => clearable(int({ min: 0, max }, { description })).optional()

const changes = z.strictObject({
  name: name.optional(),
  status: oneOf(['active', 'inactive'], {
    description: 'The keys of an inactive organisation are refused, and its videos are not found.',
  }).optional(),
  default_setting_id: idOrNone('player settings profile of videos that name none').optional(),
  default_theme_id: idOrNone('theme of videos that name none').optional(),
  allowed_ips: addressList(256).optional(),
  quota: clearable(
    object(
      z.strictObject({
        bytes: limit(Number.MAX_SAFE_INTEGER, 'Bytes stored, renditions included.'),
        minutes_per_month: limit(1_000_000_000, 'Minutes of source video in a calendar month (UTC).'),
        concurrent_jobs: limit(1_000_000, 'Encoding jobs under way at once.'),
      }),
      { description: 'Given as a whole: a limit that is null or left out is none.' },
    ),
  ).optional(),
})

export const updateOrganisation = route({
  put: ['/organisation/:id'],
  section: 'Organisations',
  access: 'system',
  summary: 'Change an organisation',
  description: 'Takes any of the fields; those left out stay as they are.',
  params: z.object({ id: id('organisation') }),
  payload: changes,
  answer: z.object({
    organisation_id: shown.id('organisation'),
    status: z.object({
      action: z.literal('update_data'),
      success: z.literal(true),
      data: OrganisationRecord.omit({ usage: true }).partial().meta({ description: 'The fields that were sent, as they are now.' }),
    }),
  }),
  refusals: {
    system_organisation: 'organisation 1 cannot be made inactive',
    setting_not_found: 'the organisation has no such player settings profile',
    theme_not_found: 'the organisation has no such theme',
  },
  async handle({ params, payload }, { services, call }) {
    const updateMask = Object.keys(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    await needDefaults(params.id, payload, { services, call })
    const { organisation } = await services.organisations.updateOrganisation(
      { organisation: fromPayload(params.id, payload), updateMask },
      call,
    )
    const data = changedFields(organisationDetails(given(organisation, 'organisation')), updateMask)
    return { organisation_id: params.id, status: { action: 'update_data' as const, success: true as const, data } }
  },
})

export const createOrganisation = route({
  post: ['/organisation'],
  section: 'Added',
  access: 'system',
  summary: 'Create an organisation',
  payload: z.strictObject({ name }),
  status: 201,
  answer: OrganisationRecord,
  async handle({ payload }, { services, call }) {
    const { organisation } = await services.organisations.createOrganisation({ name: payload.name }, call)
    // It is made, and uses nothing: nobody else needs to be asked.
    return organisationView(given(organisation, 'organisation'), Usage.create())
  },
})

export const organisationRoutes = [getOrganisation, listOrganisations, updateOrganisation, createOrganisation]

/** With what it uses, which the catalogue knows. */
async function shownOrganisation(organisation: Organisation, { services, call }: Pick<Context, 'services' | 'call'>) {
  const { usage } = await services.quotas.getUsage({ organisationId: organisation.organisationId }, call)
  return organisationView(organisation, given(usage, 'usage'))
}

/** Refuses defaults that are not the organisation's own; one that is deleted later counts as none. */
async function needDefaults(
  organisationId: string,
  payload: z.output<typeof changes>,
  { services, call }: Pick<Context, 'services' | 'call'>,
) {
  const { default_setting_id: settingId, default_theme_id: themeId } = payload
  if (settingId) {
    const { setting } = await services.settings.getSetting({ settingId }, call)
    if (setting?.organisationId !== organisationId) throw notFound('setting', settingId)
  }
  if (themeId) {
    const { theme } = await services.themes.getTheme({ themeId }, call)
    if (theme?.organisationId !== organisationId) throw notFound('theme', themeId)
  }
}

function fromPayload(organisationId: string, payload: z.output<typeof changes>): Organisation {
  const { bytes, minutes_per_month, concurrent_jobs } = payload.quota ?? {}
  return Organisation.create({
    organisationId,
    name: payload.name ?? '',
    status: statusOf(payload.status),
    defaultSettingId: payload.default_setting_id || undefined,
    defaultThemeId: payload.default_theme_id || undefined,
    allowedIps: payload.allowed_ips ?? [],
    quota: Quota.create({
      bytes: bytes ?? undefined,
      minutesPerMonth: minutes_per_month ?? undefined,
      concurrentJobs: concurrent_jobs ?? undefined,
    }),
  })
}

function statusOf(status: 'active' | 'inactive' | undefined): OrganisationStatus {
  if (status === undefined) return OrganisationStatus.ORGANISATION_STATUS_UNSPECIFIED
  return status === 'active' ? OrganisationStatus.ORGANISATION_STATUS_ACTIVE : OrganisationStatus.ORGANISATION_STATUS_INACTIVE
}
