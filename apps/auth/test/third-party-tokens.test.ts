import { afterAll, expect, test } from '@jest/globals'
import { ThirdPartyTokenAttribute as Attribute, ThirdPartyToken } from '@vitascope/proto/auth/v1/third_party_token'
import { errorWith, invalidFields, startAuth } from './auth-setup.ts'
import { as, by, startTestAuth, withIdempotency } from './test-auth.ts'

const { auth, database, org, users, createUser, system, standard, uploader, close } = await startAuth()
const { db } = database
afterAll(close)

const record = (more: Partial<ThirdPartyToken> = {}) => ThirdPartyToken.fromPartial({ organisationId: org.one, ...more })
const create = async (more: Partial<ThirdPartyToken> = {}, call = system) =>
  (await auth.thirdPartyTokens.createThirdPartyToken({ thirdPartyToken: record(more) }, call)).thirdPartyTokenId
const get = async (thirdPartyTokenId: string, call = system) =>
  (await auth.thirdPartyTokens.getThirdPartyToken({ thirdPartyTokenId }, call)).thirdPartyToken
const update = (thirdPartyTokenId: string, more: Partial<ThirdPartyToken>, updateMask: string[], call = system) =>
  auth.thirdPartyTokens.updateThirdPartyToken(
    { thirdPartyToken: ThirdPartyToken.fromPartial({ thirdPartyTokenId, ...more }), updateMask },
    call,
  )
const remove = (thirdPartyTokenId: string, call = system) => auth.thirdPartyTokens.deleteThirdPartyToken({ thirdPartyTokenId }, call)
const nothing = errorWith('not_found', 'THIRD_PARTY_TOKEN_NOT_FOUND')

test('secrets are stored encrypted and bound to their row and column, and are erased with the record', async () => {
  const [token, otherDataJson] = ['a-very-secret-token', '{"refresh":"a-very-secret-refresh"}']
  const [first, second] = [await create({ token, otherDataJson }), await create({ token: 'another' })]
  expect(await get(first)).toMatchObject({ token, otherDataJson })
  const rows = await db.query<{ t: string }>('select t::text from third_party_token t')
  const text = rows.map(({ t }) => t).join()
  for (const secret of ['secret', Buffer.from('secret').toString('hex'), Buffer.from(token).toString('base64')])
    expect(text).not.toContain(secret)
  await db.query(
    'update third_party_token set sealed_token = (select sealed_token from third_party_token where third_party_token_id = $1) where third_party_token_id = $2',
    [first, second],
  )
  await expect(get(second)).rejects.toThrow('INTERNAL')
  await db.query('update third_party_token set sealed_token = sealed_other_data where third_party_token_id = $1', [second])
  await expect(get(second)).rejects.toThrow('INTERNAL')
  await remove(first)
  expect(await db.query('select sealed_token, sealed_other_data from third_party_token where third_party_token_id = $1', [first])).toEqual([
    { sealed_token: null, sealed_other_data: null },
  ])
})

test('a stored secret can be decrypted after a restart with the same master key', async () => {
  const id = await create({ token: 'kept' })
  const other = await startTestAuth(database.url)
  expect((await other.thirdPartyTokens.getThirdPartyToken({ thirdPartyTokenId: id }, system)).thirdPartyToken?.token).toBe('kept')
  await other.stop()
})

test('a deleted record is not found, and cannot be deleted again', async () => {
  const id = await create({ serviceName: 'gone' }, standard())
  await remove(id, uploader())
  const find = (attribute: Attribute, value: string) => auth.thirdPartyTokens.findThirdPartyToken({ attribute, value }, system)
  for (const work of [
    () => get(id),
    () => remove(id),
    () => update(id, { token: 'x' }, ['token']),
    () => find(Attribute.THIRD_PARTY_TOKEN_ATTRIBUTE_ID, id),
    () => find(Attribute.THIRD_PARTY_TOKEN_ATTRIBUTE_SERVICE_NAME, 'gone'),
  ]) {
    await expect(work()).rejects.toEqual(nothing)
  }
})

