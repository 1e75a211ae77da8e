import type { Handlers } from '@vitascope/grpc'
import {
  type Organisation as OrganisationMessage,
  type OrganisationServiceService,
  OrganisationStatus,
} from '@vitascope/proto/auth/v1/organisation'
import { pageById, readMask } from '@vitascope/request'
import { MAX_ROWS, messageSize } from '../rules/page-size.ts'
import {
  createOrganisation,
  getOrganisation,
  listOrganisations,
  type Organisation,
  type OrganisationDetails,
  type OrganisationStore,
  updateOrganisation,
} from './organisation.ts'

const CHANGEABLE = ['name', 'status', 'default_setting_id', 'default_theme_id', 'allowed_ips', 'quota', 'public_page'] as const

export function organisationHandlers(organisations: OrganisationStore): Handlers<typeof OrganisationServiceService> {
  return {
    async getOrganisation({ organisationId }, call) {
      return { organisation: toMessage(await getOrganisation(organisations, organisationId, call)) }
    },
    async listOrganisations(request, call) {
      const { rows, nextPageToken } = await pageById(request, MAX_ROWS, {
        read: (page) => listOrganisations(organisations, page, request.activeOnly, call),
        getId: (organisation) => organisation.organisationId,
        getBytes: messageSize,
      })
      return { organisations: rows.map(toMessage), nextPageToken }
    },
    async createOrganisation({ name }, call) {
      return { organisation: toMessage(await createOrganisation(organisations, name, call)) }
    },
    async updateOrganisation({ organisation, updateMask }, call) {
      const mask = readMask(updateMask, CHANGEABLE)
      const isStatusValid = !mask.has('status') || (organisation !== undefined && isValidStatus(organisation.status))
      const change = toChange(organisation, mask)
      const updated = await updateOrganisation(
        organisations,
        { organisationId: organisation?.organisationId ?? '', change, isStatusValid },
        call,
      )
      return { organisation: toMessage(updated) }
    },
  }
}

/** Returns the masked fields. A masked field without a value is cleared; an empty id counts as no value. */
function toChange(message: OrganisationMessage | undefined, mask: ReadonlySet<(typeof CHANGEABLE)[number]>): Partial<OrganisationDetails> {
  return {
    ...(mask.has('name') && { name: message?.name ?? '' }),
    ...(mask.has('status') && { active: message?.status === OrganisationStatus.ORGANISATION_STATUS_ACTIVE }),
    ...(mask.has('default_setting_id') && { defaultSettingId: message?.defaultSettingId || undefined }),
    ...(mask.has('default_theme_id') && { defaultThemeId: message?.defaultThemeId || undefined }),
    ...(mask.has('allowed_ips') && { allowedIps: message?.allowedIps ?? [] }),
    ...(mask.has('quota') && { quota: message?.quota ?? {} }),
    ...(mask.has('public_page') && { publicPage: message?.publicPage ?? false }),
  }
}

function isValidStatus(status: OrganisationStatus): boolean {
  return status === OrganisationStatus.ORGANISATION_STATUS_ACTIVE || status === OrganisationStatus.ORGANISATION_STATUS_INACTIVE
}

function toMessage(organisation: Organisation): OrganisationMessage {
  const { active, allowedIps, quota, ...fields } = organisation
  return {
    ...fields,
    status: active ? OrganisationStatus.ORGANISATION_STATUS_ACTIVE : OrganisationStatus.ORGANISATION_STATUS_INACTIVE,
    allowedIps: [...allowedIps],
    quota: { bytes: quota.bytes, minutesPerMonth: quota.minutesPerMonth, concurrentJobs: quota.concurrentJobs },
  }
}
