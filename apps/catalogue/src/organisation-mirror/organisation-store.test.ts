import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { anOrganisation } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createOrganisations } from './organisation.ts'

let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
afterAll(() => catalogue.close())

describe('a copy of an organisation', () => {
  test('is replaced by a newer one, and not by an older one that comes late', async () => {
    const { organisations } = catalogue
    const third = anOrganisation({ organisationId: '9', revision: 3, active: false, allowedIps: ['192.0.2.0/24'] })
    await organisations.apply(third)
    await organisations.apply(anOrganisation({ organisationId: '9', revision: 2 }))
    await organisations.apply(anOrganisation({ organisationId: '9', revision: 3 }))
    expect(await organisations.find('9')).toEqual(third)
    await organisations.apply(anOrganisation({ organisationId: '9', revision: 4 }))
    expect(await organisations.find('9')).toMatchObject({ revision: 4, active: true, allowedIps: [] })
  })
})

describe('an organisation that is not known here', () => {
  test('is asked of auth once', async () => {
    let asked = 0
    const organisations = createOrganisations(catalogue.organisations, async (organisationId) => {
      asked++
      return anOrganisation({ organisationId })
    })
    await organisations.need('20')
    expect(await organisations.need('20')).toMatchObject({ organisationId: '20' })
    expect(asked).toBe(1)
  })
  test('and not there either is not found', async () => {
    const organisations = createOrganisations(catalogue.organisations, async () => undefined)
    await expect(organisations.need('21')).rejects.toMatchObject({ reason: 'ORGANISATION_NOT_FOUND' })
  })
})
