import { type Organisation, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import type { Usage } from '@vitascope/proto/catalogue/v1/quota'
import { z } from 'zod'
import { shown, timestampText } from '../public-form.ts'

const limit = (description: string) =>
  z
    .string()
    .nullable()
    .meta({ description: `${description}; null for no limit.`, example: '600' })

const used = (description: string, example = '1048576') => z.string().meta({ description: `${description}.`, example })

export const OrganisationRecord = z
  .object({
    organisation_id: shown.id('organisation'),
    name: shown.text('Its name.', 'Example Films'),
    status: z.enum(['active', 'inactive']).meta({ description: 'The keys of an inactive one are refused, and its videos are not found.' }),
    default_setting_id: shown.text('The player settings profile of videos that name none; empty for none.'),
    default_theme_id: shown.text('The theme of videos that name none; empty for none.'),
    allowed_ips: z.array(z.string()).meta({ description: 'Addresses and CIDRs that may watch; empty for all.', example: ['192.0.2.0/24'] }),
    quota: z.object({
      bytes: limit('Bytes stored, renditions included'),
      minutes_per_month: limit('Minutes of source video in a calendar month (UTC)'),
      concurrent_jobs: limit('Encoding jobs under way at once'),
    }),
    usage: z
      .object({
        bytes: used('Bytes stored'),
        bytes_reserved: used('Bytes reserved for jobs under way'),
        minutes_this_month: used('Minutes encoded of what was accepted in this calendar month (UTC), to two decimals', '12.5'),
        minutes_reserved: used('Minutes reserved for jobs under way that were accepted in this month, to two decimals', '1'),
        jobs: used('Jobs that wait or run', '3'),
      })
      .meta({ description: 'What counts against the quota.' }),
    time_created: shown.timestamp('When it was created.'),
    time_last_modified: shown.timestamp('When it was last changed.'),
  })
  .meta({ id: 'Organisation', description: 'An organisation.' })

export function organisationView(organisation: Organisation, usage: Usage): z.input<typeof OrganisationRecord> {
  return { ...organisationDetails(organisation), usage: usageView(usage) }
}

/** All that is the organisation's own. */
export function organisationDetails(organisation: Organisation): Omit<z.input<typeof OrganisationRecord>, 'usage'> {
  return {
    organisation_id: organisation.organisationId,
    name: organisation.name,
    status: organisation.status === OrganisationStatus.ORGANISATION_STATUS_ACTIVE ? 'active' : 'inactive',
    default_setting_id: organisation.defaultSettingId ?? '',
    default_theme_id: organisation.defaultThemeId ?? '',
    allowed_ips: organisation.allowedIps,
    quota: {
      bytes: limitText(organisation.quota?.bytes),
      minutes_per_month: limitText(organisation.quota?.minutesPerMonth),
      concurrent_jobs: limitText(organisation.quota?.concurrentJobs),
    },
    time_created: timestampText(organisation.createTime),
    time_last_modified: timestampText(organisation.updateTime),
  }
}

function limitText(limit: number | undefined): string | null {
  return limit === undefined ? null : String(limit)
}

function usageView({ bytes, reservedBytes, millisecondsThisMonth, reservedMilliseconds, jobs }: Usage) {
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
