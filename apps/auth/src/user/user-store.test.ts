import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { serviceCall } from '@vitascope/grpc'
import { openTestDatabase, type TestDatabase } from '../../test/test-auth.ts'
import type { NewUser, UserStore } from './user.ts'
import { createUserStore } from './user-store.ts'

const call = serviceCall('test', '')
const { signal } = call
let database: TestDatabase
let users: UserStore
beforeAll(async () => {
  database = await openTestDatabase()
  users = createUserStore(database.db)
  await database.db.query(`insert into organisation (name) values ('one'), ('two')`)
})
afterAll(() => database.drop())

let count = 0
function buildUser(more: Partial<NewUser> = {}): NewUser {
  return {
    organisationId: '2',
    firstName: 'Ann',
    lastName: 'Lee',
    email: `ann${++count}@example.org`,
    userType: 'uploader',
    status: 'invited',
    telephoneLand: '',
    invitedByUserId: undefined,
    passwordHash: undefined,
    ...more,
  }
}
const anyOrganisation = undefined
const allowed = () => undefined

test('of ten concurrent users with the same email address in different case, one is created', async () => {
  const attempts = Array.from({ length: 10 }, (_, i) =>
    users.create(buildUser({ email: i % 2 ? 'Same@Example.org' : 'same@example.ORG' }), call).then(
      () => 'created',
      (error: { reason: string }) => error.reason,
    ),
  )
  expect((await Promise.all(attempts)).sort()).toEqual([...Array(9).fill('EMAIL_TAKEN'), 'created'])
})

test('when two system users delete and demote each other at the same time, one remains', async () => {
  for (let round = 0; round < 5; round++) {
    const created = [
      await users.create(buildUser({ userType: 'system' }), call),
      await users.create(buildUser({ userType: 'system' }), call),
    ]
    const [first, second] = created.map((user) => user.userId)
    const outcomes = await Promise.allSettled([
      users.delete(first ?? '', signal),
      users.update({ userId: second ?? '', scope: anyOrganisation }, { userType: 'standard' }, allowed, signal),
    ])
    expect(outcomes.map((o) => o.status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(outcomes.find((o) => o.status === 'rejected')).toMatchObject({
      reason: { kind: 'failed_precondition', reason: 'LAST_SYSTEM_USER' },
    })
    await database.db.query(`update users set user_type = 'uploader' where user_type = 'system'`)
  }
})

test('a user of another organisation is not found', async () => {
  const { userId } = await users.create(buildUser(), call)
  expect(await users.find({ userId, scope: '3' }, signal)).toBeUndefined()
  expect(await users.update({ userId, scope: '3' }, { firstName: 'X' }, allowed, signal)).toBeUndefined()
  expect(await users.find({ userId, scope: '2' }, signal)).toMatchObject({ firstName: 'Ann' })
})

test('an update keeps the fields that it does not name, including the password', async () => {
  const { userId } = await users.create(buildUser({ passwordHash: 'h1', telephoneLand: '123' }), call)
  const updated = await users.update({ userId, scope: anyOrganisation }, { lastName: 'Ray' }, allowed, signal)
  expect(updated).toMatchObject({ firstName: 'Ann', lastName: 'Ray', telephoneLand: '123' })
  expect(JSON.stringify(updated)).not.toContain('h1')
  expect(await database.db.query('select password_hash from users where user_id = $1', [userId])).toEqual([{ password_hash: 'h1' }])
})

test('listing returns undefined for an unknown organisation and an empty list for one without users', async () => {
  const page = { limit: 10, after: '0', skip: 0 }
  expect(await users.list('99', page, signal)).toBeUndefined()
  expect(await users.list('3', page, signal)).toEqual([])
})
