import { createHash } from 'node:crypto'
import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { id, text } from '../../server/schema/fields.ts'
import { schema } from '../../server/schema/response-format.ts'
import { email, password, personName } from '../user/user-fields.ts'
import { newSessionHeaders, newSessionReply } from './new-session-reply.ts'
import { NewSessionResponse } from './session-response.ts'
import { emailField, hashEmail } from './sign-in-fields.ts'

const EXAMPLE_SECRET = 'sQz3b8w0Wn5kXv1dT9yLr2mP6cJ4hF7gA0eU-iO_aBc'

export const useSignInLink = route({
  post: ['/session/link'],
  operationId: 'useSignInLink',
  section: 'Sessions',
  access: 'public',
  ownPagesOnly: true,
  summary: 'Sign in by a link',
  description:
    'Sets the password of the user of a link, ends all sessions of the user, and sets the cookie of a new one as `POST /session` does. A link ' +
    'is valid once. The link that `npm start` prints creates the first user, a system user.',
  payload: z.strictObject({
    link: text(100, { min: 1 }, { description: 'The secret of the link, after `#link=`.', example: EXAMPLE_SECRET }),
    password,
    first_name: personName('First name. If it is omitted, the stored one is kept.', 'Ada').optional(),
    last_name: personName('Last name. If it is omitted, the stored one is kept.', 'Byron').optional(),
    email: email
      .meta({ description: 'Email address of the first user, by default `admin@localhost`. Other links do not accept it.' })
      .optional(),
  }),
  status: 201,
  docs: { responseHeaders: newSessionHeaders, example: { link: EXAMPLE_SECRET, password: 'correct horse battery staple' } },
  response: NewSessionResponse,
  errorCodes: {
    link_invalid: 'The link is unknown, expired or already used.',
    passkey_required: 'The new password is set, and the user also requires a passkey. Continue with `POST /session/passkey`.',
    foreign_page: 'A page of another site sent the request.',
    email_taken: 'The email address is already in use.',
    passwords_busy: 'Too many passwords are being checked or set. Retry after the time in `Retry-After`.',
  },
  async handle({ payload }, { services, call, client, countSignIn, publicUrl }) {
    await countSignIn(createHash('sha256').update(payload.link).digest('hex'))
    const created = await services.signInLinks.useSignInLink(
      {
        secret: payload.link,
        password: payload.password,
        firstName: payload.first_name,
        lastName: payload.last_name,
        email: payload.email,
        address: client.address,
        userAgent: client.userAgent,
      },
      call,
    )
    return newSessionReply(created, publicUrl)
  },
})

export const requestPasswordReset = route({
  post: ['/session/reset'],
  operationId: 'requestPasswordReset',
  section: 'Sessions',
  access: 'public',
  ownPagesOnly: true,
  summary: 'Request a new password',
  description:
    'Sends a link to the email address, if an active user has it. `POST /session/link` with its secret sets a new password within an hour. The response ' +
    'does not reveal whether the address exists. A user gets at most 5 links an hour.',
  payload: z.strictObject({
    email: emailField,
  }),
  status: 202,
  response: z.object({ requested: z.literal(true) }),
  errorCodes: { foreign_page: 'A page of another site sent the request.' },
  async handle({ payload: { email } }, { services, call, countSignIn }) {
    await countSignIn(`reset/${hashEmail(email)}`)
    await services.signInLinks.requestPasswordReset({ email }, call)
    return { requested: true as const }
  },
})

export const createInvitation = route({
  post: ['/user/:userId/invitation'],
  operationId: 'createInvitation',
  section: 'Users',
  access: 'super',
  summary: 'Invite a user by email',
  description:
    'Sends a link to a user whose `status` is `invited`. `POST /session/link` with its secret sets the name and the password of the user within 7 days. ' +
    'A further invitation does not end an earlier one. A super user may invite users of its own organisation, except `system` users.',
  params: z.object({ userId: id('user') }),
  status: 202,
  response: z.object({
    user_id: schema.id('user'),
    email: schema.text('Email address to which the link is sent.', 'ada@example.org'),
    requested: z.literal(true),
  }),
  errorCodes: {
    system_only: 'Only a system key may invite system users.',
    user_active: 'The user is active already.',
    password_not_allowed: 'An identity provider created the user, and decides how it signs in.',
    too_many_links: 'The user was invited 5 times within an hour.',
  },
  async handle({ params }, { services, call }) {
    const { email } = await services.signInLinks.createInvitation({ userId: params.userId }, call)
    return { user_id: params.userId, email, requested: true as const }
  },
})

export const signInLinkRoutes = [useSignInLink, requestPasswordReset, createInvitation]
