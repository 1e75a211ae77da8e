import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Call } from '@vitascope/grpc'
import { Organisation, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import { type User, UserType } from '@vitascope/proto/auth/v1/user'
import type { SoftwareCredential } from '@vitascope/testing/software-authenticator'
import { startAuth } from './auth-setup.ts'
import { type Changes, callOf, FAILED, guest, ORIGIN, PASSWORD, passkeySteps } from './passkey-setup.ts'
import { as } from './test-auth.ts'

let setup: Awaited<ReturnType<typeof startAuth>>
beforeAll(async () => {
  setup = await startAuth()
}, 60_000)
afterAll(() => setup.close())

const { passkeys, begin, list, register, signIn, signInByPassword, requirePasskey } = passkeySteps(() => setup)

describe('a sign-in by a passkey alone', () => {
  let user: User
  let credential: SoftwareCredential
  beforeAll(async () => {
    user = await setup.createUser({}, PASSWORD)
    ;({ credential } = await register(user))
  })

  test('creates a session as the password does, and stores the use', async () => {
    const { session, value, user: signedIn } = await signIn(credential)
    expect(signedIn).toMatchObject({ userId: user.userId, email: user.email })
    expect(session).toMatchObject({ userId: user.userId, address: '192.0.2.7', userAgent: 'Firefox' })
    expect(await setup.authenticate(value)).toMatchObject({ userId: user.userId, apiKeyId: session?.sessionId })
    const [passkey] = await list(user)
    expect(Date.now() - (passkey?.lastUsedTime?.getTime() ?? 0)).toBeLessThan(60_000)
  })

  test.each<[string, Changes]>([
    ['another challenge', { challenge: 'AAAA' }],
    ['a page of another origin', { origin: 'https://evil.example' }],
    ['a page of another port', { origin: `${ORIGIN}:8443` }],
    ['another relying party', { rpId: 'evil.example' }],
    ['a user who was not verified', { isUserVerified: false }],
    ['an unknown browser', { browserSecret: 'another' }],
    ['the response to a registration', { type: 'webauthn.create' }],
    ['a signature of another key', { isForeignKey: true }],
    ['an unknown credential', { credentialId: 'AAAA' }],
    ['a credential that cannot be one', { credentialId: 'a\0b' }],
    ['the handle of another user', { userHandle: Buffer.from('user:1').toString('base64url') }],
    ['no handle of a user', { userHandle: undefined }],
  ])('is rejected for %s', async (_, changes) => {
    await expect(signIn(credential, changes)).rejects.toMatchObject(FAILED)
    await expect(signIn(credential)).resolves.toMatchObject({ user: { userId: user.userId } })
  })

  test('accepts a challenge once, within 5 minutes, and from the browser that began', async () => {
    const { request } = await signIn(credential)
    await expect(passkeys().completePasskeySignIn(request, guest())).rejects.toMatchObject(FAILED)
    const [mine, theirs] = [await begin(), await begin()]
    // The signature is for the challenge of the other browser.
    await expect(signIn(credential, { ...mine, browserSecret: theirs.browserSecret })).rejects.toMatchObject(FAILED)
    const late = await begin()
    await setup.database.db.query('update passkey_challenge set expire_time = now()')
    await expect(signIn(credential, late)).rejects.toMatchObject(FAILED)
    const registration = await passkeys().beginPasskeyRegistration({ origin: ORIGIN }, callOf(user))
    await expect(signIn(credential, registration)).rejects.toMatchObject(FAILED)
  })

  test('rejects a counter that did not increase, unless the authenticator does not count', async () => {
    const other = await setup.createUser({}, PASSWORD)
    const { credential: counting } = await register(other)
    await signIn(counting, { counter: 10 })
    for (const counter of [10, 9, 0]) await expect(signIn(counting, { counter })).rejects.toMatchObject(FAILED)
    await expect(signIn(counting, { counter: 11 })).resolves.toBeDefined()
    const { credential: constant } = await register(other, { counter: 0 })
    for (let i = 0; i < 2; i++) await expect(signIn(constant, { counter: 0 })).resolves.toBeDefined()
    // Two uses of one counter at the same time are a copy of the authenticator.
    const results = await Promise.allSettled(Array.from({ length: 3 }, () => signIn(counting, { counter: 12 })))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('is rejected for users of an inactive organisation', async () => {
    const organisationId = await setup.createOrganisation('Inactive')
    const other = await setup.createUser({ organisationId }, PASSWORD)
    const { credential: inactive } = await register(other)
    const organisation = Organisation.fromPartial({ organisationId, status: OrganisationStatus.ORGANISATION_STATUS_INACTIVE })
    await setup.auth.organisations.updateOrganisation({ organisation, updateMask: ['status'] }, setup.system)
    await expect(signIn(inactive)).rejects.toMatchObject({ kind: 'forbidden', reason: 'ORGANISATION_INACTIVE' })
  })

  test('is rejected after the passkey was deleted', async () => {
    const other = await setup.createUser({}, PASSWORD)
    const { credential: deleted, passkey } = await register(other)
    const passkeyId = passkey?.passkeyId ?? ''
    for (const call of [setup.system, setup.uploader(), setup.standard()])
      await expect(passkeys().deletePasskey({ passkeyId }, call)).rejects.toMatchObject({ reason: 'PASSKEY_NOT_FOUND' })
    await passkeys().deletePasskey({ passkeyId }, callOf(other))
    await expect(signIn(deleted)).rejects.toMatchObject(FAILED)
    for (const id of [passkeyId, '0', 'x', ''])
      await expect(passkeys().deletePasskey({ passkeyId: id }, callOf(other))).rejects.toMatchObject({ reason: 'PASSKEY_NOT_FOUND' })
  })
})

describe('a passkey that is required in addition to the password', () => {
  let user: User
  let credential: SoftwareCredential
  beforeAll(async () => {
    user = await setup.createUser({}, PASSWORD)
    await expect(requirePasskey(user)).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'NO_PASSKEY' })
    ;({ credential } = await register(user))
    expect((await passkeys().getSignInSettings({}, callOf(user))).settings).toEqual({ passkeyRequired: false })
    expect((await requirePasskey(user)).settings).toEqual({ passkeyRequired: true })
  })

  test('is only requested after the right password', async () => {
    await expect(signInByPassword(user.email)).rejects.toMatchObject({ kind: 'forbidden', reason: 'PASSKEY_REQUIRED' })
    for (const [email, password] of [
      [user.email, 'wrong'],
      ['no-one@example.org', PASSWORD],
    ] as const) {
      await expect(signInByPassword(email, password)).rejects.toMatchObject({ kind: 'forbidden', reason: 'SIGN_IN_FAILED' })
      await expect(begin({ email, password })).rejects.toMatchObject({ kind: 'forbidden', reason: 'SIGN_IN_FAILED' })
    }
    expect((await passkeys().getSignInSettings({}, callOf(user))).settings).toEqual({ passkeyRequired: true })
  })

  test('completes the sign-in that began with the password, also if the authenticator does not name the user', async () => {
    const credentials = { email: user.email, password: PASSWORD }
    const started = await begin(credentials)
    expect(started.allowed).toEqual([{ credentialId: credential.credentialId, transports: ['internal'] }])
    const { value } = await signIn(credential, {}, credentials)
    expect(await setup.authenticate(value)).toMatchObject({ userId: user.userId })
    await expect(signIn(credential, { userHandle: undefined }, credentials)).resolves.toBeDefined()
    // A verified passkey is two factors by itself.
    await expect(signIn(credential)).resolves.toMatchObject({ user: { userId: user.userId } })
  })

  test('must be one of the user of the password', async () => {
    const other = await setup.createUser({}, PASSWORD)
    const { credential: foreign } = await register(other)
    await expect(signIn(foreign, {}, { email: user.email, password: PASSWORD })).rejects.toMatchObject(FAILED)
    const none = await setup.createUser({}, PASSWORD)
    await expect(begin({ email: none.email, password: PASSWORD })).rejects.toMatchObject({
      kind: 'failed_precondition',
      reason: 'NO_PASSKEY',
    })
  })

  test.each([
    ['', PASSWORD],
    ['x'.repeat(255), PASSWORD],
    ['ann@example.org', ''],
  ])('is not requested for the address %j with the password %j', async (email, password) => {
    await expect(begin({ email, password })).rejects.toMatchObject({ reason: 'INVALID_INPUT' })
  })

  test('is required after a password reset too', async () => {
    const { db } = setup.database
    const secret = 'the secret of a link to user'
    await db.query(
      `insert into sign_in_link (user_id, purpose, secret_hash, expire_time)
       values ($1, 'password_reset', sha256($2::text::bytea), now() + interval '1 hour')`,
      [user.userId, secret],
    )
    const { value } = await signIn(credential)
    const use = () =>
      setup.auth.signInLinks.useSignInLink({ secret, password: 'another long password', address: '', userAgent: '' }, guest())
    await expect(use()).rejects.toMatchObject({ kind: 'forbidden', reason: 'PASSKEY_REQUIRED' })
    await expect(setup.authenticate(value)).rejects.toMatchObject({ reason: 'KEY_REVOKED' })
    expect((await setup.auth.sessions.listSessions({}, callOf(user))).sessions).toEqual([])
    await expect(use()).rejects.toMatchObject({ reason: 'LINK_INVALID' })
    await expect(signInByPassword(user.email)).rejects.toMatchObject({ reason: 'SIGN_IN_FAILED' })
    await expect(signInByPassword(user.email, 'another long password')).rejects.toMatchObject({ reason: 'PASSKEY_REQUIRED' })
    await expect(signIn(credential, {}, { email: user.email, password: 'another long password' })).resolves.toBeDefined()
  })

  test('cannot be the last one that is deleted', async () => {
    const other = await setup.createUser({}, PASSWORD)
    const [first, second] = [await register(other), await register(other)]
    await requirePasskey(other)
    const remove = (one: typeof first) => passkeys().deletePasskey({ passkeyId: one.passkey?.passkeyId ?? '' }, callOf(other))
    await remove(first)
    await expect(remove(second)).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'LAST_PASSKEY' })
    await requirePasskey(other, false)
    await remove(second)
    await expect(signInByPassword(other.email)).resolves.toBeDefined()
  })

  test('is reset by super users of the organisation and by system users, which ends all sessions', async () => {
    const other = await setup.createUser({}, PASSWORD)
    const { credential: lost } = await register(other)
    await requirePasskey(other)
    const { value } = await signIn(lost)
    const { userId } = other
    const reset = (call: Call, id = userId) => passkeys().deleteUserPasskeys({ userId: id }, call)
    await expect(reset(callOf(other))).rejects.toMatchObject({ reason: 'SUPER_USER_ONLY' })
    await expect(reset(guest())).rejects.toMatchObject({ kind: 'unauthenticated' })
    for (const id of [userId, '999999', 'x', ''])
      await expect(reset(as('standard', setup.org.two, setup.users.foreign), id)).rejects.toMatchObject({ reason: 'USER_NOT_FOUND' })
    const system = await setup.createUser({ userType: UserType.USER_TYPE_SYSTEM })
    await expect(reset(setup.standard(), system.userId)).rejects.toMatchObject({ reason: 'SYSTEM_ONLY' })
    await reset(setup.system, system.userId)
    const started = await begin({ email: other.email, password: PASSWORD })
    await reset(setup.standard())
    expect(await list(other)).toEqual([])
    await expect(setup.authenticate(value)).rejects.toMatchObject({ reason: 'KEY_REVOKED' })
    await expect(signIn(lost, started)).rejects.toMatchObject(FAILED)
    await expect(signInByPassword(other.email)).resolves.toBeDefined()
    await reset(setup.standard())
  })
})

