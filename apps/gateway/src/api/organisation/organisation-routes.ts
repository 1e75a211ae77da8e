import { invalid, notFound } from '@vitascope/errors'
import { Organisation, OrganisationStatus, Quota } from '@vitascope/proto/auth/v1/organisation'
import { Usage } from '@vitascope/proto/catalogue/v1/quota'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { type Context, route } from '../../server/route/route.ts'
import { addressList, clearable, flag, id, idOrNone, int, object, oneOf, text } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { changedFields, required, schema } from '../../server/schema/response-format.ts'
import { requestedOrganisation } from '../shared/resolve-organisation.ts'
import { OrganisationResponse, OrganisationUsageResponse, organisationDetails, organisationResponse } from './organisation-response.ts'

const name = text(255, { min: 1 }, { description: 'Name of the organisation.', example: 'Example Films' })

export const getOrganisation = route({
  get: ['/organisation/:id'],
  operationId: 'getOrganisation',
  section: 'Organisations',
  access: 'system',
  summary: 'Read an organisation',
  description: 'Returns an organisation with its quota and current usage.',
  params: z.object({ id: id('organisation') }),
  response: OrganisationResponse,
  async handle({ params }, { services, call }) {
    const { organisation } = await services.organisations.getOrganisation({ organisationId: params.id }, call)
    return withUsage(required(organisation, 'organisation'), { services, call })
  },
})

export const getOrganisationUsage = route({
  get: ['/organisation/:organisationId/usage'],
  operationId: 'getOrganisationUsage',
  section: 'Organisations',
  access: 'user',
  summary: 'Read the quota and the usage',
  description:
    'Returns the name of an organisation, its quota and what counts against it now, and whether it has a public page. Users read those of their own organisation.',
  params: z.object({ organisationId: id('organisation') }),
  response: OrganisationUsageResponse,
  async handle({ params }, { caller, services, call }) {
    const organisationId = requestedOrganisation(caller, params.organisationId)
    const { organisation } = await services.organisations.getOrganisation({ organisationId }, call)
    const { organisation_id, name, public_page, quota, usage } = await withUsage(required(organisation, 'organisation'), { services, call })
    return { organisation_id, name, public_page, quota, usage }
  },
})

export const listOrganisationRecords = route({
  get: ['/organisation'],
  operationId: 'listOrganisations',
  section: 'Organisations',
  access: 'system',
  summary: 'List organisations',
  description: 'Returns all organisations by id, including inactive ones, with their quotas.',
  query: z.object(pageQuery),
  response: z.array(OrganisationResponse.omit({ usage: true })),
  async handle({ query }, { services, call, publicUrl }) {
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 100 }, async (page) => {
      const { organisations, nextPageToken } = await services.organisations.listOrganisations({ ...page, activeOnly: false }, call)
      return { rows: organisations, nextPageToken }
    })
    return new Reply(rows.map(organisationDetails), { headers: nextLink(publicUrl, '/organisation', { ...query, nextCursor }) })
  },
})

export const listOrganisations = route({
  get: ['/organisation/all'],
  operationId: 'listOrganisationNames',
  section: 'Organisations',
  access: 'system',
  summary: 'List the names of active organisations by id',
  description: 'Returns an object with the names of all active organisations by id.',
  query: z.object(pageQuery),
  response: z
    .record(z.string(), z.string())
    .meta({ description: 'Names by organisation id.', example: { '1': 'System', '2': 'Example Films' } }),
  async handle({ query }, { services, call, publicUrl }) {
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 100 }, async (page) => {
      const { organisations, nextPageToken } = await services.organisations.listOrganisations({ ...page, activeOnly: true }, call)
      return { rows: organisations, nextPageToken }
    })
    const names = Object.fromEntries(rows.map((organisation) => [organisation.organisationId, organisation.name]))
    return new Reply(names, { headers: nextLink(publicUrl, '/organisation/all', { ...query, nextCursor }) })
  },
})

const limit = (max: number, description: string) => clearable(int({ min: 0, max }, { description })).optional()

