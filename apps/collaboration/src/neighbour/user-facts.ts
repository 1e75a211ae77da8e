import { isDomainError, notFound } from '@vitascope/errors'
import type { Call, Client } from '@vitascope/grpc'
import { isId } from '@vitascope/postgres'
import type { UserFact, UserServiceService } from '@vitascope/proto/auth/v1/user'
import { isStorable } from '../input.ts'
import { byUs } from './by-us.ts'

export type { UserFact }

/** What auth knows of users. Refuses as unavailable while auth is away. */
export interface UserFacts {
  /** By their ids, those of the given users that there are; asked for in one call. */
  find(userIds: readonly string[], call: Call): Promise<Map<string, UserFact>>
  /** Whose address it is, whatever its case. */
  findByEmail(email: string, call: Call): Promise<Pick<UserFact, 'userId' | 'organisationId'> | undefined>
  /** Refuses with USER_NOT_FOUND, also for a user of another organisation. */
  need(organisationId: string, userId: string, call: Call): Promise<UserFact>
}

export function askAuth(client: Pick<Client<typeof UserServiceService>, 'listUserFacts' | 'getUserByEmail'>): UserFacts {
  const find = async (userIds: readonly string[], call: Call) => {
    const wanted = [...new Set(userIds)].filter((userId) => userId !== '')
    if (wanted.length === 0) return new Map()
    const { facts } = await client.listUserFacts({ userIds: wanted }, byUs(call))
    return new Map(facts.map((fact) => [fact.userId, fact]))
  }
  return {
    find,
    async findByEmail(email, call) {
      if (email === '' || !isStorable(email)) return undefined
      try {
        return (await client.getUserByEmail({ email }, byUs(call))).user
      } catch (error) {
        if (isDomainError(error) && error.kind === 'not_found') return undefined
        throw error
      }
    },
    async need(organisationId, userId, call) {
      const user = isId(userId) ? (await find([userId], call)).get(userId) : undefined
      if (!user || user.organisationId !== organisationId) throw notFound('user', userId)
      return user
    },
  }
}
