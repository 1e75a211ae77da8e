import type { CreateSessionResponse } from '@vitascope/proto/auth/v1/session'
import { z } from 'zod'
import { createSessionCookie } from '../../server/access/session-cookie.ts'
import { Reply } from '../../server/route/reply.ts'
import { required } from '../../server/schema/response-format.ts'
import { userResponse } from '../user/user-response.ts'
import { sessionResponse } from './session-response.ts'

/** Headers of a response that creates a session. */
export const newSessionHeaders = z.object({
  'Set-Cookie': z.string().meta({ description: 'The cookie of the session. It is a secret.', example: 'vitascope-session=…' }),
})

/**
 * Returns the response 201 that sets the cookie of a new session. The cookie is `Secure` if `publicUrl`,
 * the public URL of the platform, starts with `https:`.
 */
export function newSessionReply(created: CreateSessionResponse, publicUrl: string): Reply {
  const session = required(created.session, 'session')
  const expireTime = required(session.expireTime, 'expire_time')
  const body = { ...sessionResponse(session, session.sessionId), user: userResponse(required(created.user, 'user')) }
  return new Reply(body, {
    status: 201,
    headers: { 'Cache-Control': 'no-store', 'Set-Cookie': createSessionCookie(created.value, expireTime, publicUrl) },
  })
}
