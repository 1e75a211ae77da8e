import { expect, test } from '@jest/globals'
import { Organisation, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import { organisationResponse } from './organisation-response.ts'

test('an organisation shows its numbers as text and missing limits as null', () => {
  const organisation = Organisation.create({
    organisationId: '2',
    name: 'Example Films',
    status: OrganisationStatus.ORGANISATION_STATUS_ACTIVE,
    defaultThemeId: '5',
    allowedIps: ['192.0.2.0/24'],
    publicPage: true,
    quota: { bytes: 1_000_000_000_000, concurrentJobs: 0 },
    createTime: new Date('2026-03-01T09:05:03Z'),
    updateTime: new Date('2026-03-02T09:05:03Z'),
  })
  const usage = { bytes: 5_000, reservedBytes: 8, millisecondsThisMonth: 754_000, reservedMilliseconds: 60_000, jobs: 2 }
  expect(organisationResponse(organisation, usage)).toEqual({
    id: '2',
    organisation_id: '2',
    name: 'Example Films',
    status: 'active',
    default_setting_id: '',
    default_theme_id: '5',
    allowed_ips: ['192.0.2.0/24'],
    public_page: true,
    quota: { bytes: '1000000000000', minutes_per_month: null, concurrent_jobs: '0' },
    usage: { bytes: '5000', bytes_reserved: '8', minutes_this_month: '12.57', minutes_reserved: '1', jobs: '2' },
    time_created: '2026-03-01 09:05:03',
    time_last_modified: '2026-03-02 09:05:03',
  })
})
