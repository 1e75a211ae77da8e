// Faults: A21, R15
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createTextGenerator, createUniqueText } from '../rules/random-text.ts'
import { createIdStore } from './id-store.ts'

let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
afterAll(() => catalogue.close())

test('every id is different', async () => {
  const ids = createIdStore(catalogue.db)
  const input = await Promise.all(Array.from({ length: 20 }, () => ids.next()))
  expect(new Set(input).size).toBe(20)
})

test('all texts of a small space are issued, and then requests are rejected', async () => {
  const ids = createIdStore(catalogue.db)
  const input = new Set<string>()
  // Two letters at four positions: 16 texts. Each call tries 20 times, so the last texts may take a
  // few calls.
  for (let call = 0; call < 1_000 && input.size < 16; call++) {
    const text = await createUniqueText(ids, createTextGenerator('ab'), 4).catch(() => undefined)
    if (text !== undefined) {
      expect(input).not.toContain(text)
      input.add(text)
    }
  }
  expect(input.size).toBe(16)
  await expect(createUniqueText(ids, createTextGenerator('ab'), 4)).rejects.toMatchObject({ reason: 'IDS_EXHAUSTED' })
})
