// Faults: A8
import { afterAll, expect, test } from '@jest/globals'
import { Organisation, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import { User, UserStatus, UserType } from '@vitascope/proto/auth/v1/user'
import { errorWith, invalidFields, page, startAuth } from './auth-setup.ts'
import { as, SYSTEM_KEY, service, withIdempotency } from './test-auth.ts'

const fixture = await startAuth()
const { auth, database, system, org, users, keys, createOrganisation, createUser, createKey, authenticate, standard } = fixture
afterAll(fixture.close)

test('the system key has every resource, including resources that are registered later', async () => {
  expect(await authenticate(SYSTEM_KEY)).toMatchObject({ organisationId: '1', userType: UserType.USER_TYPE_SYSTEM })
  await auth.accessList.registerResources({ resources: [{ aclId: 0, name: 'later::get', openToUsers: false }] }, service())
  const { resources } = await authenticate(SYSTEM_KEY)
  expect(resources).toEqual(['user::post', 'video::get', 'video::post', 'later::get'])
})

test('a key identifies its user, and its first use activates an invited user', async () => {
  const user = await createUser()
  expect(user.status).toBe(UserStatus.USER_STATUS_INVITED)
  const key = await createKey(user.userId, { resources: ['video::post', 'video::get', 'video::post'] })
  expect(key).toMatchObject({ userId: user.userId, organisationId: org.one, applicationName: 'a test', expireTime: undefined })
  expect(await authenticate(key.value)).toEqual({
    apiKeyId: key.apiKeyId,
    userId: user.userId,
    organisationId: org.one,
    userType: UserType.USER_TYPE_UPLOADER,
    resources: ['video::get', 'video::post'],
    expireTime: undefined,
  })
  expect((await auth.users.getUser({ userId: user.userId }, system)).user?.status).toBe(UserStatus.USER_STATUS_ACTIVE)
})

test('regenerating a key changes its value and nothing else', async () => {
  const expireTime = new Date(Date.now() + 3_600_000)
  const old = await createKey((await createUser()).userId, { expireTime })
  const { apiKey: replaced } = await auth.apiKeys.regenerateApiKey({ key: old.value }, system)
  expect(replaced).toEqual({ ...old, value: replaced?.value })
  expect(replaced?.value).not.toBe(old.value)
  await expect(authenticate(old.value)).rejects.toEqual(errorWith('unauthenticated', 'KEY_UNKNOWN'))
  expect(await authenticate(replaced?.value ?? '')).toMatchObject({ apiKeyId: old.apiKeyId, expireTime })
  await expect(auth.apiKeys.regenerateApiKey({ key: old.value }, system)).rejects.toEqual(errorWith('not_found', 'API_KEY_NOT_FOUND'))
})

test('a revoked key stays revoked, and revoking it again fails with not found', async () => {
  const { value, userId } = await createKey((await createUser()).userId)
  await auth.apiKeys.revokeApiKey({ key: value }, standard())
  await expect(authenticate(value)).rejects.toEqual(errorWith('unauthenticated', 'KEY_REVOKED'))
  const deleted = errorWith('not_found', 'API_KEY_NOT_FOUND')
  await expect(auth.apiKeys.revokeApiKey({ key: value }, standard())).rejects.toEqual(deleted)
  await expect(auth.apiKeys.regenerateApiKey({ key: value }, system)).rejects.toEqual(deleted)
  await expect(auth.apiKeys.getApiKey({ key: value }, system)).rejects.toEqual(deleted)
  expect((await auth.apiKeys.listApiKeys({ owner: { $case: 'userId', value: userId }, ...page }, system)).apiKeys).toEqual([])
})

test('an expired key is rejected but still listed', async () => {
  const { value, apiKeyId, userId } = await createKey((await createUser()).userId, { expireTime: new Date(Date.now() + 60_000) })
  await database.db.query('update api_key set expire_time = now() where api_key_id = $1', [apiKeyId])
  await expect(authenticate(value)).rejects.toEqual(errorWith('unauthenticated', 'KEY_EXPIRED'))
  expect((await auth.apiKeys.listApiKeys({ owner: { $case: 'userId', value: userId }, ...page }, system)).apiKeys).toHaveLength(1)
})

test('an error never contains the key', async () => {
  const value = `${keys.uploader.slice(0, -6)}000000`
  const errors = await Promise.all(
    [
      authenticate(value),
      auth.apiKeys.getApiKey({ key: value }, system),
      auth.apiKeys.revokeApiKey({ key: value }, system),
      auth.apiKeys.regenerateApiKey({ key: value }, system),
    ].map((work) => work.then(String, (error: Error) => `${error.message} ${error.stack}`)),
  )
  expect(errors.join()).not.toContain(value.slice(0, 12))
})

test('callers other than system users can read only their own key', async () => {
  const { apiKeyId, value } = await createKey(users.uploader)
  const own = as('uploader', org.one, users.uploader, apiKeyId)
  expect((await auth.apiKeys.getApiKey({ key: value }, own)).apiKey).toMatchObject({ apiKeyId, value, resources: ['video::get'] })
  for (const key of [keys.uploader, keys.foreign, 'junk', `vs_${'0'.repeat(38)}`]) {
    await expect(auth.apiKeys.getApiKey({ key }, own)).rejects.toEqual(errorWith('forbidden', 'OWN_KEY_ONLY'))
  }
  expect((await auth.apiKeys.getApiKey({ key: keys.foreign }, system)).apiKey?.userId).toBe(users.foreign)
})

test('creating a key reports every invalid field at once', async () => {
  const expected = { userId: users.uploader, applicationName: ' ', resources: ['user::post', 'no::such', 'a\0b'], expireTime: new Date(0) }
  await expect(auth.apiKeys.createApiKey(expected, system)).rejects.toEqual(invalidFields('application_name', 'resources', 'expire_time'))
  const closed = createKey(users.uploader, { resources: ['user::post'] })
  await expect(closed).rejects.toMatchObject({ fields: [{ field: 'resources', message: expect.stringContaining('user::post') }] })
  await expect(createKey('99999')).rejects.toEqual(errorWith('not_found', 'USER_NOT_FOUND'))
  await expect(createKey('x'.repeat(100_000))).rejects.toEqual(errorWith('not_found', 'USER_NOT_FOUND'))
})

test("a super user's key may have resources that are closed to uploaders, and loses them when the user becomes an uploader", async () => {
  const user = await createUser({ userType: UserType.USER_TYPE_STANDARD })
  const { value } = await createKey(user.userId, { resources: ['user::post', 'video::get'] })
  expect((await authenticate(value)).resources).toEqual(['user::post', 'video::get'])
  const demoted = User.fromPartial({ userId: user.userId, userType: UserType.USER_TYPE_UPLOADER })
  await auth.users.updateUser({ user: demoted, updateMask: ['user_type'] }, system)
  expect(await authenticate(value)).toMatchObject({ userType: UserType.USER_TYPE_UPLOADER, resources: ['video::get'] })
})

test('a list returns the keys page by page, with their values', async () => {
  const user = await createUser({ organisationId: org.two })
  const created = [await createKey(user.userId), await createKey(user.userId), await createKey(user.userId)]
  const owner = { $case: 'userId', value: user.userId } as const
  const first = await auth.apiKeys.listApiKeys({ owner, pageSize: 2, pageToken: '', skip: 0 }, system)
  const rest = await auth.apiKeys.listApiKeys({ owner, pageSize: 2, pageToken: first.nextPageToken, skip: 0 }, system)
  expect([...first.apiKeys, ...rest.apiKeys]).toEqual(created)
  expect(rest.nextPageToken).toBe('')
  const skipped = await auth.apiKeys.listApiKeys({ owner, pageSize: 0, pageToken: '', skip: 2 }, system)
  expect(skipped.apiKeys).toEqual(created.slice(2))
  const all = await auth.apiKeys.listApiKeys({ owner: { $case: 'organisationId', value: org.two }, ...page }, system)
  expect(all.apiKeys.map((key) => key.userId)).toEqual([users.foreign, user.userId, user.userId, user.userId])
  const missing = auth.apiKeys.listApiKeys({ owner: { $case: 'organisationId', value: '999' }, ...page }, system)
  await expect(missing).rejects.toEqual(errorWith('not_found', 'ORGANISATION_NOT_FOUND'))
})

test('the keys of an inactive organisation are rejected until it is active again', async () => {
  const organisationId = await createOrganisation('Sleeping')
  const { value } = await createKey((await createUser({ organisationId })).userId)
  const set = (status: OrganisationStatus) =>
    auth.organisations.updateOrganisation(
      { organisation: Organisation.fromPartial({ organisationId, status }), updateMask: ['status'] },
      system,
    )
  await set(OrganisationStatus.ORGANISATION_STATUS_INACTIVE)
  await expect(authenticate(value)).rejects.toEqual(errorWith('forbidden', 'ORGANISATION_INACTIVE'))
  await set(OrganisationStatus.ORGANISATION_STATUS_ACTIVE)
  expect(await authenticate(value)).toMatchObject({ organisationId })
})

test('a retry with the same idempotency key returns the same key and creates no second one', async () => {
  const call = withIdempotency(system, 'a1')
  const user = await createUser()
  const one = await createKey(user.userId, {}, call)
  expect(await createKey(user.userId, {}, call)).toEqual(one)
  const { apiKeys } = await auth.apiKeys.listApiKeys({ owner: { $case: 'userId', value: user.userId }, ...page }, system)
  expect(apiKeys).toEqual([one])
})

test('no table contains a key or a password in plain text', async () => {
  const password = 'correct horse battery'
  const user = await createUser({}, password)
  const issued = [SYSTEM_KEY, password, ...Object.values(keys)]
  for (let i = 0; i < 20; i++)
    issued.push((await createKey(user.userId, {}, withIdempotency(system, `b${i % 10}${i > 9 ? 'c' : 'd'}`))).value)
  const tables = await database.db.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'auth'`,
  )
  const dump: string[] = []
  for (const { name } of tables) for (const row of await database.db.query<{ t: string }>(`select t::text from ${name} t`)) dump.push(row.t)
  const text = dump.join('\n')
  expect(tables.length).toBeGreaterThan(6)
  expect(text).toContain('$argon2id$')
  for (const secret of issued) {
    expect(text.includes(secret)).toBe(false)
    expect(text.includes(Buffer.from(secret).toString('hex'))).toBe(false)
  }
})
