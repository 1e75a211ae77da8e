// Faults: A5
import { afterAll, expect, test } from '@jest/globals'
import type { Call } from '@vitascope/grpc'
import { ListEntriesRequest } from '@vitascope/proto/auth/v1/audit'
import { Organisation } from '@vitascope/proto/auth/v1/organisation'
import { ThirdPartyTokenAttribute } from '@vitascope/proto/auth/v1/third_party_token'
import { User, UserType } from '@vitascope/proto/auth/v1/user'
import { errorWith, page, startAuth } from './auth-setup.ts'
import { as, by, SYSTEM_KEY } from './test-auth.ts'

const fixture = await startAuth()
const { auth, database, system, org, users, keys, createUser, createKey, authenticate, standard, uploader } = fixture
afterAll(fixture.close)

const guest = () => by({ kind: 'guest' })
const keyRequired = errorWith('unauthenticated', 'KEY_REQUIRED')
const systemOnly = errorWith('forbidden', 'SYSTEM_ONLY')
const superUserOnly = errorWith('forbidden', 'SUPER_USER_ONLY')
const serviceOnly = errorWith('forbidden', 'SERVICE_ONLY')
const anyUser = () => User.fromPartial({ userId: users.foreign, organisationId: org.one, firstName: 'X', lastName: 'Y', email: 'x@y' })

const calls: [string, (call: Call) => Promise<unknown>, { guest: unknown; uploader: unknown; standard: unknown }][] = [
  ['listOrganisations', (c) => auth.organisations.listOrganisations({ ...page, activeOnly: false }, c), all(systemOnly)],
  ['createOrganisation', (c) => auth.organisations.createOrganisation({ name: 'X' }, c), all(systemOnly)],
  [
    'updateOrganisation',
    (c) =>
      auth.organisations.updateOrganisation(
        { organisation: Organisation.fromPartial({ organisationId: org.one, name: 'X' }), updateMask: ['name'] },
        c,
      ),
    all(systemOnly),
  ],
  ['getUserByEmail', (c) => auth.users.getUserByEmail({ email: 'ann1@example.org' }, c), all(systemOnly)],
  ['listUserSummaries', (c) => auth.users.listUserSummaries({ userIds: [users.standard] }, c), { ...all(serviceOnly), guest: serviceOnly }],
  ['deleteUser', (c) => auth.users.deleteUser({ userId: users.foreign }, c), all(systemOnly)],
  ['getThirdPartyToken', (c) => auth.thirdPartyTokens.getThirdPartyToken({ thirdPartyTokenId: '1' }, c), all(systemOnly)],
  [
    'findThirdPartyToken',
    (c) => auth.thirdPartyTokens.findThirdPartyToken({ attribute: ThirdPartyTokenAttribute.THIRD_PARTY_TOKEN_ATTRIBUTE_ID, value: '1' }, c),
    all(systemOnly),
  ],
  ['appendEntries', (c) => auth.audit.appendEntries({ entries: [], outcomes: [] }, c), { ...all(serviceOnly), guest: serviceOnly }],
  [
    'listEntries of another organisation',
    (c) => auth.audit.listEntries(ListEntriesRequest.fromPartial({ organisationId: org.two }), c),
    { ...all(superUserOnly), standard: errorWith('forbidden', 'FOREIGN_ORGANISATION') },
  ],
  ['createApiKey', (c) => createKey(users.standard, {}, c), all(systemOnly)],
  ['listApiKeys', (c) => auth.apiKeys.listApiKeys({ owner: { $case: 'userId', value: users.uploader }, ...page }, c), all(systemOnly)],
  ['regenerateApiKey', (c) => auth.apiKeys.regenerateApiKey({ key: keys.standard }, c), all(systemOnly)],
  ['authenticate', (c) => auth.apiKeys.authenticate({ key: keys.standard }, c), { ...all(serviceOnly), guest: serviceOnly }],
  ['registerResources', (c) => auth.accessList.registerResources({ resources: [] }, c), { ...all(serviceOnly), guest: serviceOnly }],
  [
    'listUsers',
    (c) => auth.users.listUsers({ organisationId: org.two, ...page }, c),
    { ...all(superUserOnly), standard: errorWith('forbidden', 'FOREIGN_ORGANISATION') },
  ],
  [
    'createUser in another organisation',
    (c) => auth.users.createUser({ user: { ...anyUser(), organisationId: org.two } }, c),
    { ...all(superUserOnly), standard: errorWith('forbidden', 'FOREIGN_ORGANISATION') },
  ],
  [
    'createUser of type system',
    (c) => auth.users.createUser({ user: { ...anyUser(), userType: UserType.USER_TYPE_SYSTEM } }, c),
    { ...all(superUserOnly), standard: systemOnly },
  ],
  [
    'updateUser of another organisation',
    (c) => auth.users.updateUser({ user: anyUser(), updateMask: ['first_name'] }, c),
    { ...all(superUserOnly), standard: errorWith('not_found', 'USER_NOT_FOUND') },
  ],
  [
    'revokeApiKey of another organisation',
    (c) => auth.apiKeys.revokeApiKey({ key: keys.foreign }, c),
    { ...all(superUserOnly), standard: errorWith('not_found', 'API_KEY_NOT_FOUND') },
  ],
]
function all(rejection: unknown) {
  return { guest: keyRequired, uploader: rejection, standard: rejection }
}

