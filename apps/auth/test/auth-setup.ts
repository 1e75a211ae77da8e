import { expect } from '@jest/globals'
import type { Call } from '@vitascope/grpc'
import { User, UserType } from '@vitascope/proto/auth/v1/user'
import type { AuthConfig } from '../src/config.ts'
import { as, openTestDatabase, service, startTestAuth } from './test-auth.ts'

/**
 * Starts the service with two organisations. The first has an uploader and a super user, the second
 * has a super user. Each user has a key.
 */
export async function startAuth(config: Partial<AuthConfig> = {}) {
  const database = await openTestDatabase()
  const auth = await startTestAuth(database.url, config)
  const system = as('system')
  let count = 0

  async function createOrganisation(name: string): Promise<string> {
    return (await auth.organisations.createOrganisation({ name }, system)).organisation?.organisationId ?? ''
  }
  async function createUser(more: Partial<User> = {}, password?: string, call: Call = system): Promise<User> {
    const email = `ann${++count}@example.org`
    const user = User.fromPartial({ organisationId: org.one, firstName: 'Ann', lastName: 'Lee', email, ...more })
    return requireValue((await auth.users.createUser({ user, password }, call)).user)
  }
  async function createKey(userId: string, more: { resources?: string[]; expireTime?: Date } = {}, call: Call = system) {
    const expected = { userId, applicationName: 'a test', resources: ['video::get'], expireTime: undefined, ...more }
    return requireValue((await auth.apiKeys.createApiKey(expected, call)).apiKey)
  }

  const resources = [
    { aclId: 0, name: 'video::get', openToUsers: true },
    { aclId: 0, name: 'video::post', openToUsers: true },
    { aclId: 0, name: 'user::post', openToUsers: false },
  ]
  await auth.accessList.registerResources({ resources }, service())
  const org = { one: await createOrganisation('One'), two: await createOrganisation('Two') }
  const users = {
    uploader: (await createUser()).userId,
    standard: (await createUser({ userType: UserType.USER_TYPE_STANDARD })).userId,
    foreign: (await createUser({ organisationId: org.two, userType: UserType.USER_TYPE_STANDARD })).userId,
  }
  const keys = {
    uploader: (await createKey(users.uploader)).value,
    standard: (await createKey(users.standard)).value,
    foreign: (await createKey(users.foreign)).value,
  }
  return {
    auth,
    database,
    system,
    org,
    users,
    keys,
    createOrganisation,
    createUser,
    createKey,
    authenticate: (key: string) => auth.apiKeys.authenticate({ key }, service()),
    standard: () => as('standard', org.one, users.standard),
    uploader: () => as('uploader', org.one, users.uploader),
    close: async () => {
      await auth.stop()
      await database.drop()
    },
  }
}

/** Requests the first page of a list, with the maximum size. */
export const page = { pageSize: 0, pageToken: '', skip: 0 }

/** Matches an error of this kind and reason. */
export function errorWith(kind: string, reason: string) {
  return expect.objectContaining({ kind, reason })
}

/** Matches an error with exactly these invalid fields, in this order. */
export function invalidFields(...fields: string[]) {
  return expect.objectContaining({ reason: 'INVALID_INPUT', fields: fields.map((field) => expect.objectContaining({ field })) })
}

function requireValue<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the response is empty')
  return value
}
