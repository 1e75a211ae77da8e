import { invalid } from '@vitascope/errors'
import { z } from 'zod'
import { clearSessionCookie } from '../../server/access/session-cookie.ts'
import { domainError } from '../../server/http/problem.ts'
import type { Caller } from '../../server/route/caller.ts'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { id, text } from '../../server/schema/fields.ts'
import { required } from '../../server/schema/response-format.ts'
import { recentSignInCodes } from '../passkey/recent-sign-in.ts'
import { password, personName } from '../user/user-fields.ts'
import { UserResponse, userResponse } from '../user/user-response.ts'
import { newSessionHeaders, newSessionReply } from './new-session-reply.ts'
import { NewSessionResponse, SessionResponse, sessionResponse } from './session-response.ts'
import { emailField, hashEmail, passwordField } from './sign-in-fields.ts'

const section = 'Sessions'

export const signIn = route({
  post: ['/session'],
  operationId: 'signIn',
  section,
  access: 'public',
  ownPagesOnly: true,
  summary: 'Sign in',
  description:
    'Checks an email address and a password, and sets the cookie `vitascope-session`, which replaces the API key in requests of pages of ' +
    'the platform. The session has all permissions of its user for 12 hours. With a cookie, writes are accepted from pages of the ' +
    'platform only. An IP address may try 10 passwords a minute for one user and 30 for all. All addresses together may try 100 for ' +
    'one user.',
  payload: z.strictObject({
    email: emailField,
    password: passwordField,
  }),
  status: 201,
  docs: { responseHeaders: newSessionHeaders },
  response: NewSessionResponse,
  errorCodes: {
    sign_in_failed: 'The email address or the password is wrong.',
    passkey_required: 'The password is right, and the user also requires a passkey. Continue with `POST /session/passkey`.',
    foreign_page: 'A page of another site sent the request.',
    passwords_busy: 'Too many passwords are being checked or set. Retry after the time in `Retry-After`.',
  },
  async handle({ payload: { email, password } }, { services, call, client, countSignIn, publicUrl }) {
    await countSignIn(hashEmail(email))
    const created = await services.sessions.createSession({ email, password, address: client.address, userAgent: client.userAgent }, call)
    return newSessionReply(created, publicUrl)
  },
})

export const getOwnSession = route({
  get: ['/session'],
  operationId: 'getOwnSession',
  section,
  access: 'user',
  summary: 'Read your session',
  description: 'Returns the session of the cookie and its user. A request with an API key gets 404.',
  response: z.object({ ...SessionResponse.shape, user: UserResponse }),
  errorCodes: { user_session_not_found: 'The request has no cookie of a session.' },
  async handle(_, { caller, services, call }) {
    const { keyId, userId } = requireUser(caller)
    const [{ sessions }, { user }] = await Promise.all([services.sessions.listSessions({}, call), services.users.getUser({ userId }, call)])
    const session = sessions.find(({ sessionId }) => sessionId === keyId)
    if (!session) throw domainError('not_found', 'USER_SESSION_NOT_FOUND', 'the request has no cookie of a session')
    return { ...sessionResponse(session, keyId), user: userResponse(required(user, 'user')) }
  },
})

export const listOwnSessions = route({
  get: ['/session/all'],
  operationId: 'listOwnSessions',
  section,
  access: 'user',
  summary: 'List your sessions',
  description:
    'Returns the sessions of the user that have not expired, oldest first. A user has at most 100. A further sign-in ends the oldest one.',
  response: z.array(SessionResponse),
  async handle(_, { caller, services, call }) {
    const { keyId } = requireUser(caller)
    const { sessions } = await services.sessions.listSessions({}, call)
    return sessions.map((session) => sessionResponse(session, keyId))
  },
})

export const updateOwnUser = route({
  patch: ['/session/user'],
  operationId: 'updateOwnUser',
  section,
  access: 'user',
  summary: 'Change your name or password',
  description:
    'Changes only the fields that are sent, of the user of the session. A new password requires a session that is at most 5 minutes old, ' +
    'and ends the other sessions of the user. A request with an API key gets 404.',
  payload: z.strictObject({
    first_name: personName('First name.', 'Ada').optional(),
    last_name: personName('Last name.', 'Byron').optional(),
    telephone_land: text(50, {}, { description: 'Telephone number.' }).optional(),
    password: password.optional(),
  }),
  record: UserResponse,
  docs: { example: { first_name: 'Ada' } },
  response: UserResponse,
  errorCodes: {
    user_session_not_found: 'The request has no cookie of a session.',
    password_not_allowed: 'An identity provider created the user, and decides how it signs in.',
    passwords_busy: 'Too many passwords are being checked or set. Retry after the time in `Retry-After`.',
    ...recentSignInCodes,
  },
  async handle({ payload }, { services, call }) {
    if (Object.keys(payload).length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    const { first_name: firstName, last_name: lastName, telephone_land: telephoneLand, password } = payload
    const { user } = await services.sessions.updateOwnUser({ firstName, lastName, telephoneLand, password }, call)
    return userResponse(required(user, 'user'))
  },
})

export const signOut = route({
  delete: ['/session'],
  operationId: 'signOut',
  section,
  access: 'user',
  summary: 'Sign out',
  description: 'Ends the session of the cookie, and deletes the cookie. A request with an API key gets 404.',
  response: z.object({ deleted: z.literal(true) }),
  errorCodes: { user_session_not_found: 'The request has no cookie of a session.' },
  async handle(_, { caller, services, call, publicUrl }) {
    await services.sessions.deleteSession({ sessionId: requireUser(caller).keyId }, call)
    return new Reply({ deleted: true as const }, { headers: { 'Set-Cookie': clearSessionCookie(publicUrl) } })
  },
})

export const endSession = route({
  delete: ['/session/:userSessionId'],
  operationId: 'endOwnSession',
  section,
  access: 'user',
  summary: 'End one of your sessions',
  description: 'Ends a session of the user. Its cookie is rejected within 5 s. A new password ends all other sessions of a user.',
  params: z.object({ userSessionId: id('session') }),
  response: z.object({ deleted: z.literal(true) }),
  async handle({ params }, { services, call }) {
    await services.sessions.deleteSession({ sessionId: params.userSessionId }, call)
    return { deleted: true as const }
  },
})

/** Routes for users are never called for guests. */
function requireUser(caller: Caller): Extract<Caller, { kind: 'user' }> {
  if (caller.kind !== 'user') throw new Error('a guest has no session')
  return caller
}

export const userSessionRoutes = [signIn, getOwnSession, listOwnSessions, updateOwnUser, signOut, endSession]
