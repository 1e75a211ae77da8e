import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Organisation, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import { type User, UserType } from '@vitascope/proto/auth/v1/user'
import { startAuth } from './auth-setup.ts'
import { as, by } from './test-auth.ts'

let setup: Awaited<ReturnType<typeof startAuth>>
let email: string
let userId: string
const PASSWORD = 'correct horse battery'

beforeAll(async () => {
  setup = await startAuth()
  const user = await setup.createUser({ userType: UserType.USER_TYPE_STANDARD }, PASSWORD)
  ;({ email, userId } = user)
}, 60_000)
afterAll(() => setup.close())

const signIn = (fields: Partial<{ email: string; password: string; address: string; userAgent: string }> = {}) =>
  setup.auth.sessions.createSession(
    { email, password: PASSWORD, address: '192.0.2.7', userAgent: 'Firefox', ...fields },
    by({ kind: 'guest' }),
  )
const caller = () => as('standard', setup.org.one, userId)

test('a password creates a session with all permissions of the user, which only the user sees', async () => {
  const { session, value, user } = await signIn({ email: ` ${email.toUpperCase()} ` })
  expect(user).toMatchObject({ userId, email })
  const hours = ((session?.expireTime?.getTime() ?? 0) - Date.now()) / 3_600_000
  expect(hours).toBeGreaterThan(11.9)
  expect(hours).toBeLessThanOrEqual(12)
  const identity = await setup.authenticate(value)
  expect(identity).toMatchObject({ apiKeyId: session?.sessionId, userId, organisationId: setup.org.one })
  expect(identity.resources.toSorted()).toEqual(['user::post', 'video::get', 'video::post'])
  const { sessions } = await setup.auth.sessions.listSessions({}, caller())
  expect(sessions.at(-1)).toMatchObject({ sessionId: session?.sessionId, address: '192.0.2.7', userAgent: 'Firefox' })
  const { apiKeys } = await setup.auth.apiKeys.listApiKeys(
    { owner: { $case: 'userId', value: userId }, pageSize: 0, pageToken: '', skip: 0 },
    setup.system,
  )
  expect(apiKeys).toEqual([])
  expect((await setup.auth.sessions.listSessions({}, setup.uploader())).sessions).toEqual([])
})

test.each([
  ['a wrong password', { password: 'correct horse' }],
  ['an unknown address', { email: 'no-one@example.org' }],
  ['an address that cannot be stored', { email: 'a\0b' }],
  ['an empty password', { password: '' }],
])('%s is rejected with the same error', async (_, fields) => {
  await expect(signIn(fields)).rejects.toMatchObject({ kind: 'forbidden', reason: 'SIGN_IN_FAILED' })
})

test('a user without a password cannot sign in', async () => {
  const invited = await setup.createUser()
  await expect(signIn({ email: invited.email, password: '' })).rejects.toMatchObject({ reason: 'SIGN_IN_FAILED' })
})

test('a session is ended by its user only, and then rejected', async () => {
  const { session, value } = await signIn()
  const sessionId = session?.sessionId ?? ''
  for (const other of [setup.uploader(), setup.system, as('standard', setup.org.two, setup.users.foreign)])
    await expect(setup.auth.sessions.deleteSession({ sessionId }, other)).rejects.toMatchObject({ reason: 'USER_SESSION_NOT_FOUND' })
  for (const id of ['0', 'x', '999999', ''])
    await expect(setup.auth.sessions.deleteSession({ sessionId: id }, caller())).rejects.toMatchObject({ reason: 'USER_SESSION_NOT_FOUND' })
  await setup.auth.sessions.deleteSession({ sessionId }, caller())
  await expect(setup.authenticate(value)).rejects.toMatchObject({ reason: 'KEY_REVOKED' })
  await expect(setup.auth.sessions.deleteSession({ sessionId }, caller())).rejects.toMatchObject({ reason: 'USER_SESSION_NOT_FOUND' })
})

test('an API key cannot be ended as a session', async () => {
  const key = await setup.createKey(userId)
  const sessionId = key.apiKeyId
  await expect(setup.auth.sessions.deleteSession({ sessionId }, caller())).rejects.toMatchObject({ reason: 'USER_SESSION_NOT_FOUND' })
  expect((await setup.authenticate(key.value)).apiKeyId).toBe(sessionId)
})

