import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openChannel } from '@vitascope/grpc'
import { ApiKeyServiceService } from '@vitascope/proto/auth/v1/api_key'
import { User, UserServiceService } from '@vitascope/proto/auth/v1/user'
import { waitFor } from '@vitascope/testing'
import { testKeyEnvironment, testPrincipals } from '@vitascope/testing/principal-keys'
import { as, openTestDatabase, service, type TestDatabase } from './test-auth.ts'

let database: TestDatabase
const folder = mkdtempSync(join(tmpdir(), 'vitascope-auth-'))
beforeAll(async () => {
  database = await openTestDatabase()
  await database.db.query('drop schema auth cascade')
})
afterAll(async () => {
  await database.drop()
  rmSync(folder, { recursive: true })
})

function run(file: string) {
  const env = {
    PATH: process.env['PATH'],
    VITASCOPE_AUTH_DATABASE_URL: database.url,
    ...testKeyEnvironment('auth'),
    VITASCOPE_MASTER_KEY_FILE: join(folder, 'master-key'),
    VITASCOPE_NEW_SYSTEM_KEY_FILE: join(folder, 'system-key'),
    VITASCOPE_CATALOGUE_ADDRESS: '127.0.0.1:9',
    VITASCOPE_LOG_LEVEL: 'trace',
  }
  const child = spawn(process.execPath, [fileURLToPath(new URL(`../src/${file}`, import.meta.url))], { env })
  const output = { text: '' }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output.text += data.toString()))
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  return { child, output, ended }
}

test('the process migrates, starts, responds and stops at SIGTERM, and logs no secret', async () => {
  writeFileSync(join(folder, 'master-key'), 'a master key of this test, long enough')
  expect(await run('migrate.ts').ended).toBe(0)

  const { child, output, ended } = run('main.ts')
  const address = await waitFor(() => /"address":"([^"]+)"/.exec(output.text)?.[1], { describe: () => `an address in: ${output.text}` })
  const channel = openChannel(address, { service: 'auth', principals: testPrincipals() })
  const apiKeys = channel.client(ApiKeyServiceService)
  const users = channel.client(UserServiceService)

  const systemKey = readFileSync(join(folder, 'system-key'), 'utf8').trim()
  const { userId } = await apiKeys.authenticate({ key: systemKey }, service())
  const newKey = { userId, applicationName: 'x', resources: [], expireTime: undefined }
  const key = (await apiKeys.createApiKey(newKey, as('system'))).apiKey?.value ?? ''
  const password = 'correct horse battery'
  const user = User.fromPartial({ organisationId: '1', firstName: 'A', lastName: 'B', email: 'a@b' })
  await users.createUser({ user, password }, as('system'))
  const malformedKey = `${key.slice(0, -6)}000000`
  await expect(apiKeys.authenticate({ key: malformedKey }, service())).rejects.toMatchObject({ reason: 'KEY_MALFORMED' })
  // An internal error is logged with its cause.
  await database.db.query('alter table api_key rename to api_key_gone')
  await expect(apiKeys.authenticate({ key }, service())).rejects.toThrow('INTERNAL')
  await database.db.query('alter table api_key_gone rename to api_key')
  await waitFor(() => output.text.includes('call failed'))

  channel.close()
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(output.text).toContain('stopping')
  for (const secret of [systemKey, key, password, malformedKey, 'a master key of this test']) expect(output.text).not.toContain(secret)
})
