import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { UserStatus } from '@vitascope/proto/auth/v1/user'
import { createCredential } from '@vitascope/testing/software-authenticator'
import { startAuth } from './auth-setup.ts'
import { type Changes, callOf, FAILED, guest, ORIGIN, PASSWORD, passkeySteps } from './passkey-setup.ts'

let setup: Awaited<ReturnType<typeof startAuth>>
beforeAll(async () => {
  setup = await startAuth()
}, 60_000)
afterAll(() => setup.close())

const { passkeys, begin, list, register } = passkeySteps(() => setup)

describe('a registration', () => {
  test('stores a passkey of the user, which only the user sees', async () => {
    const user = await setup.createUser({}, PASSWORD)
    const started = await passkeys().beginPasskeyRegistration({ origin: ORIGIN }, callOf(user))
    expect(started).toMatchObject({ rpId: 'videos.example', user: { email: user.email }, algorithms: [-7, -8, -257], excluded: [] })
    expect(((started.expireTime?.getTime() ?? 0) - Date.now()) / 60_000).toBeCloseTo(5, 0)
    const { passkey, credential } = await register(user, {}, { name: ' Laptop ' })
    expect(passkey).toMatchObject({ name: 'Laptop', backedUp: false, lastUsedTime: undefined })
    expect(await list(user)).toEqual([passkey])
    expect((await passkeys().listPasskeys({}, setup.uploader())).passkeys).toEqual([])
    const next = await passkeys().beginPasskeyRegistration({ origin: ORIGIN }, callOf(user))
    expect(next.excluded).toEqual([{ credentialId: credential.credentialId, transports: ['internal'] }])
  })

  test.each<[string, Changes]>([
    ['another challenge', { challenge: 'AAAA' }],
    ['a page of another origin', { origin: 'https://evil.example' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['a user who was not verified', { isUserVerified: false }],
    ['an unknown browser', { browserSecret: 'another' }],
    ['the response to a sign-in', { type: 'webauthn.get' }],
    ['no algorithm', { algorithm: 0 }],
    ['an algorithm that was not offered', { algorithm: -36 }],
    ['a statement in the format none', { statement: new Map([['sig', new Uint8Array(8)]]) }],
    [
      'a self-signed statement with an invalid signature',
      {
        format: 'packed',
        statement: new Map<string, unknown>([
          ['alg', -7],
          ['sig', new Uint8Array(70)],
        ]),
      },
    ],
    [
      'a statement with certificates',
      {
        format: 'packed',
        statement: new Map<string, unknown>([
          ['alg', -7],
          ['sig', new Uint8Array(70)],
          ['x5c', []],
        ]),
      },
    ],
    ['a format with certificates', { format: 'fido-u2f' }],
    ['an unknown format', { format: 'other' }],
  ])('is rejected for %s', async (_, changes) => {
    const user = await setup.createUser({}, PASSWORD)
    await expect(register(user, changes)).rejects.toMatchObject(FAILED)
    expect(await list(user)).toEqual([])
  })

  test('is rejected with a response that is not CBOR, and with the id of another credential', async () => {
    const user = await setup.createUser({}, PASSWORD)
    for (const change of [{ attestationObject: 'AAAA' }, { attestationObject: '' }, { clientData: 'AAAA' }, { credentialId: 'AAAA' }]) {
      const { challenge, rpId, userHandle, browserSecret } = await passkeys().beginPasskeyRegistration({ origin: ORIGIN }, callOf(user))
      const { response } = createCredential({ challenge, rpId, userHandle, origin: ORIGIN })
      const request = { origin: ORIGIN, browserSecret, name: 'x', ...response, ...change }
      await expect(passkeys().registerPasskey(request, callOf(user))).rejects.toMatchObject(FAILED)
    }
  })

  test('has an effect once, within 5 minutes, and for the user who began', async () => {
    const [user, other] = [await setup.createUser({}, PASSWORD), await setup.createUser({}, PASSWORD)]
    const { request } = await register(user)
    await expect(passkeys().registerPasskey(request, callOf(user))).rejects.toMatchObject(FAILED)
    await expect(register(user, {}, { call: callOf(other) })).rejects.toMatchObject(FAILED)
    const { challenge, rpId, userHandle, browserSecret } = await passkeys().beginPasskeyRegistration({ origin: ORIGIN }, callOf(user))
    await setup.database.db.query('update passkey_challenge set expire_time = now()')
    const { response } = createCredential({ challenge, rpId, userHandle, origin: ORIGIN })
    const late = { origin: ORIGIN, browserSecret, name: 'x', ...response }
    await expect(passkeys().registerPasskey(late, callOf(user))).rejects.toMatchObject(FAILED)
    // The challenge of a sign-in is not one of a registration.
    const signingIn = await begin()
    await expect(register(user, signingIn)).rejects.toMatchObject(FAILED)
    expect(await list(user)).toHaveLength(1)
    expect(await list(other)).toEqual([])
  })

  test('of a credential that another user has is rejected', async () => {
    const [user, other] = [await setup.createUser({}, PASSWORD), await setup.createUser({}, PASSWORD)]
    const { credential } = await register(user)
    await expect(register(other, { credentialId: credential.credentialId })).rejects.toMatchObject({
      kind: 'exists',
      reason: 'PASSKEY_EXISTS',
    })
  })

  test('requires an origin of the gateway', async () => {
    const user = await setup.createUser({}, PASSWORD)
    const invalid = { reason: 'INVALID_INPUT' }
    await expect(passkeys().beginPasskeyRegistration({ origin: 'x' }, callOf(user))).rejects.toMatchObject(invalid)
    await expect(passkeys().beginPasskeySignIn({ origin: '', credentials: undefined }, guest())).rejects.toMatchObject(invalid)
  })

  test('is possible 20 times for a user', async () => {
    const user = await setup.createUser({}, PASSWORD)
    await setup.database.db.query(
      `insert into passkey (user_id, credential_id, public_key, counter, transports, name, backed_up)
       select $1, $1::bigint || ' number ' || n, '', 0, '{}', 'x', false from generate_series(1, 18) n`,
      [user.userId],
    )
    const started = await Promise.all(Array.from({ length: 5 }, () => register(user).catch((error: { reason: string }) => error.reason)))
    expect(started.filter((result) => typeof result !== 'string')).toHaveLength(2)
    expect(started.filter((result) => result === 'PASSKEYS_FULL')).toHaveLength(3)
    await expect(register(user)).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'PASSKEYS_FULL' })
  })

  test('is not possible for invited users, for users of an identity provider, and for guests', async () => {
    const invited = await setup.createUser()
    const provisioned = await setup.createUser({ status: UserStatus.USER_STATUS_ACTIVE })
    await setup.database.db.query(
      `insert into oidc_identity (issuer, subject, user_id, is_provisioned) values ('issuer', 'passkeys', $1, true)`,
      [provisioned.userId],
    )
    for (const user of [invited, provisioned])
      await expect(register(user)).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'PASSKEY_NOT_ALLOWED' })
    await expect(passkeys().beginPasskeyRegistration({ origin: ORIGIN }, guest())).rejects.toMatchObject({ kind: 'unauthenticated' })
  })

  test.each(['', '  ', 'x'.repeat(101), 'a\0b'])('with the name %j is rejected', async (name) => {
    const user = await setup.createUser({}, PASSWORD)
    await expect(register(user, {}, { name })).rejects.toMatchObject({ reason: 'INVALID_INPUT' })
    const { passkey } = await register(user)
    const change = { passkeyId: passkey?.passkeyId ?? '', name }
    await expect(passkeys().renamePasskey(change, callOf(user))).rejects.toMatchObject({ reason: 'INVALID_INPUT' })
  })
})

test('a user renames its own passkeys only', async () => {
  const user = await setup.createUser({}, PASSWORD)
  const { passkey } = await register(user)
  const passkeyId = passkey?.passkeyId ?? ''
  const renamed = await passkeys().renamePasskey({ passkeyId, name: ' Phone ' }, callOf(user))
  expect(renamed.passkey).toEqual({ ...passkey, name: 'Phone' })
  for (const [id, call] of [
    [passkeyId, setup.system],
    ['999999', callOf(user)],
    ['x', callOf(user)],
  ] as const)
    await expect(passkeys().renamePasskey({ passkeyId: id, name: 'x' }, call)).rejects.toMatchObject({ reason: 'PASSKEY_NOT_FOUND' })
  expect(await list(user)).toMatchObject([{ name: 'Phone' }])
})