test('a new password ends all sessions of the user', async () => {
  const other = await setup.createUser({}, PASSWORD)
  const { value } = await signIn({ email: other.email })
  await setup.auth.users.updateUser({ user: { ...other }, updateMask: ['password'], password: 'another long password' }, setup.system)
  await expect(setup.authenticate(value)).rejects.toMatchObject({ reason: 'KEY_REVOKED' })
  await expect(signIn({ email: other.email })).rejects.toMatchObject({ reason: 'SIGN_IN_FAILED' })
  const next = await signIn({ email: other.email, password: 'another long password' })
  await expect(setup.authenticate(next.value)).resolves.toMatchObject({ userId: other.userId })
})

/** Signs a user in. Returns the value of the session and its calls. */
async function openSession(user: User) {
  const { session, value } = await signIn({ email: user.email })
  return { value, call: as('uploader', user.organisationId, user.userId, session?.sessionId) }
}

test('a session changes its own user, and a new password ends the other sessions only', async () => {
  const user = await setup.createUser({}, PASSWORD)
  const [own, other] = [await openSession(user), await openSession(user)]
  const change = (fields: Parameters<typeof setup.auth.sessions.updateOwnUser>[0], { call } = own) =>
    setup.auth.sessions.updateOwnUser(fields, call)
  const renamed = (await change({ firstName: 'New', telephoneLand: '' })).user
  expect(renamed).toEqual({ ...user, firstName: 'New', telephoneLand: '', updateTime: renamed?.updateTime })
  expect((await change({})).user).toEqual(renamed)
  await expect(setup.authenticate(other.value)).resolves.toMatchObject({ userId: user.userId })
  await change({ password: 'another long password' })
  await expect(setup.authenticate(own.value)).resolves.toMatchObject({ userId: user.userId })
  await expect(setup.authenticate(other.value)).rejects.toMatchObject({ reason: 'KEY_REVOKED' })
  await expect(signIn({ email: user.email })).rejects.toMatchObject({ reason: 'SIGN_IN_FAILED' })
  await expect(signIn({ email: user.email, password: 'another long password' })).resolves.toMatchObject({ user: { firstName: 'New' } })
  await expect(
    change({ firstName: '', lastName: 'x'.repeat(101), telephoneLand: 'x'.repeat(51), password: 'short' }),
  ).rejects.toMatchObject({
    fields: ['first_name', 'last_name', 'telephone_land', 'password'].map((field) => ({ field })),
  })
})

test('an old session changes the name of its user, but neither password nor email address', async () => {
  const user = await setup.createUser({ userType: UserType.USER_TYPE_STANDARD }, PASSWORD)
  const { call } = await openSession(user)
  const { keyId } = call.principal as { keyId: string }
  await setup.database.db.query(`update api_key set create_time = now() - interval '6 minutes' where api_key_id = $1`, [keyId])
  const required = { kind: 'forbidden', reason: 'RECENT_SIGN_IN_REQUIRED' }
  await setup.auth.sessions.updateOwnUser({ lastName: 'New' }, call)
  await expect(setup.auth.sessions.updateOwnUser({ password: 'another long password' }, call)).rejects.toMatchObject(required)
  const standardCall = as('standard', user.organisationId, user.userId, keyId)
  const update = (fields: Partial<User>, updateMask: string[], password?: string) =>
    setup.auth.users.updateUser({ user: { ...user, ...fields }, updateMask, password }, standardCall)
  await expect(update({}, ['password'], 'another long password')).rejects.toMatchObject(required)
  await expect(update({ email: `new-${user.email}` }, ['email'])).rejects.toMatchObject(required)
  await expect(update({ firstName: 'Renamed' }, ['first_name'])).resolves.toMatchObject({ user: { firstName: 'Renamed' } })
  await expect(signIn({ email: user.email })).resolves.toMatchObject({ user: { lastName: 'New' } })
})