test.each(calls)('%s is rejected for callers without permission, and changes nothing', async (_, work, expected) => {
  const before = await state()
  await expect(work(guest())).rejects.toEqual(expected.guest)
  await expect(work(uploader())).rejects.toEqual(expected.uploader)
  await expect(work(standard())).rejects.toEqual(expected.standard)
  expect(await state()).toEqual(before)
})

async function state() {
  const rows: unknown[] = []
  for (const table of ['organisation', 'users', 'api_key', 'resource'])
    rows.push(await database.db.query(`select * from ${table} order by 1`))
  return rows
}

test('a foreign user or organisation returns the same error as a missing one', async () => {
  const response = (work: Promise<unknown>, id: string) =>
    work.then(
      () => 'there',
      (error: Error & { kind: string; reason: string }) =>
        `${error.kind} ${error.reason} ${id ? error.message.replace(id, 'ID') : error.message}`,
    )
  for (const call of [standard(), uploader()]) {
    for (const missing of ['4000000', 'x', '', '0', '-1', '1e3', '9'.repeat(30), 'a\0b']) {
      expect(await response(auth.organisations.getOrganisation({ organisationId: org.two }, call), org.two)).toBe(
        'not_found ORGANISATION_NOT_FOUND no organisation ID',
      )
      expect(await response(auth.organisations.getOrganisation({ organisationId: missing }, call), missing)).toContain(
        'not_found ORGANISATION_NOT_FOUND no organisation',
      )
      expect(await response(auth.users.getUser({ userId: missing }, call), missing)).toContain('not_found USER_NOT_FOUND no user')
    }
    expect(await response(auth.users.getUser({ userId: users.foreign }, call), users.foreign)).toBe('not_found USER_NOT_FOUND no user ID')
  }
})

test('a user reads its own organisation, an uploader only itself, and a super user the users of its organisation', async () => {
  expect((await auth.organisations.getOrganisation({ organisationId: org.one }, uploader())).organisation?.name).toBe('One')
  expect((await auth.users.getUser({ userId: users.uploader }, uploader())).user?.userId).toBe(users.uploader)
  await expect(auth.users.getUser({ userId: users.standard }, uploader())).rejects.toEqual(errorWith('not_found', 'USER_NOT_FOUND'))
  expect((await auth.users.getUser({ userId: users.uploader }, standard())).user?.userId).toBe(users.uploader)
  const { users: listed } = await auth.users.listUsers({ organisationId: org.one, ...page }, standard())
  expect(listed.map((user) => user.userId)).toEqual(expect.arrayContaining([users.uploader, users.standard]))
  expect(new Set(listed.map((user) => user.organisationId))).toEqual(new Set([org.one]))
})

test('a super user in the system organisation cannot change system users', async () => {
  const superUser = await createUser({ organisationId: '1', userType: UserType.USER_TYPE_STANDARD })
  const call = as('standard', '1', superUser.userId)
  const { user: first } = await auth.users.getUserByEmail({ email: 'SYSTEM@localhost' }, system)
  const change = (user: Partial<User>, mask: string[]) => auth.users.updateUser({ user: User.fromPartial(user), updateMask: mask }, call)
  await expect(change({ ...first, email: 'mine@example.org' }, ['email'])).rejects.toEqual(systemOnly)
  await expect(auth.apiKeys.revokeApiKey({ key: SYSTEM_KEY }, call)).rejects.toEqual(systemOnly)
  const plain = await createUser({ organisationId: '1' })
  await expect(change({ ...plain, userType: UserType.USER_TYPE_SYSTEM }, ['user_type'])).rejects.toEqual(systemOnly)
  expect(await authenticate(SYSTEM_KEY)).toMatchObject({ organisationId: '1' })
})

test('users cannot change their own rights, but super users can change their own name', async () => {
  const own = standard()
  const user = User.fromPartial({ userId: users.standard, userType: UserType.USER_TYPE_SYSTEM, firstName: 'Eve' })
  for (const field of ['user_type', 'status']) {
    await expect(auth.users.updateUser({ user, updateMask: [field] }, own)).rejects.toEqual(errorWith('forbidden', 'OWN_RIGHTS'))
  }
  expect((await auth.users.updateUser({ user, updateMask: ['first_name'] }, own)).user).toMatchObject({
    firstName: 'Eve',
    userType: UserType.USER_TYPE_STANDARD,
  })
})
