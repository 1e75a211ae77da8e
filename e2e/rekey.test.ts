import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { runCommand, startCommand } from './support/command.ts'
import { asSuperuser } from './support/database.ts'
import { SYSTEM_KEY, startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant } from './support/video-steps.ts'

const NEW_MASTER_KEY = 'a master key of this test, long enough'

let platform: TestPlatform
let tenant: Tenant

beforeAll(async () => {
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
}, 120_000)
afterAll(() => platform?.remove())

async function setMasterKeys(text: string): Promise<void> {
  const file = join(platform.dataDir, 'secrets', 'master-key')
  await writeFile(`${file}.new`, text, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

/**
 * Creates a third-party token, which auth stores, and a webhook, whose secret the catalogue stores.
 * Returns the id of the token.
 */
async function makeSecrets(token: string): Promise<string> {
  const api = platform.withKey(tenant.key)
  const record = await api.post<{ id: string }>('/oauth/thirdparty', { organisation_id: tenant.organisationId, token })
  expect(record.status).toBe(201)
  expect((await api.post('/webhook', { url: 'http://127.0.0.1:18099/hook', events: ['video.ready'] })).status).toBe(201)
  return record.body.id
}

const readToken = async (id: string) => (await platform.system.get<{ token: string }>(`/oauth/thirdparty/${id}`)).body.token
const readKeyVersions = () =>
  asSuperuser(platform, async (client) => {
    const { rows } = await client.query<{ key_version: number }>(
      `select get_byte(sealed_value, 0) as key_version from auth.api_key union all select get_byte(sealed_token, 0) from auth.third_party_token
       union all select get_byte(secret, 0) from catalogue.webhook`,
    )
    return new Set(rows.map(({ key_version }) => key_version))
  })

test('npm run rekey replaces the master key of a running platform, so that the old one can be removed', async () => {
  const old = (await readFile(join(platform.dataDir, 'secrets', 'master-key'), 'utf8')).trim()
  const first = await makeSecrets('before')
  await setMasterKeys(`2:${NEW_MASTER_KEY}\n1:${old}\n`)
  const newTokenIds: string[] = []
  await waitFor(
    async () => {
      newTokenIds.push(await makeSecrets(`made ${newTokenIds.length}`))
      expect(await readToken(first)).toBe('before')
      const newest = await asSuperuser(platform, (client) =>
        client.query<{ key_version: number }>(
          `(select get_byte(sealed_token, 0) as key_version from auth.third_party_token order by third_party_token_id desc limit 1)
           union all (select get_byte(secret, 0) from catalogue.webhook order by webhook_id desc limit 1)`,
        ),
      )
      return newest.rows.every(({ key_version }) => key_version === 2)
    },
    { timeout: 30_000, interval: 2_000, describe: 'both services to encrypt with the new key' },
  )
  expect(await readKeyVersions()).toEqual(new Set([1, 2]))

  const result = await runCommand('rekey', [], { VITASCOPE_DATA_DIR: platform.dataDir, VITASCOPE_SYSTEM_KEY: SYSTEM_KEY })
  expect([result.code, result.stderr]).toEqual([0, ''])
  expect(await readKeyVersions()).toEqual(new Set([2]))
  expect(await readToken(first)).toBe('before')

  await setMasterKeys(`2:${NEW_MASTER_KEY}\n`)
  await platform.stop()
  platform = await platform.restart()
  expect(await readToken(first)).toBe('before')
  expect((await platform.withKey(tenant.key).get('/video')).status).toBe(200)
  expect((await platform.system.get('/video')).status).toBe(200)
  const webhooks = (await platform.withKey(tenant.key).get<{ webhook_id: string }[]>('/webhook')).body
  expect((await platform.withKey(tenant.key).post(`/webhook/${webhooks[0]?.webhook_id}/test`, {})).status).toBeLessThan(300)
}, 180_000)

test('an interrupted command ends, and starts no further program', async () => {
  const { code, stdout } = await asSuperuser(platform, async (client) => {
    await client.query('begin')
    await client.query('lock table auth.third_party_token in exclusive mode')
    const command = startCommand('rekey', [], { VITASCOPE_DATA_DIR: platform.dataDir, VITASCOPE_SYSTEM_KEY: SYSTEM_KEY })
    const isWaiting = async () => {
      const { rows } = await client.query(`select from pg_locks where relation = 'auth.third_party_token'::regclass and not granted`)
      return rows.length > 0
    }
    await waitFor(isWaiting, { timeout: 30_000, describe: 'auth to wait for the table' })
    command.kill('SIGINT')
    return command.ended
  })
  expect(code).toBe(1)
  expect(stdout).not.toContain('catalogue:')
}, 60_000)
