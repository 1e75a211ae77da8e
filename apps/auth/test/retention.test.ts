import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { oidcRetention } from '../src/oidc/oidc-store.ts'
import { passkeyRetention } from '../src/passkey/passkey-store.ts'
import { startAuth } from './auth-setup.ts'

let setup: Awaited<ReturnType<typeof startAuth>>
beforeAll(async () => {
  setup = await startAuth()
}, 60_000)
afterAll(() => setup.close())

test.each([
  [
    'sign-ins at an identity provider',
    oidcRetention,
    'oidc_sign_in (state_hash, browser_hash, nonce, code_verifier, expire_time)',
    `select sha256(name::bytea), sha256('browser'), 'nonce', 'verifier', now() + after`,
  ],
  [
    'challenges of passkeys',
    passkeyRetention,
    'passkey_challenge (browser_hash, purpose, challenge, expire_time)',
    `select sha256(name::bytea), 'sign_in', 'challenge', now() + after`,
  ],
])('expired %s are deleted, up to the limit', async (_, createRetention, columns, select) => {
  const { db } = setup.database
  const { table, remove } = createRetention(db)
  await db.query(`insert into ${columns} ${select} from (values ('a', interval '-2 hours'), ('b', interval '-1 hour'),
    ('c', interval '1 hour')) as rows (name, after)`)
  const { signal } = new AbortController()
  expect([await remove(1, signal), await remove(10, signal), await remove(10, signal)]).toEqual([1, 1, 0])
  expect(await db.query(`select from ${table} where expire_time > now()`)).toHaveLength(1)
})
