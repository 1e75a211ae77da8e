import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { browserSecret, pageOrigin, signInCredential } from '../passkey/passkey-fields.ts'
import { StartedSignInResponse, startedSignInResponse } from '../passkey/passkey-response.ts'
import { newSessionHeaders, newSessionReply } from './new-session-reply.ts'
import { NewSessionResponse } from './session-response.ts'
import { emailField, hashEmail, passwordField } from './sign-in-fields.ts'

const section = 'Sessions'

export const beginPasskeySignIn = route({
  post: ['/session/passkey'],
  operationId: 'beginPasskeySignIn',
  section,
  access: 'public',
  ownPagesOnly: true,
  summary: 'Begin a sign-in by a passkey',
  description:
    'Returns options of `navigator.credentials.get` for a page of the platform. `POST /session/passkey/callback` ends the sign-in within 5 minutes. Without a ' +
    'payload, any passkey of the platform signs in. With `email` and `password` it must be a passkey of this user, as the second factor after ' +
    '`passkey_required`.',
  payload: z.strictObject({ email: emailField.optional(), password: passwordField.optional() }),
  payloadOptional: true,
  status: 201,
  docs: { example: { email: 'ada@example.org', password: 'correct horse battery staple' } },
  response: StartedSignInResponse,
  errorCodes: {
    foreign_page: 'A page of another site sent the request.',
    sign_in_failed: 'The email address or the password is wrong.',
    no_passkey: 'The user of the password has no passkey.',
    passwords_busy: 'Too many passwords are being checked or set. Retry after the time in `Retry-After`.',
  },
  async handle({ payload: { email, password } }, { services, call, countSignIn, publicUrl }) {
    const hasCredentials = email !== undefined || password !== undefined
    // Without a password the user is unknown, so that only the limit of the address applies.
    await countSignIn(email === undefined ? `passkey/${randomUUID()}` : hashEmail(email))
    const started = await services.passkeys.beginPasskeySignIn(
      {
        origin: pageOrigin(publicUrl),
        credentials: hasCredentials ? { email: email ?? '', password: password ?? '' } : undefined,
      },
      call,
    )
    return new Reply(startedSignInResponse(started), { status: 201, headers: { 'Cache-Control': 'no-store' } })
  },
})

export const completePasskeySignIn = route({
  post: ['/session/passkey/callback'],
  operationId: 'completePasskeySignIn',
  section,
  access: 'public',
  ownPagesOnly: true,
  summary: 'End a sign-in by a passkey',
  description:
    'Checks the response of the authenticator, and sets the cookie of a session as `POST /session` does. The user must have been verified by the ' +
    'authenticator. A challenge is accepted once, and only with the `browser_secret` of the same sign-in.',
  payload: z.strictObject({ browser_secret: browserSecret, credential: signInCredential }),
  status: 201,
  docs: { responseHeaders: newSessionHeaders },
  response: NewSessionResponse,
  errorCodes: {
    foreign_page: 'A page of another site sent the request.',
    passkey_failed:
      'The challenge is unknown, expired, used or of another browser, the passkey is unknown, or the response of the authenticator is invalid.',
  },
  async handle({ payload: { browser_secret, credential } }, { services, call, client, countSignIn, publicUrl }) {
    await countSignIn(`passkey/${createHash('sha256').update(credential.id).digest('hex')}`)
    const created = await services.passkeys.completePasskeySignIn(
      {
        origin: pageOrigin(publicUrl),
        browserSecret: browser_secret,
        credentialId: credential.id,
        clientData: credential.response.clientDataJSON,
        authenticatorData: credential.response.authenticatorData,
        signature: credential.response.signature,
        userHandle: credential.response.userHandle || undefined,
        address: client.address,
        userAgent: client.userAgent,
      },
      call,
    )
    return newSessionReply(created, publicUrl)
  },
})

export const passkeySignInRoutes = [beginPasskeySignIn, completePasskeySignIn]
