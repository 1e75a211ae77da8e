import { type Organisation, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import type { Usage } from '@vitascope/proto/catalogue/v1/quota'
import { z } from 'zod'
import { formatOptionalTimestamp, schema } from '../../server/schema/response-format.ts'

const limit = (description: string) =>
  z
    .string()
    .nullable()
    .meta({ description: `${description}. null if there is no limit.`, example: '600' })

const usedAmount = (description: string, example = '1048576') => z.string().meta({ description: `${description}.`, example })

export const OrganisationResponse = z
  .object({
    id: schema.id('organisation'),
    organisation_id: schema.id('organisation'),
    name: schema.text('Name of the organisation.', 'Example Films'),
    status: z
      .enum(['active', 'inactive'])
      .meta({ description: 'State of the organisation. If it is inactive, its keys are rejected and its videos are not found.' }),
    default_setting_id: schema.text('Id of the player settings profile of videos without a profile. Empty if there is none.', ''),
    default_theme_id: schema.text('Id of the theme of videos without a theme. Empty if there is none.', ''),
    allowed_ips: z
      .array(z.string())
      .meta({ description: 'IP addresses and CIDRs that may load media files. Empty if all may.', example: ['192.0.2.0/24'] }),
    public_page: schema.bool('Whether everyone may open `/o/{organisation_id}`, the page with the public videos of the organisation.'),
    quota: z.object({
      bytes: limit('Stored bytes, including renditions'),
      minutes_per_month: limit('Minutes of source video per calendar month in UTC'),
      concurrent_jobs: limit('Encode jobs that may be active at once'),
    }),
    usage: z
      .object({
        bytes: usedAmount('Stored bytes'),
        bytes_reserved: usedAmount('Bytes reserved for active uploads and jobs'),
        minutes_this_month: usedAmount(
          'Encoded minutes of sources that were accepted in this calendar month in UTC, to two decimals',
          '12.5',
        ),
        minutes_reserved: usedAmount('Minutes reserved for active jobs that were accepted in this month, to two decimals', '1'),
        jobs: usedAmount('Jobs that wait or run', '3'),
      })
      .meta({ description: 'Usage that counts against the quota.' }),
    time_created: schema.timestamp('Time of creation.'),
    time_last_modified: schema.timestamp('Time of the last change.'),
  })
  .meta({ id: 'Organisation', description: 'An organisation.' })

export const OrganisationUsageResponse = OrganisationResponse.pick({
  organisation_id: true,
  name: true,
  public_page: true,
  quota: true,
  usage: true,
}).meta({
  id: 'OrganisationUsage',
  description: 'The quota of an organisation and its usage, and whether it has a public page.',
})

export function organisationResponse(organisation: Organisation, usage: Usage): z.input<typeof OrganisationResponse> {
  return { ...organisationDetails(organisation), usage: usageResponse(usage) }
}

/** Returns the organisation without its usage, which is stored in the catalogue. */
export function organisationDetails(organisation: Organisation): Omit<z.input<typeof OrganisationResponse>, 'usage'> {
  return {
    id: organisation.organisationId,
    organisation_id: organisation.organisationId,
    name: organisation.name,
    status: organisation.status === OrganisationStatus.ORGANISATION_STATUS_ACTIVE ? 'active' : 'inactive',
    default_setting_id: organisation.defaultSettingId ?? '',
    default_theme_id: organisation.defaultThemeId ?? '',
    allowed_ips: organisation.allowedIps,
    public_page: organisation.publicPage,
    quota: {
      bytes: limitText(organisation.quota?.bytes),
      minutes_per_month: limitText(organisation.quota?.minutesPerMonth),
      concurrent_jobs: limitText(organisation.quota?.concurrentJobs),
    },
    time_created: formatOptionalTimestamp(organisation.createTime),
    time_last_modified: formatOptionalTimestamp(organisation.updateTime),
  }
}

function limitText(limit: number | undefined): string | null {
  return limit === undefined ? null : String(limit)
}

function usageResponse({ bytes, reservedBytes, millisecondsThisMonth, reservedMilliseconds, jobs }: Usage) {
  return {
    bytes: String(bytes),
    bytes_reserved: String(reservedBytes),
    minutes_this_month: minutesText(millisecondsThisMonth),
    minutes_reserved: minutesText(reservedMilliseconds),
    jobs: String(jobs),
  }
}

function minutesText(milliseconds: number): string {
  return String(Math.round(milliseconds / 600) / 100)
}
