// Faults: A4
import { afterAll, expect, test } from '@jest/globals'
import { User, UserStatus, UserType } from '@vitascope/proto/auth/v1/user'
import { errorWith, invalidFields, startAuth } from './auth-setup.ts'
import { service, withIdempotency } from './test-auth.ts'

const fixture = await startAuth()
const { auth, system, org, users, createUser, createKey, authenticate, standard } = fixture
afterAll(fixture.close)

test('a created user has the fields that were sent, except those that only the service sets', async () => {
  const sent = {
    userId: '77',
    organisationId: org.one,
    firstName: ' Žofie 👩‍💻',
    lastName: "O'Neil",
    email: ' Zofie@Example.org ',
    userType: UserType.USER_TYPE_STANDARD,
    telephoneLand: '+420 1',
    invitedByUserId: users.foreign,
    createTime: new Date(0),
  }
  const created = await createUser(sent, undefined, standard())
  expect(created).toMatchObject({
    ...sent,
    userId: created.userId,
    email: 'Zofie@Example.org',
    invitedByUserId: users.standard,
    createTime: created.createTime,
  })
  expect(created.userId).not.toBe('77')
  expect(created.createTime?.getTime()).toBeGreaterThan(Date.now() - 60_000)
  expect((await auth.users.getUserByEmail({ email: 'zofie@EXAMPLE.org' }, system)).user).toEqual(created)
  await expect(createUser({ email: 'ZOFIE@example.org' })).rejects.toEqual(errorWith('exists', 'EMAIL_TAKEN'))
})

test.each([
  ['neither', {}, undefined, UserStatus.USER_STATUS_INVITED],
  ['a password', {}, 'long enough', UserStatus.USER_STATUS_ACTIVE],
  ['a password and invited', { status: UserStatus.USER_STATUS_INVITED }, 'long enough', UserStatus.USER_STATUS_ACTIVE],
  ['active', { status: UserStatus.USER_STATUS_ACTIVE }, undefined, UserStatus.USER_STATUS_ACTIVE],
])('a user created with %s has the matching status', async (_, overrides, password, status) => {
  expect((await createUser(overrides, password)).status).toBe(status)
})

test('a system caller can set the inviter', async () => {
  expect((await createUser({ invitedByUserId: users.foreign })).invitedByUserId).toBe(users.foreign)
  await expect(createUser({ invitedByUserId: '99999' })).rejects.toEqual(invalidFields('invited_by_user_id'))
})

test('every invalid field is reported at once', async () => {
  const user = User.fromPartial({
    organisationId: '',
    firstName: '',
    lastName: 'a\0b',
    email: 'no',
    telephoneLand: '1'.repeat(51),
    invitedByUserId: 'x',
  })
  await expect(auth.users.createUser({ user, password: 'short' }, system)).rejects.toEqual(
    invalidFields('organisation_id', 'first_name', 'last_name', 'email', 'telephone_land', 'password', 'invited_by_user_id'),
  )
  const updateMask = ['first_name', 'last_name', 'email', 'user_type', 'status', 'telephone_land', 'password']
  await expect(auth.users.updateUser({ user: { ...user, userId: users.uploader }, updateMask }, system)).rejects.toEqual(
    invalidFields('first_name', 'last_name', 'email', 'telephone_land', 'user_type', 'status', 'password'),
  )
  await expect(createUser({ organisationId: '99999' })).rejects.toEqual(errorWith('not_found', 'ORGANISATION_NOT_FOUND'))
})

test('an update changes the fields in its mask and nothing else', async () => {
  const before = await createUser({ telephoneLand: '1' })
  const user = { ...before, firstName: 'New', lastName: 'New', email: 'new@example.org', organisationId: org.two }
  const after = (await auth.users.updateUser({ user, updateMask: ['first_name', 'telephone_land'] }, standard())).user
  expect(after).toEqual({ ...before, firstName: 'New', updateTime: after?.updateTime })
  expect((await auth.users.updateUser({ user, updateMask: [] }, standard())).user).toEqual(after)
  await expect(auth.users.updateUser({ user, updateMask: ['organisation_id'] }, system)).rejects.toEqual(invalidFields('update_mask'))
})

test('deleting a user deletes its keys and frees its email address', async () => {
  const user = await createUser()
  const { value } = await createKey(user.userId)
  await auth.users.deleteUser({ userId: user.userId }, system)
  await expect(authenticate(value)).rejects.toEqual(errorWith('unauthenticated', 'KEY_UNKNOWN'))
  await expect(auth.users.deleteUser({ userId: user.userId }, system)).rejects.toEqual(errorWith('not_found', 'USER_NOT_FOUND'))
  expect((await createUser({ email: user.email })).userId).not.toBe(user.userId)
})

test('the last system user cannot be deleted or demoted', async () => {
  const { user } = await auth.users.getUserByEmail({ email: 'system@localhost' }, system)
  const last = errorWith('failed_precondition', 'LAST_SYSTEM_USER')
  await expect(auth.users.deleteUser({ userId: user?.userId ?? '' }, system)).rejects.toEqual(last)
  const demoted = User.fromPartial({ userId: user?.userId ?? '', userType: UserType.USER_TYPE_STANDARD })
  await expect(auth.users.updateUser({ user: demoted, updateMask: ['user_type'] }, system)).rejects.toEqual(last)
})

test('a retried creation creates no second user', async () => {
  const call = withIdempotency(system, 'c1')
  const one = await createUser({ email: 'once@example.org' }, undefined, call)
  expect(await createUser({ email: 'once@example.org' }, undefined, call)).toEqual(one)
  const other = { ...call, idempotency: { key: call.idempotency?.key ?? '', fingerprint: '0'.repeat(64) } }
  await expect(createUser({}, undefined, other)).rejects.toEqual(errorWith('failed_precondition', 'IDEMPOTENCY_MISMATCH'))
})

test('services read many users in one call, and missing users are omitted', async () => {
  const summaries = async (userIds: string[]) => (await auth.users.listUserSummaries({ userIds }, service())).summaries
  const deletedId = (await createUser()).userId
  await auth.users.deleteUser({ userId: deletedId }, system)
  const userSummaries = await summaries([users.uploader, users.foreign, users.foreign, deletedId, '', 'x', '9007199254740993'])
  const email = expect.stringContaining('@')
  expect(userSummaries.toSorted((a, b) => Number(a.userId) - Number(b.userId))).toEqual([
    { userId: users.uploader, organisationId: org.one, email, userType: UserType.USER_TYPE_UPLOADER },
    { userId: users.foreign, organisationId: org.two, email, userType: UserType.USER_TYPE_STANDARD },
  ])
  const ids = Array.from({ length: 1_000 }, (_, nth) => String(1_000_000 + nth))
  for (const count of [0, 999, 1_000]) expect(await summaries(ids.slice(0, count))).toEqual([])
  await expect(summaries([...ids, '1'])).rejects.toEqual(invalidFields('user_ids'))
})
