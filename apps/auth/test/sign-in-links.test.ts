import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Organisation, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import { type User, UserStatus, UserType } from '@vitascope/proto/auth/v1/user'
import { makeLinkSecret } from '../src/sign-in-link/sign-in-link.ts'
import { replaceFirstUserLink, signInLinkRetention } from '../src/sign-in-link/sign-in-link-store.ts'
import { invalidFields, startAuth } from './auth-setup.ts'
import { as, by } from './test-auth.ts'

let setup: Awaited<ReturnType<typeof startAuth>>
const PASSWORD = 'correct horse battery'
beforeAll(async () => {
  setup = await startAuth()
}, 60_000)
afterAll(() => setup.close())

/** Stores a link as if it had been sent. Returns its secret. */
async function createLink(userId: string, validFor = '1 hour'): Promise<string> {
  const secret = randomBytes(32).toString('base64url')
  await setup.database.db.query(
    `insert into sign_in_link (user_id, purpose, secret_hash, expire_time) values ($1, 'password_reset', $2, now() + $3::interval)`,
    [userId, createHash('sha256').update(secret).digest(), validFor],
  )
  return secret
}

const use = (secret: string, fields: Partial<{ password: string; firstName: string; email: string }> = {}) =>
  setup.auth.signInLinks.useSignInLink(
    { secret, password: PASSWORD, address: '192.0.2.7', userAgent: 'Firefox', ...fields },
    by({ kind: 'guest' }),
  )
const signIn = (email: string, password = PASSWORD) =>
  setup.auth.sessions.createSession({ email, password, address: '', userAgent: '' }, by({ kind: 'guest' }))
const LINK_INVALID = { kind: 'forbidden', reason: 'LINK_INVALID' }

test('a link sets the password once, makes the user active, and ends its other sessions and links', async () => {
  const invited = await setup.createUser()
  const [link, other] = [await createLink(invited.userId), await createLink(invited.userId)]
  const { session, value, user } = await use(link, { firstName: 'Grace' })
  expect(user).toMatchObject({ userId: invited.userId, firstName: 'Grace', lastName: 'Lee', status: UserStatus.USER_STATUS_ACTIVE })
  expect(session).toMatchObject({ userId: invited.userId, address: '192.0.2.7', userAgent: 'Firefox' })
  expect(await setup.authenticate(value)).toMatchObject({ userId: invited.userId })
  for (const secret of [link, other]) await expect(use(secret)).rejects.toMatchObject(LINK_INVALID)
  const next = await signIn(invited.email)
  await use(await createLink(invited.userId), { password: 'another long password' })
  for (const ended of [value, next.value]) await expect(setup.authenticate(ended)).rejects.toMatchObject({ kind: 'unauthenticated' })
  await expect(signIn(invited.email)).rejects.toMatchObject({ reason: 'SIGN_IN_FAILED' })
  await expect(signIn(invited.email, 'another long password')).resolves.toBeDefined()
})

test('of simultaneous uses one succeeds', async () => {
  const { userId } = await setup.createUser()
  const link = await createLink(userId)
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => use(link)))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('an expired, unknown or empty link is rejected, and a rejected request does not use it', async () => {
  const { userId } = await setup.createUser()
  for (const secret of [await createLink(userId, '-1 second'), 'unknown', '', '\0'])
    await expect(use(secret)).rejects.toMatchObject(LINK_INVALID)
  const link = await createLink(userId)
  await expect(use(link, { password: 'short', firstName: ' ', email: 'x' })).rejects.toEqual(
    invalidFields('first_name', 'email', 'password', 'email'),
  )
  await expect(use(link, { email: 'other@example.org' })).rejects.toEqual(invalidFields('email'))
  await expect(use(link)).resolves.toBeDefined()
})

test.each<[string, (user: User) => Promise<unknown>]>([
  ['address', (user) => updateUser({ ...user, email: `new-${user.email}` }, ['email'])],
  ['password', (user) => updateUser(user, ['password'], 'another long password')],
])('a new %s of the user ends its links', async (_, change) => {
  const user = await setup.createUser()
  const link = await createLink(user.userId)
  await updateUser({ ...user, firstName: 'Other' }, ['first_name'])
  await change(user)
  await expect(use(link)).rejects.toMatchObject(LINK_INVALID)
})

const updateUser = (user: User, updateMask: string[], password?: string) =>
  setup.auth.users.updateUser({ user, updateMask, password }, as('system'))

test('a link ends with its user, and does not work while the organisation is inactive', async () => {
  const organisationId = await setup.createOrganisation('Three')
  const user = await setup.createUser({ organisationId })
  const setStatus = (status: OrganisationStatus) =>
    setup.auth.organisations.updateOrganisation(
      { organisation: Organisation.fromPartial({ organisationId, status }), updateMask: ['status'] },
      setup.system,
    )
  const link = await createLink(user.userId)
  await setStatus(OrganisationStatus.ORGANISATION_STATUS_INACTIVE)
  await expect(use(link)).rejects.toMatchObject({ reason: 'ORGANISATION_INACTIVE' })
  await setStatus(OrganisationStatus.ORGANISATION_STATUS_ACTIVE)
  await expect(use(link)).resolves.toBeDefined()
  const last = await createLink(user.userId)
  await setup.auth.users.deleteUser({ userId: user.userId }, setup.system)
  await expect(use(last)).rejects.toMatchObject(LINK_INVALID)
})

test('expired links are removed after a day', async () => {
  const { db } = setup.database
  const { userId } = await setup.createUser()
  for (const validFor of ['-25 hours', '-23 hours', '1 hour']) await createLink(userId, validFor)
  await signInLinkRetention(db).remove(100, new AbortController().signal)
  expect(await db.query('select from sign_in_link where user_id = $1', [userId])).toHaveLength(2)
})

test('the first user is created by a link of its own, which a new one replaces and the first sign-in ends', async () => {
  const { db } = setup.database
  const createFirstLink = async () => {
    const { secret, secretHash } = makeLinkSecret()
    return { secret, isValid: await replaceFirstUserLink(db, { secretHash, hours: 24 }) }
  }
  // Earlier tests have signed in.
  expect(await createFirstLink()).toMatchObject({ isValid: false })
  const restart = () => db.query('update installation set first_sign_in_time = null')
  await restart()
  const [replaced, link] = [await createFirstLink(), await createFirstLink()]
  await expect(use(replaced.secret)).rejects.toMatchObject(LINK_INVALID)
  await expect(use(link.secret, { email: (await setup.createUser()).email })).rejects.toMatchObject({ reason: 'EMAIL_TAKEN' })
  const { user } = await use(link.secret)
  expect(user).toMatchObject({ organisationId: '1', email: 'admin@localhost', userType: UserType.USER_TYPE_SYSTEM })
  await expect(use(link.secret)).rejects.toMatchObject(LINK_INVALID)

  await restart()
  const unused = await createFirstLink()
  const other = await setup.createUser({}, PASSWORD)
  await signIn(other.email)
  await expect(use(unused.secret)).rejects.toMatchObject(LINK_INVALID)
})