const changes = z.strictObject({
  name: name.optional(),
  status: oneOf(['active', 'inactive'], {
    description: 'State of the organisation. If it is inactive, its keys are rejected and its videos are not found.',
  }).optional(),
  default_setting_id: idOrNone('player settings profile of videos without a profile').optional(),
  default_theme_id: idOrNone('theme of videos without a theme').optional(),
  allowed_ips: addressList(256).optional(),
  public_page: flag({
    description: 'Whether everyone may open `/o/{id}`, the page with the public videos of the organisation.',
  }).optional(),
  quota: clearable(
    object(
      z.strictObject({
        bytes: limit(Number.MAX_SAFE_INTEGER, 'Stored bytes, including renditions.'),
        minutes_per_month: limit(1_000_000_000, 'Minutes of source video per calendar month in UTC.'),
        concurrent_jobs: limit(1_000_000, 'Encode jobs that may be active at once.'),
      }),
      { description: 'Limits of the organisation. Replaces the stored limits as a whole. A limit that is null or omitted is unlimited.' },
    ),
  ).optional(),
})

export const updateOrganisation = route({
  put: ['/organisation/:id'],
  operationId: 'updateOrganisation',
  section: 'Organisations',
  access: 'system',
  summary: 'Change an organisation',
  description: 'Changes only the fields that are sent.',
  params: z.object({ id: id('organisation') }),
  payload: changes,
  record: OrganisationResponse,
  docs: { example: { name: 'Example Films' } },
  response: z.object({
    organisation_id: schema.id('organisation'),
    status: z.object({
      action: z.literal('update_data'),
      success: z.literal(true),
      data: OrganisationResponse.omit({ usage: true }).partial().meta({ description: 'The changed fields with their new values.' }),
    }),
  }),
  errorCodes: {
    system_organisation: 'Organisation 1 must stay active.',
    setting_not_found: 'The organisation does not have this player settings profile.',
    theme_not_found: 'The organisation does not have this theme.',
  },
  async handle({ params, payload }, { services, call }) {
    const updateMask = Object.keys(payload)
    if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    await requireDefaults(params.id, payload, { services, call })
    const { organisation } = await services.organisations.updateOrganisation(
      { organisation: toOrganisation(params.id, payload), updateMask },
      call,
    )
    const data = changedFields(organisationDetails(required(organisation, 'organisation')), updateMask)
    return { organisation_id: params.id, status: { action: 'update_data' as const, success: true as const, data } }
  },
})

export const createOrganisation = route({
  post: ['/organisation'],
  operationId: 'createOrganisation',
  section: 'Organisations',
  access: 'system',
  summary: 'Create an organisation',
  description: 'Creates an organisation without users.',
  payload: z.strictObject({ name }),
  status: 201,
  response: OrganisationResponse,
  async handle({ payload }, { services, call }) {
    const { organisation } = await services.organisations.createOrganisation({ name: payload.name }, call)
    // A new organisation has no usage, so the catalogue is not called.
    return organisationResponse(required(organisation, 'organisation'), Usage.create())
  },
})

export const organisationRoutes = [
  getOrganisation,
  getOrganisationUsage,
  listOrganisations,
  listOrganisationRecords,
  updateOrganisation,
  createOrganisation,
]

/** Returns an organisation with its usage, which is stored in the catalogue. */
async function withUsage(organisation: Organisation, { services, call }: Pick<Context, 'services' | 'call'>) {
  const { usage } = await services.quotas.getUsage({ organisationId: organisation.organisationId }, call)
  return organisationResponse(organisation, required(usage, 'usage'))
}

/**
 * Throws if a default setting or theme does not belong to the organisation. If it is deleted later,
 * the organisation has no default.
 */
async function requireDefaults(
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

function toOrganisation(organisationId: string, payload: z.output<typeof changes>): Organisation {
  const { bytes, minutes_per_month, concurrent_jobs } = payload.quota ?? {}
  return Organisation.create({
    organisationId,
    name: payload.name ?? '',
    status: toStatus(payload.status),
    defaultSettingId: payload.default_setting_id || undefined,
    defaultThemeId: payload.default_theme_id || undefined,
    allowedIps: payload.allowed_ips ?? [],
    publicPage: payload.public_page ?? false,
    quota: Quota.create({
      bytes: bytes ?? undefined,
      minutesPerMonth: minutes_per_month ?? undefined,
      concurrentJobs: concurrent_jobs ?? undefined,
    }),
  })
}

function toStatus(status: 'active' | 'inactive' | undefined): OrganisationStatus {
  if (status === undefined) return OrganisationStatus.ORGANISATION_STATUS_UNSPECIFIED
  return status === 'active' ? OrganisationStatus.ORGANISATION_STATUS_ACTIVE : OrganisationStatus.ORGANISATION_STATUS_INACTIVE
}
