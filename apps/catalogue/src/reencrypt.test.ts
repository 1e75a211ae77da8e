import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { fixedMasterKeys } from '@vitascope/security'
import { createCall } from '../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../test/catalogue-database.ts'
import { createSecretCipher } from './notification/webhook/webhook-secret.ts'
import { createWebhookStore } from './notification/webhook/webhook-store.ts'
import { reencryptCatalogue } from './reencrypt.ts'

const OLD = 'the first master key of this test, long enough'
const NEW = 'the second master key of this test, long enough'

let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  await catalogue.organisations.apply({
    ...{ organisationId: '1', revision: 1, active: true, allowedIps: [], defaultSettingId: '', defaultThemeId: '', quota: {} },
  })
})
afterAll(() => catalogue.close())

const fields = { organisationId: '1', url: 'http://198.51.100.7/hook', events: ['video.ready'], enabled: true }

test('reencryption covers webhook secrets, rotated secrets and stored responses', async () => {
  const { db } = catalogue
  const before = createWebhookStore(db, fixedMasterKeys(OLD))
  const call = { ...createCall(), idempotency: { key: 'a'.repeat(64), fingerprint: 'f'.repeat(64) } }
  const { webhook, secret } = await before.create(fields, call)
  const rotated = await before.rotate({ scope: '1', webhookId: webhook.webhookId }, createCall())

  const keys = fixedMasterKeys(`2:${NEW}\n1:${OLD}`)
  const tables: unknown[] = []
  expect(await reencryptCatalogue({ db, keys }, (done) => tables.push(done))).toEqual({ isComplete: true })
  expect(tables).toEqual([
    { table: 'webhook', rewritten: 1, failed: 0 },
    { table: 'idempotency', rewritten: 1, failed: 0 },
  ])
  const cipher = createSecretCipher(fixedMasterKeys(`2:${NEW}`))
  const [row] = await db.query<{ secret: Buffer; old_secret: Buffer }>('select secret, old_secret from webhook')
  expect([row?.old_secret, row?.secret].map((sealed) => sealed && cipher.open(sealed, webhook.webhookId))).toEqual([secret, rotated])
  // The repeated request returns the first response, including its secret.
  const after = createWebhookStore(db, fixedMasterKeys(`2:${NEW}`))
  expect((await after.create(fields, call)).secret).toBe(secret)

  expect(await reencryptCatalogue({ db, keys }, (done) => tables.push(done))).toEqual({ isComplete: true })
  expect(tables.slice(2)).toEqual([
    { table: 'webhook', rewritten: 0, failed: 0 },
    { table: 'idempotency', rewritten: 0, failed: 0 },
  ])
})

test('a value whose key is missing is reported and stays unchanged', async () => {
  const { db } = catalogue
  const before = await db.query('select webhook_id, secret from webhook')
  const { isComplete, problem } = await reencryptCatalogue({ db, keys: fixedMasterKeys(`3:${'3'.repeat(32)}`) })
  expect([isComplete, problem]).toEqual([false, expect.stringContaining('add the key that encrypted them')])
  expect(await db.query('select webhook_id, secret from webhook')).toEqual(before)
})
