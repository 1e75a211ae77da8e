import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { text } from '../../server/schema/fields.ts'
import { formatOptionalTimestamp, schema } from '../../server/schema/response-format.ts'
import { newSessionHeaders, newSessionReply } from './new-session-reply.ts'
import { NewSessionResponse } from './session-response.ts'

const section = 'Sessions'
const MAX_CODE_LENGTH = 4_000
const EXAMPLE_SECRET = 'k2Zr8yQ0tWv5nXb1LdT9uJm6cP4hF7gA3eSiO-_aBcD'
/** The page to which the provider returns the user. No request can choose another one. */
const redirectUri = (publicUrl: string) => `${publicUrl}/console/sign-in`

export const getOidcProvider = route({
  get: ['/session/oidc'],
  operationId: 'getOidcProvider',
  section,
  access: 'public',
  summary: 'Whether an identity provider is configured',
  description: 'A sign-in page offers `POST /session/oidc` only if a provider is configured.',
  response: z.object({ configured: schema.bool('False if no identity provider is configured.') }),
  handle: (_, { services, call }) => services.oidc.getOidcProvider({}, call),
})

export const beginOidcSignIn = route({
  post: ['/session/oidc'],
  operationId: 'beginOidcSignIn',
  section,
  access: 'public',
  ownPagesOnly: true,
  summary: 'Begin a sign-in at the identity provider',
  description:
    'Returns the URL of the configured identity provider (OpenID Connect) at which the user signs in within 10 minutes. The provider then returns the ' +
    'user to `/console/sign-in` with parameters for `POST /session/oidc/callback`.',
  status: 201,
  response: z.object({
    authorization_url: schema.text('URL of the provider.', 'https://id.example.org/auth?client_id=…'),
    browser_secret: schema.text('A secret of the browser, which the callback must have too.', EXAMPLE_SECRET),
    expires: schema.timestamp('Time from which the callback is rejected.'),
  }),
  errorCodes: {
    foreign_page: 'A page of another site sent the request.',
    oidc_disabled: 'No identity provider is configured.',
    oidc_unavailable: 'The identity provider does not respond.',
  },
  async handle(_, { services, call, countSignIn, publicUrl }) {
    // The user is unknown, so that only the limit of the address applies.
    await countSignIn(`oidc/${randomUUID()}`)
    const started = await services.oidc.beginOidcSignIn({ redirectUri: redirectUri(publicUrl) }, call)
    const body = {
      authorization_url: started.authorizationUrl,
      browser_secret: started.browserSecret,
      expires: formatOptionalTimestamp(started.expireTime),
    }
    return new Reply(body, { status: 201, headers: { 'Cache-Control': 'no-store' } })
  },
})

export const completeOidcSignIn = route({
  post: ['/session/oidc/callback'],
  operationId: 'completeOidcSignIn',
  section,
  access: 'public',
  ownPagesOnly: true,
  summary: 'End a sign-in at the identity provider',
  description:
    'Checks the parameters with which the identity provider returned the user, and sets the cookie of a session as `POST /session` does. ' +
    'A `state` is accepted once, and only with the `browser_secret` of the same sign-in.',
  payload: z.strictObject({
    code: text(
      MAX_CODE_LENGTH,
      { min: 1 },
      { description: 'Parameter `code` of the page. It is a secret.', example: 'SplxlOBeZQQYbYS6WxSbIA' },
    ),
    state: text(100, { min: 1 }, { description: 'Parameter `state` of the page.', example: EXAMPLE_SECRET }),
    iss: text(
      1_000,
      { min: 1 },
      { description: 'Parameter `iss` of the page, if it has one.', example: 'https://id.example.org' },
    ).optional(),
    browser_secret: text(100, { min: 1 }, { description: 'The secret of the response that began the sign-in.', example: EXAMPLE_SECRET }),
  }),
  status: 201,
  docs: { responseHeaders: newSessionHeaders },
  response: NewSessionResponse,
  errorCodes: {
    foreign_page: 'A page of another site sent the request.',
    oidc_failed: 'The state is unknown, expired, used or of another browser, or the response of the provider is invalid.',
    oidc_user_unknown: 'The account at the identity provider has no access to this platform.',
    oidc_disabled: 'No identity provider is configured.',
    oidc_unavailable: 'The identity provider does not respond.',
    email_taken: 'The email address is already in use.',
  },
  async handle({ payload }, { services, call, client, countSignIn, publicUrl }) {
    await countSignIn(`oidc/${createHash('sha256').update(payload.state).digest('hex')}`)
    const created = await services.oidc.completeOidcSignIn(
      {
        redirectUri: redirectUri(publicUrl),
        code: payload.code,
        state: payload.state,
        issuer: payload.iss,
        browserSecret: payload.browser_secret,
        address: client.address,
        userAgent: client.userAgent,
      },
      call,
    )
    return newSessionReply(created, publicUrl)
  },
})

export const oidcRoutes = [getOidcProvider, beginOidcSignIn, completeOidcSignIn]
