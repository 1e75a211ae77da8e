import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { buildOrganisation } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createOrganisations } from './organisation.ts'

let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
afterAll(() => catalogue.close())

describe('a replica of an organisation', () => {
  test('is replaced only by a newer message', async () => {
    const { organisations } = catalogue
    const third = buildOrganisation({ organisationId: '9', revision: 3, active: false, allowedIps: ['192.0.2.0/24'] })
    await organisations.apply(third)
    await organisations.apply(buildOrganisation({ organisationId: '9', revision: 2 }))
    await organisations.apply(buildOrganisation({ organisationId: '9', revision: 3 }))
    expect(await organisations.find('9')).toEqual(third)
    await organisations.apply(buildOrganisation({ organisationId: '9', revision: 4 }))
    expect(await organisations.find('9')).toMatchObject({ revision: 4, active: true, allowedIps: [] })
  })
})

describe('the quota of a replica', () => {
  const readQuota = async (organisationId: string) => (await catalogue.organisations.find(organisationId))?.quota
  test('is stored, and unchanged by a message without a quota', async () => {
    const { organisations } = catalogue
    const quota = { bytes: 2 ** 53 - 1, minutesPerMonth: 0, concurrentJobs: undefined }
    await organisations.apply(buildOrganisation({ organisationId: '10', revision: 1, quota }))
    expect(await readQuota('10')).toEqual(quota)
    await organisations.apply(buildOrganisation({ organisationId: '10', revision: 2, active: false, quota: undefined }))
    expect(await organisations.find('10')).toMatchObject({ active: false, quota })
    await organisations.apply(buildOrganisation({ organisationId: '10', revision: 3 }))
    expect(await readQuota('10')).toEqual({})
  })
  test('is requested from auth for a replica without a quota', async () => {
    await catalogue.organisations.apply(buildOrganisation({ organisationId: '11', quota: undefined }))
    const requested = buildOrganisation({ organisationId: '11', quota: { concurrentJobs: 3 } })
    const organisations = createOrganisations(catalogue.organisations, async () => requested)
    expect(await organisations.require('11')).toEqual(requested)
    expect(await readQuota('11')).toEqual({ concurrentJobs: 3 })
  })
})

describe('an organisation without a replica', () => {
  test('is requested from auth once', async () => {
    let requested = 0
    const organisations = createOrganisations(catalogue.organisations, async (organisationId) => {
      requested++
      return buildOrganisation({ organisationId })
    })
    await organisations.require('20')
    expect(await organisations.require('20')).toMatchObject({ organisationId: '20' })
    expect(requested).toBe(1)
  })
  test('that auth does not know either is not found', async () => {
    const organisations = createOrganisations(catalogue.organisations, async () => undefined)
    await expect(organisations.require('21')).rejects.toMatchObject({ reason: 'ORGANISATION_NOT_FOUND' })
  })
})