test('neither an API key nor a user of an identity provider sets its own password', async () => {
  const user = await setup.createUser({}, PASSWORD)
  const key = await setup.createKey(user.userId)
  const call = as('uploader', user.organisationId, user.userId, key.apiKeyId)
  for (const fields of [{ firstName: 'New' }, { password: 'another long password' }])
    await expect(setup.auth.sessions.updateOwnUser(fields, call)).rejects.toMatchObject({ reason: 'USER_SESSION_NOT_FOUND' })
  const session = await openSession(user)
  await setup.database.db.query(
    `insert into oidc_identity (issuer, subject, user_id, is_provisioned) values ('https://id.example', 'one', $1, true)`,
    [user.userId],
  )
  await expect(setup.auth.sessions.updateOwnUser({ password: 'another long password' }, session.call)).rejects.toMatchObject({
    kind: 'failed_precondition',
    reason: 'PASSWORD_NOT_ALLOWED',
  })
  await expect(setup.auth.sessions.updateOwnUser({ firstName: 'New' }, session.call)).resolves.toMatchObject({ user: { firstName: 'New' } })
})

test('a user of an identity provider gets no password by a change of the user', async () => {
  const user = await setup.createUser({ userType: UserType.USER_TYPE_STANDARD }, PASSWORD)
  const { call } = await openSession(user)
  const { keyId } = call.principal as { keyId: string }
  await setup.database.db.query(
    `insert into oidc_identity (issuer, subject, user_id, is_provisioned) values ('https://id.example', 'two', $1, true)`,
    [user.userId],
  )
  for (const requester of [as('standard', user.organisationId, user.userId, keyId), setup.system]) {
    const setPassword = setup.auth.users.updateUser({ user, updateMask: ['password'], password: 'another long password' }, requester)
    await expect(setPassword).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'PASSWORD_NOT_ALLOWED' })
    const rename = setup.auth.users.updateUser({ user: { ...user, firstName: 'New' }, updateMask: ['first_name'] }, requester)
    await expect(rename).resolves.toMatchObject({ user: { firstName: 'New' } })
  }
})

test('a session expires, and a user has at most 100, of which the oldest is ended', async () => {
  const other = await setup.createUser({}, PASSWORD)
  const { db } = setup.database
  const { value: expired } = await signIn({ email: other.email })
  await db.query(`update api_key set expire_time = now() where user_id = $1`, [other.userId])
  await expect(setup.authenticate(expired)).rejects.toMatchObject({ reason: 'KEY_EXPIRED' })
  const { value: oldest } = await signIn({ email: other.email })
  expect(await db.query('select from api_key where user_id = $1', [other.userId])).toHaveLength(1)
  await db.query(
    `with added as (insert into api_key (user_id, application_name, lookup, sealed_value, all_resources, expire_time)
       select $1, 'session', int4send(n), '', true, now() + interval '1 hour' from generate_series(1, 99) n returning api_key_id)
     insert into session (api_key_id, address, user_agent) select api_key_id, '', '' from added`,
    [other.userId],
  )
  const { value: newest } = await signIn({ email: other.email })
  await expect(setup.authenticate(oldest)).rejects.toMatchObject({ reason: 'KEY_UNKNOWN' })
  await expect(setup.authenticate(newest)).resolves.toMatchObject({ userId: other.userId })
  expect((await setup.auth.sessions.listSessions({}, as('uploader', setup.org.one, other.userId))).sessions).toHaveLength(100)
})

test('users of an inactive organisation cannot sign in', async () => {
  const organisationId = await setup.createOrganisation('Three')
  const other = await setup.createUser({ organisationId }, PASSWORD)
  const organisation = Organisation.fromPartial({ organisationId, status: OrganisationStatus.ORGANISATION_STATUS_INACTIVE })
  await setup.auth.organisations.updateOrganisation({ organisation, updateMask: ['status'] }, setup.system)
  await expect(signIn({ email: other.email })).rejects.toMatchObject({ kind: 'forbidden', reason: 'ORGANISATION_INACTIVE' })
})

test('only users have sessions', async () => {
  for (const call of [by({ kind: 'guest' })])
    await expect(setup.auth.sessions.listSessions({}, call)).rejects.toMatchObject({ kind: 'unauthenticated' })
})
