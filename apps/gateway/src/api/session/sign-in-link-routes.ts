import { createHash } from 'node:crypto'
import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { text } from '../../server/schema/fields.ts'
import { email, password, personName } from '../user/user-fields.ts'
import { newSessionHeaders, newSessionReply } from './new-session-reply.ts'
import { NewSessionResponse } from './session-response.ts'

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
    first_name: personName('First name. The present one stays if it is absent.', 'Ada').optional(),
    last_name: personName('Last name. The present one stays if it is absent.', 'Byron').optional(),
    email: email
      .meta({ description: 'Email address of the first user, by default `admin@localhost`. Other links do not accept it.' })
      .optional(),
  }),
  status: 201,
  docs: { responseHeaders: newSessionHeaders, example: { link: EXAMPLE_SECRET, password: 'correct horse battery staple' } },
  response: NewSessionResponse,
  errorCodes: {
    link_invalid: 'The link is unknown, expired or already used.',
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

export const signInLinkRoutes = [useSignInLink]
