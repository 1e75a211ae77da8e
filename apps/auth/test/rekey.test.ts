import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { fixedMasterKeys } from '@vitascope/security'
import { waitFor } from '@vitascope/testing'
import { encryptKeyValue } from '../src/api-key/api-key-store.ts'
import { createKeyCipher } from '../src/key/key-encryption.ts'
import { makeKeyValue } from '../src/key/key-value.ts'
import { toBinding } from '../src/third-party-token/third-party-token-store.ts'
import { as, openTestDatabase, service, startTestAuth, type TestAuth, type TestDatabase } from './test-auth.ts'

const REKEY = fileURLToPath(new URL('../src/rekey.ts', import.meta.url))
const OLD = 'the first master key of this test, long enough'
const NEW = 'the second master key of this test, long enough'
const SYSTEM_KEY = 'configured-system-key-of-rekey-test'
const KEYS = 3_000

const folder = mkdtempSync(join(tmpdir(), 'vitascope-rekey-'))
const file = join(folder, 'master-key')
const values = Array.from({ length: KEYS }, makeKeyValue)
let database: TestDatabase
let auth: TestAuth
let readers: { stop(): Promise<{ reads: number; failures: unknown[] }> }

beforeAll(async () => {
  database = await openTestDatabase()
  replace(OLD)
  auth = await startAuth()
  const cipher = createKeyCipher(fixedMasterKeys(OLD))
  const concealed = values.map((value) => encryptKeyValue(cipher, value))
  await database.db.query(
    `insert into api_key (user_id, application_name, lookup, sealed_value, all_resources)
     select 1, 'many', lookup, sealed, true from unnest($1::bytea[], $2::bytea[]) as made (lookup, sealed)`,
    [concealed.map(({ lookup }) => lookup), concealed.map(({ sealed }) => sealed)],
  )
  await database.db.query(
    `insert into third_party_token (third_party_token_id, organisation_id, service_name, called_by, username, auth_url, sealed_token, sealed_other_data)
     overriding system value values (77, 1, 's', 'c', 'u', 'a', $1, $2)`,
    ['token', 'other_data'].map((column) => cipher.seal(Buffer.from('{}'), toBinding('77', column as 'token'))),
  )
  readers = authenticateContinuously()
}, 60_000)
afterAll(async () => {
  await auth.stop()
  await database.drop()
  rmSync(folder, { recursive: true })
})

/** Replaces the file atomically, as an editor does, so that no reader sees a partial file. */
function replace(text: string): void {
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

const startAuth = () => startTestAuth(database.url, { masterKeyFile: file, systemKey: { value: SYSTEM_KEY, file: undefined } })

/** Authenticates with one key after another, some of them the system key, until it is stopped. */
function authenticateContinuously() {
  let stopped = false
  const [failures, done] = [[] as unknown[], { reads: 0 }]
  const loop = (async () => {
    for (let n = 0; !stopped; n++) {
      const key = n % 10 === 0 ? SYSTEM_KEY : (values[(n * 7) % KEYS] ?? '')
      // On a busy machine a call may take longer than the 2 s of a read.
      await auth.apiKeys.authenticate({ key }, { ...service(), deadline: new Date(Date.now() + 20_000) }).then(
        () => done.reads++,
        (error: unknown) => failures.push(error),
      )
    }
  })()
  return {
    async stop() {
      stopped = true
      await loop
      return { reads: done.reads, failures }
    },
  }
}

function rekey(env: Record<string, string> = {}): { child: ChildProcess; ended: Promise<{ code: number | null; output: string }> } {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', REKEY], {
    env: { PATH: process.env['PATH'], VITASCOPE_AUTH_DATABASE_URL: database.url, VITASCOPE_MASTER_KEY_FILE: file, ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()))
  return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number | null, output })) }
}

const countOfNew = async () => {
  const [row] = await database.db.query<{ keys: number }>(`select count(*)::int as keys from api_key where get_byte(sealed_value, 0) = 2`)
  return row?.keys ?? 0
}

test('the master key is replaced while auth runs: a killed run is resumed, and the old key can be removed', async () => {
  // Auth reloads the file without a restart.
  replace(`2:${NEW}\n1:${OLD}`)
  await waitFor(
    async () => {
      const { apiKey } = await auth.apiKeys.createApiKey(
        { userId: '1', applicationName: 'after', resources: [], expireTime: undefined },
        as('system'),
      )
      return apiKey !== undefined && (await countOfNew()) > 0
    },
    { timeout: 20_000, interval: 500, describe: 'auth to encrypt with the new key' },
  )
  const before = await countOfNew()
  const killed = rekey()
  await waitFor(async () => (await countOfNew()) > before, { interval: 1, describe: 'the first rows' })
  killed.child.kill('SIGKILL')
  await killed.ended
  const between = await countOfNew()
  expect(between).toBeLessThan(KEYS)

  const repeated = await rekey().ended
  expect(repeated).toEqual({ code: 0, output: expect.stringContaining('all secrets are encrypted with the first master key') })
  expect(repeated.output).toContain('third_party_token: 1 rows')
  const { reads, failures } = await readers.stop()
  expect(failures).toEqual([])
  expect(reads).toBeGreaterThan(50)

  await auth.stop()
  replace(`2:${NEW}`)
  auth = await startAuth()
  for (const key of [SYSTEM_KEY, values[0] ?? '', values.at(-1) ?? '']) {
    expect(await auth.apiKeys.authenticate({ key }, service())).toMatchObject({ userId: '1' })
  }
  const { thirdPartyToken } = await auth.thirdPartyTokens.getThirdPartyToken({ thirdPartyTokenId: '77' }, as('system'))
  expect(thirdPartyToken?.token).toBe('{}')
  // A further run changes nothing, and the old key is rejected.
  expect((await rekey().ended).output).toContain('api_key: 0 rows')
  replace(OLD)
  await expect(startAuth()).rejects.toThrow('VITASCOPE_MASTER_KEY_FILE does not contain the master key')
  expect(await rekey().ended).toEqual({ code: 1, output: expect.stringContaining('add the key that encrypted them') })
}, 120_000)
