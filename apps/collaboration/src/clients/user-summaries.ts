import { isDomainError, notFound } from '@vitascope/errors'
import type { Call, Client } from '@vitascope/grpc'
import type { UserServiceService, UserSummary } from '@vitascope/proto/auth/v1/user'
import { isId, isStorable } from '@vitascope/request'
import { asService } from './as-service.ts'

export type { UserSummary }

/** Reads users from auth. Throws `unavailable` while auth is unavailable. */
export interface UserSummaries {
  /** Returns the existing users by id, with one call. */
  find(userIds: readonly string[], call: Call): Promise<Map<string, UserSummary>>
  /** Returns the user with this email address (case-insensitive). */
  findByEmail(email: string, call: Call): Promise<Pick<UserSummary, 'userId' | 'organisationId'> | undefined>
  /** Returns a user. Throws USER_NOT_FOUND if it does not exist or belongs to another organisation. */
  require(organisationId: string, userId: string, call: Call): Promise<UserSummary>
}

export function createUserSummaries(
  client: Pick<Client<typeof UserServiceService>, 'listUserSummaries' | 'getUserByEmail'>,
): UserSummaries {
  const find = async (userIds: readonly string[], call: Call) => {
    const uniqueIds = [...new Set(userIds)].filter((userId) => userId !== '')
    if (uniqueIds.length === 0) return new Map()
    const { summaries } = await client.listUserSummaries({ userIds: uniqueIds }, asService(call))
    return new Map(summaries.map((summary) => [summary.userId, summary]))
  }
  return {
    find,
    async findByEmail(email, call) {
      if (email === '' || !isStorable(email)) return undefined
      try {
        return (await client.getUserByEmail({ email }, asService(call))).user
      } catch (error) {
        if (isDomainError(error) && error.kind === 'not_found') return undefined
        throw error
      }
    },
    async require(organisationId, userId, call) {
      const user = isId(userId) ? (await find([userId], call)).get(userId) : undefined
      if (!user || user.organisationId !== organisationId) throw notFound('user', userId)
      return user
    },
  }
}
