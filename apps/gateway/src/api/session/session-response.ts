import type { Session } from '@vitascope/proto/auth/v1/session'
import { z } from 'zod'
import { formatOptionalTimestamp, schema } from '../../server/schema/response-format.ts'
import { UserResponse } from '../user/user-response.ts'

export const SessionResponse = z.object({
  id: schema.id('session'),
  address: schema.text('IP address from which the user signed in.', '192.0.2.7'),
  user_agent: schema.text('`User-Agent` of the browser. It may be empty.', 'Mozilla/5.0 …'),
  time_created: schema.timestamp('Time of the sign-in.'),
  expires: schema.timestamp('Time from which the session is invalid.'),
  last_used: schema.timestamp('Time of the last use, with a precision of two minutes. Empty before the first use.'),
  current: schema.bool('Whether it is the session of this request.'),
})

export const NewSessionResponse = z.object({ ...SessionResponse.shape, user: UserResponse })

/** `currentId` is the id of the session of the request. */
export function sessionResponse(session: Session, currentId: string): z.input<typeof SessionResponse> {
  return {
    id: session.sessionId,
    address: session.address,
    user_agent: session.userAgent,
    time_created: formatOptionalTimestamp(session.createTime),
    expires: formatOptionalTimestamp(session.expireTime),
    last_used: formatOptionalTimestamp(session.lastUsedTime),
    current: session.sessionId === currentId,
  }
}