describe('a session that began more than 5 minutes ago', () => {
  const STALE = { kind: 'forbidden', reason: 'RECENT_SIGN_IN_REQUIRED' }
  /** Signs a new user in, and returns a call with the session. */
  async function createSession(minutesAgo: number, userType: UserType = UserType.USER_TYPE_UPLOADER) {
    const user = await setup.createUser({ userType }, PASSWORD)
    const { passkey } = await register(user)
    const { session } = await signInByPassword(user.email)
    const { organisationId, userId } = user
    await setup.database.db.query(`update api_key set create_time = now() - $2::int * interval '1 minute' where api_key_id = $1`, [
      session?.sessionId,
      minutesAgo,
    ])
    const kind = userType === UserType.USER_TYPE_STANDARD ? 'standard' : 'uploader'
    return { user, passkeyId: passkey?.passkeyId ?? '', call: as(kind, organisationId, userId, session?.sessionId) }
  }
  const require = (passkeyRequired: boolean, call: Call) => passkeys().updateSignInSettings({ settings: { passkeyRequired } }, call)

  test('neither adds nor deletes passkeys, and does not switch off that one is required', async () => {
    const { user, passkeyId, call } = await createSession(6)
    await expect(passkeys().beginPasskeyRegistration({ origin: ORIGIN }, call)).rejects.toMatchObject(STALE)
    await expect(passkeys().deletePasskey({ passkeyId }, call)).rejects.toMatchObject(STALE)
    // The setting is off, so this request changes nothing.
    await require(false, call)
    await require(true, call)
    const error = await require(false, call).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ ...STALE, message: expect.stringMatching(/sign in again with your password or a passkey/) })
    expect((await passkeys().getSignInSettings({}, call)).settings).toEqual({ passkeyRequired: true })
    expect(await list(user)).toMatchObject([{ passkeyId }])
  })

  test('does not reset the passkeys of its own user, but those of others', async () => {
    const { user, call } = await createSession(6, UserType.USER_TYPE_STANDARD)
    await expect(passkeys().deleteUserPasskeys({ userId: user.userId }, call)).rejects.toMatchObject(STALE)
    const other = await setup.createUser({ organisationId: user.organisationId }, PASSWORD)
    await register(other)
    await passkeys().deleteUserPasskeys({ userId: other.userId }, call)
    expect([(await list(user)).length, await list(other)]).toEqual([1, []])
  })

  test('differs from a recent one, and from an API key, which change all of it', async () => {
    const { user, passkeyId, call } = await createSession(4)
    await passkeys().beginPasskeyRegistration({ origin: ORIGIN }, call)
    await require(true, call)
    await require(false, call)
    await passkeys().deletePasskey({ passkeyId }, call)
    const { passkey } = await register(user)
    await passkeys().deletePasskey({ passkeyId: passkey?.passkeyId ?? '' }, callOf(user))
    expect(await list(user)).toEqual([])
  })
})