test('only system users can read records, and other users can write those of their own organisation', async () => {
  const id = await create({ token: 'secret' })
  const foreign = as('standard', org.two, users.foreign)
  const guest = by({ kind: 'guest' })
  await expect(get(id, standard())).rejects.toEqual(errorWith('forbidden', 'SYSTEM_ONLY'))
  const find = { attribute: Attribute.THIRD_PARTY_TOKEN_ATTRIBUTE_ID, value: id }
  await expect(auth.thirdPartyTokens.findThirdPartyToken(find, standard())).rejects.toEqual(errorWith('forbidden', 'SYSTEM_ONLY'))
  for (const call of [foreign]) {
    await expect(create({}, call)).rejects.toEqual(errorWith('forbidden', 'FOREIGN_ORGANISATION'))
    await expect(update(id, { token: 'x' }, ['token'], call)).rejects.toEqual(nothing)
    await expect(remove(id, call)).rejects.toEqual(nothing)
  }
  await expect(update(id, { organisationId: org.two }, ['organisation_id'], uploader())).rejects.toEqual(
    errorWith('forbidden', 'FOREIGN_ORGANISATION'),
  )
  for (const work of [get(id, guest), create({}, guest), update(id, {}, [], guest), remove(id, guest)]) {
    await expect(work).rejects.toEqual(errorWith('unauthenticated', 'KEY_REQUIRED'))
  }
  await update(id, { token: 'new' }, ['token'], uploader())
  expect(await get(id)).toMatchObject({ token: 'new', organisationId: org.one })
})

test('a user must belong to the organisation, and a deleted user stays referenced', async () => {
  await expect(create({ userId: users.foreign })).rejects.toEqual(errorWith('not_found', 'USER_NOT_FOUND'))
  const user = await createUser()
  const id = await create({ userId: user.userId })
  await expect(update(id, { userId: users.foreign }, ['user_id'])).rejects.toEqual(errorWith('not_found', 'USER_NOT_FOUND'))
  await auth.users.deleteUser({ userId: user.userId }, system)
  await update(id, { token: 'x' }, ['token'])
  expect(await get(id)).toMatchObject({ userId: user.userId, token: 'x' })
})

test('every invalid field is reported at once', async () => {
  const long = 'x'.repeat(256)
  const wrong = {
    serviceName: long,
    calledBy: 'a\0',
    username: long,
    token: 'x'.repeat(16_385),
    authUrl: 'x'.repeat(2_049),
    otherDataJson: '[]',
    userId: 'x',
  }
  await expect(create(wrong)).rejects.toEqual(
    invalidFields('service_name', 'called_by', 'username', 'token', 'auth_url', 'other_data_json', 'user_id'),
  )
  await expect(create({ organisationId: '' })).rejects.toEqual(invalidFields('organisation_id'))
  await expect(update('1', {}, ['deleted', 'create_time'])).rejects.toEqual(invalidFields('update_mask', 'update_mask'))
  const find = { attribute: Attribute.THIRD_PARTY_TOKEN_ATTRIBUTE_UNSPECIFIED, value: 'x' }
  await expect(auth.thirdPartyTokens.findThirdPartyToken(find, system)).rejects.toEqual(invalidFields('attribute'))
})

test('a retry with the same idempotency key creates no second record', async () => {
  const call = withIdempotency(system, 'f0')
  expect(await create({ token: 'once' }, call)).toBe(await create({ token: 'once' }, call))
})

test('each search reads the first row of an index', async () => {
  await db.query(
    `insert into third_party_token (organisation_id, service_name, called_by, username, auth_url, user_id)
     select $1::bigint, 's' || n % 10, 'c' || n % 10, 'u' || n % 10, 'https://a.example/' || n % 10, n % 10 from generate_series(1, 20000) n`,
    [org.two],
  )
  await db.query('analyze third_party_token')
  for (const condition of [
    `organisation_id = ${org.two}`,
    `service_name = 's1'`,
    `called_by = 'c1'`,
    `username = 'u1'`,
    `md5(auth_url) = md5('https://a.example/1') and auth_url = 'https://a.example/1'`,
    'user_id = 1',
  ]) {
    const [row] = await db.query<{ 'QUERY PLAN': unknown }>(
      `explain (format json) select * from third_party_token where ${condition} and delete_time is null order by third_party_token_id desc limit 1`,
    )
    expect([condition, /Seq Scan|"Sort"/.test(JSON.stringify(row?.['QUERY PLAN']))]).toEqual([condition, false])
  }
})
