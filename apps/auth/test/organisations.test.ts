import { afterAll, expect, test } from '@jest/globals'
import { Organisation, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import { errorWith, invalidFields, page, startAuth } from './auth-setup.ts'
import { withIdempotency } from './test-auth.ts'

const fixture = await startAuth()
const { auth, system, org, createOrganisation } = fixture
afterAll(fixture.close)

const update = (organisation: Partial<Organisation>, updateMask: string[]) =>
  auth.organisations.updateOrganisation({ organisation: Organisation.fromPartial(organisation), updateMask }, system)

test('an update changes the fields in its mask, clears those without a value, and raises the revision', async () => {
  const organisationId = await createOrganisation('Growing')
  const full = {
    name: 'Grown',
    defaultSettingId: '5',
    defaultThemeId: '6',
    allowedIps: ['192.0.2.0/24', '2001:db8::1'],
    quota: { bytes: 2 ** 40, minutesPerMonth: 0, concurrentJobs: 3 },
    publicPage: true,
  }
  const mask = ['name', 'default_setting_id', 'default_theme_id', 'allowed_ips', 'quota', 'public_page']
  const first = (await update({ organisationId, ...full }, mask)).organisation
  expect(first).toMatchObject({ organisationId, ...full, status: OrganisationStatus.ORGANISATION_STATUS_ACTIVE })
  const second = (await update({ organisationId, name: 'Ignored' }, ['default_setting_id', 'quota', 'public_page'])).organisation
  expect(second).toMatchObject({ name: 'Grown', defaultThemeId: '6', allowedIps: full.allowedIps })
  expect(first?.revision).toBeGreaterThan(1)
  expect(second?.revision).toBeGreaterThan(first?.revision ?? 0)
  expect([second?.defaultSettingId, second?.quota?.bytes, second?.publicPage]).toEqual([undefined, undefined, false])
  expect((await auth.organisations.getOrganisation({ organisationId }, system)).organisation).toEqual(second)
})

test('a change after a failover has a higher revision than the changes that the database lost', async () => {
  const organisationId = await createOrganisation('Rewound')
  const rename = async (name: string) => (await update({ organisationId, name }, ['name'])).organisation?.revision ?? 0
  let lost = 0
  for (let change = 1; change <= 3; change++) lost = await rename(`Lost ${change}`)
  await fixture.database.db.query('update organisation set revision = 1 where organisation_id = $1', [organisationId])
  expect(await rename('Changed again')).toBeGreaterThan(lost)
})

test('every invalid field is reported at once', async () => {
  const organisation = {
    organisationId: org.one,
    name: ' ',
    defaultSettingId: 'x',
    defaultThemeId: '-1',
    allowedIps: ['10.0.0.1', '10.0.0.300', 'x'],
    quota: { bytes: -1, minutesPerMonth: -1, concurrentJobs: -1 },
  }
  const mask = ['name', 'status', 'default_setting_id', 'default_theme_id', 'allowed_ips', 'quota']
  await expect(update(organisation, mask)).rejects.toEqual(
    invalidFields(
      'name',
      'status',
      'default_setting_id',
      'default_theme_id',
      'allowed_ips[1]',
      'allowed_ips[2]',
      'quota.bytes',
      'quota.minutes_per_month',
      'quota.concurrent_jobs',
    ),
  )
  await expect(update({ organisationId: org.one, allowedIps: Array(257).fill('10.0.0.1') }, ['allowed_ips'])).rejects.toEqual(
    invalidFields('allowed_ips'),
  )
  await expect(update({ organisationId: org.one }, ['revision'])).rejects.toEqual(invalidFields('update_mask'))
  await expect(createOrganisation('')).rejects.toEqual(invalidFields('name'))
  await expect(update({ organisationId: '99999', name: '' }, ['name'])).rejects.toEqual(errorWith('not_found', 'ORGANISATION_NOT_FOUND'))
})

test('the system organisation cannot become inactive', async () => {
  await expect(update({ organisationId: '1', status: OrganisationStatus.ORGANISATION_STATUS_INACTIVE }, ['status'])).rejects.toEqual(
    errorWith('failed_precondition', 'SYSTEM_ORGANISATION'),
  )
})

test('a list continues at its page token, and omits inactive organisations on request', async () => {
  const organisationId = await createOrganisation('Asleep')
  await update({ organisationId, status: OrganisationStatus.ORGANISATION_STATUS_INACTIVE }, ['status'])
  const ids: string[] = []
  let pageToken = ''
  do {
    const answer = await auth.organisations.listOrganisations({ pageSize: 2, pageToken, skip: 0, activeOnly: false }, system)
    ids.push(...answer.organisations.map((organisation) => organisation.organisationId))
    pageToken = answer.nextPageToken
  } while (pageToken)
  expect(ids.slice(0, 3)).toEqual(['1', org.one, org.two])
  expect(ids).toContain(organisationId)
  const { organisations } = await auth.organisations.listOrganisations({ ...page, activeOnly: true }, system)
  expect(organisations.map((organisation) => organisation.organisationId)).toEqual(ids.filter((id) => id !== organisationId))
})

test('a retried creation creates no second organisation', async () => {
  const call = withIdempotency(system, 'd1')
  const one = await auth.organisations.createOrganisation({ name: 'Once' }, call)
  expect(await auth.organisations.createOrganisation({ name: 'Once' }, call)).toEqual(one)
})
