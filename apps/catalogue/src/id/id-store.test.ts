import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createIdStore } from './id-store.ts'
import { giveText, textMaker } from './random-text.ts'

let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
afterAll(() => catalogue.close())

test('the next id is never the same', async () => {
  const ids = createIdStore(catalogue.db)
  const given = await Promise.all(Array.from({ length: 20 }, () => ids.next()))
  expect(new Set(given).size).toBe(20)
})

test('a small space is given out to the last text, and then refused', async () => {
  const ids = createIdStore(catalogue.db)
  const given = new Set<string>()
  // Two letters at four places: 16 texts. Each call tries 20 times, so the last ones may take a few calls.
  for (let call = 0; call < 1_000 && given.size < 16; call++) {
    const text = await giveText(ids, textMaker('ab'), 4).catch(() => undefined)
    if (text !== undefined) {
      expect(given).not.toContain(text)
      given.add(text)
    }
  }
  expect(given.size).toBe(16)
  await expect(giveText(ids, textMaker('ab'), 4)).rejects.toMatchObject({ reason: 'IDS_EXHAUSTED' })
})
