import type { Handlers } from '@vitascope/grpc'
import type { SessionServiceService } from '@vitascope/proto/auth/v1/session'
import type { MatchesPassword } from '../user/password.ts'
import { toUserMessage } from '../user/user-rpc.ts'
import { type OwnUserStores, updateOwnUser } from './own-user.ts'
import { deleteSession, listSessions, type SessionStore, signIn } from './session.ts'

export function sessionHandlers(
  sessions: SessionStore,
  matchesPassword: MatchesPassword,
  ownUsers: Omit<OwnUserStores, 'sessions'>,
): Handlers<typeof SessionServiceService> {
  return {
    async createSession(request, call) {
      const { session, value, user } = await signIn(sessions, matchesPassword, request, call)
      return { session, value, user: toUserMessage(user) }
    },
    async listSessions(_request, call) {
      return { sessions: await listSessions(sessions, call) }
    },
    async deleteSession({ sessionId }, call) {
      await deleteSession(sessions, sessionId, call)
      return {}
    },
    async updateOwnUser({ firstName, lastName, telephoneLand, password }, call) {
      const details = {
        ...(firstName !== undefined && { firstName }),
        ...(lastName !== undefined && { lastName }),
        ...(telephoneLand !== undefined && { telephoneLand }),
      }
      return { user: toUserMessage(await updateOwnUser({ ...ownUsers, sessions }, { details, password }, call)) }
    },
  }
}
