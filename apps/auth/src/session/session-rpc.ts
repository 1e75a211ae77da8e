import type { Handlers } from '@vitascope/grpc'
import type { SessionServiceService } from '@vitascope/proto/auth/v1/session'
import type { MatchesPassword } from '../user/password.ts'
import { toUserMessage } from '../user/user-rpc.ts'
import { deleteSession, listSessions, type SessionStore, signIn } from './session.ts'

export function sessionHandlers(sessions: SessionStore, matchesPassword: MatchesPassword): Handlers<typeof SessionServiceService> {
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
  }
}
