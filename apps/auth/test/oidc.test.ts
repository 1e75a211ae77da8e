import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { Organisation, OrganisationStatus } from '@vitascope/proto/auth/v1/organisation'
import { UserStatus, UserType } from '@vitascope/proto/auth/v1/user'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import Provider from 'oidc-provider'
import type { OidcSettings } from '../src/oidc/oidc-provider.ts'
import { startAuth } from './auth-setup.ts'
import { by, startTestAuth, type TestAuth } from './test-auth.ts'

const REDIRECT = 'https://videos.example/console/sign-in'
const CLIENT = { id: 'vitascope', secret: 'the-secret-of-the-platform-at-the-provider' }

let setup: Awaited<ReturnType<typeof startAuth>>
const open: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  setup = await startAuth()
}, 60_000)
afterAll(async () => {
  for (const close of open.reverse()) await close()
  await setup.close()
})

/** Starts an auth service with a provider. It shares the database of all tests. */
async function startWithProvider(issuer: string, more: Partial<OidcSettings> = {}): Promise<TestAuth> {
  const oidc = { issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret, groupsClaim: 'groups', userTypes: new Map(), ...more }
  const auth = await startTestAuth(setup.database.url, { oidc: { organisationId: undefined, ...oidc } })
  open.push(() => auth.stop())
  return auth
}

const guest = () => by({ kind: 'guest' })
const begin = (auth: TestAuth) => auth.oidc.beginOidcSignIn({ redirectUri: REDIRECT }, guest())
const complete = (auth: TestAuth, fields: { code: string; state: string; issuer?: string; browserSecret: string }) =>
  auth.oidc.completeOidcSignIn({ redirectUri: REDIRECT, address: '192.0.2.7', userAgent: 'Firefox', ...fields }, guest())

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('with oidc-provider', () => {
  const accounts: Record<string, Record<string, unknown>> = {}
  let issuer: string
  beforeAll(async () => {
    // The provider prints that it is set up for a test.
    for (const level of ['info', 'warn'] as const) jest.spyOn(console, level).mockImplementation(() => {})
    const server = createServer()
    issuer = await listen(server)
    const provider = new Provider(issuer, {
      clients: [
        { client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [REDIRECT], token_endpoint_auth_method: 'client_secret_post' },
      ],
      pkce: { required: () => true },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['given_name', 'family_name', 'groups'] },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...accounts[id] }) }),
      cookies: { keys: ['a key of these tests'] },
    })
    server.on('request', provider.callback())
  })

  /** Signs in at the provider as a browser does. Returns the parameters of the redirect. */
  async function signInAtProvider(url: string, login: string): Promise<{ code: string; state: string; issuer: string }> {
    const cookies = new Map<string, string>()
    let next = new URL(url)
    let form: URLSearchParams | undefined
    for (let step = 0; step < 20; step++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(next, { redirect: 'manual', headers: { cookie }, ...(form && { method: 'POST', body: form }) })
      for (const header of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
        cookies.set(name, value)
      }
      form = undefined
      const location = response.headers.get('location')
      if (location !== null) {
        next = new URL(location, next)
        const { searchParams } = next
        if (next.href.startsWith(REDIRECT))
          return { code: `${searchParams.get('code')}`, state: `${searchParams.get('state')}`, issuer: `${searchParams.get('iss')}` }
        continue
      }
      const page = await response.text()
      const [, action] = /<form[^>]* action="([^"]+)"/.exec(page) ?? []
      const [, prompt = ''] = /name="prompt" value="(\w+)"/.exec(page) ?? []
      if (action === undefined) throw new Error(`the provider has no form: ${response.status} ${page.slice(0, 500)}`)
      next = new URL(action, next)
      form = new URLSearchParams({ prompt, login, password: 'any' })
    }
    throw new Error('the provider did not end the sign-in')
  }

  async function signIn(auth: TestAuth, login: string) {
    const { authorizationUrl, browserSecret } = await begin(auth)
    return complete(auth, { ...(await signInAtProvider(authorizationUrl, login)), browserSecret })
  }

  test('the user with the verified address signs in, and is then found by the subject', async () => {
    const auth = await startWithProvider(issuer)
    const { userId, email } = await setup.createUser()
    accounts['ann'] = { email: email.toUpperCase(), email_verified: true, given_name: 'Other' }
    const { session, value, user } = await signIn(auth, 'ann')
    expect(user).toMatchObject({ userId, firstName: 'Ann', userType: UserType.USER_TYPE_UPLOADER, status: UserStatus.USER_STATUS_ACTIVE })
    expect(session).toMatchObject({ userId, address: '192.0.2.7' })
    expect(await setup.authenticate(value)).toMatchObject({ userId })
    accounts['ann'] = {}
    expect((await signIn(auth, 'ann')).user).toMatchObject({ userId })
    // Another account with the address does not get the user.
    accounts['eve'] = { email, email_verified: true }
    await expect(signIn(auth, 'eve')).rejects.toMatchObject({ kind: 'forbidden', reason: 'OIDC_USER_UNKNOWN' })
  }, 60_000)

  test('an unknown user and an address that is not verified are rejected by default', async () => {
    const auth = await startWithProvider(issuer)
    const { email } = await setup.createUser()
    accounts['unverified'] = { email, email_verified: false }
    accounts['unknown'] = { email: 'unknown@example.org', email_verified: true }
    for (const login of ['unverified', 'unknown'])
      await expect(signIn(auth, login)).rejects.toMatchObject({ kind: 'forbidden', reason: 'OIDC_USER_UNKNOWN' })
  }, 60_000)

  test('an account with the verified address of a system user does not get that user', async () => {
    const auth = await startWithProvider(issuer)
    const { email } = await setup.createUser({ userType: UserType.USER_TYPE_SYSTEM })
    accounts['root'] = { email, email_verified: true }
    await expect(signIn(auth, 'root')).rejects.toMatchObject({ kind: 'forbidden', reason: 'OIDC_USER_UNKNOWN' })
  }, 60_000)

  test('an unknown user is created with the type of its groups, if an organisation is set', async () => {
    const userTypes = new Map([
      ['editors', 'uploader'],
      ['admins', 'standard'],
    ] as const)
    const auth = await startWithProvider(issuer, { organisationId: setup.org.two, userTypes })
    const account = { email: 'new@example.org', email_verified: true, given_name: 'Nia', family_name: 'New' }
    accounts['new'] = { ...account, groups: ['others'] }
    await expect(signIn(auth, 'new')).rejects.toMatchObject({ reason: 'OIDC_USER_UNKNOWN' })
    accounts['new'] = { ...account, groups: ['editors', 'admins'] }
    const { user } = await signIn(auth, 'new')
    expect(user).toMatchObject({ organisationId: setup.org.two, email: 'new@example.org', firstName: 'Nia', lastName: 'New' })
    expect(user?.userType).toBe(UserType.USER_TYPE_STANDARD)
    accounts['new'] = { ...account, groups: ['editors'] }
    expect((await signIn(auth, 'new')).user).toMatchObject({ userId: user?.userId, userType: UserType.USER_TYPE_UPLOADER })
    // The user may be the last system user.
    const asSystem = user && { ...user, userType: UserType.USER_TYPE_SYSTEM }
    await setup.auth.users.updateUser({ user: asSystem, updateMask: ['user_type'] }, setup.system)
    expect((await signIn(auth, 'new')).user?.userType).toBe(UserType.USER_TYPE_SYSTEM)
    accounts['new'] = { ...account, groups: [] }
    await expect(signIn(auth, 'new')).rejects.toMatchObject({ reason: 'OIDC_USER_UNKNOWN' })
    accounts['unverified'] = { ...account, email: 'other@example.org', email_verified: false, groups: ['editors'] }
    await expect(signIn(auth, 'unverified')).rejects.toMatchObject({ reason: 'OIDC_USER_UNKNOWN' })
  }, 60_000)

  test('without types of groups, a user that a sign-in created keeps the type that was set later', async () => {
    const auth = await startWithProvider(issuer, { organisationId: setup.org.two })
    accounts['mia'] = { email: 'mia@example.org', email_verified: true, given_name: 'Mia', family_name: 'May' }
    const { user } = await signIn(auth, 'mia')
    expect(user?.userType).toBe(UserType.USER_TYPE_UPLOADER)
    const changed = user && { ...user, userType: UserType.USER_TYPE_STANDARD }
    await setup.auth.users.updateUser({ user: changed, updateMask: ['user_type'] }, setup.system)
    expect((await signIn(auth, 'mia')).user).toMatchObject({ userId: user?.userId, userType: UserType.USER_TYPE_STANDARD })
    const invited = user && { ...user, status: UserStatus.USER_STATUS_INVITED }
    await setup.auth.users.updateUser({ user: invited, updateMask: ['status'] }, setup.system)
    await expect(setup.auth.signInLinks.createInvitation({ userId: user?.userId ?? '' }, setup.system)).rejects.toMatchObject({
      reason: 'PASSWORD_NOT_ALLOWED',
    })
  }, 60_000)

  test('users of an inactive organisation are rejected', async () => {
    const auth = await startWithProvider(issuer)
    const organisationId = await setup.createOrganisation('Inactive')
    const { email } = await setup.createUser({ organisationId })
    const organisation = Organisation.fromPartial({ organisationId, status: OrganisationStatus.ORGANISATION_STATUS_INACTIVE })
    await setup.auth.organisations.updateOrganisation({ organisation, updateMask: ['status'] }, setup.system)
    accounts['inactive'] = { email, email_verified: true }
    await expect(signIn(auth, 'inactive')).rejects.toMatchObject({ reason: 'ORGANISATION_INACTIVE' })
  }, 60_000)

  test('a state is accepted once, within 10 minutes, and in the browser that began', async () => {
    const auth = await startWithProvider(issuer)
    const { userId, email } = await setup.createUser()
    accounts['bob'] = { email, email_verified: true }
    const [first, other] = [await begin(auth), await begin(auth)]
    const redirect = await signInAtProvider(first.authorizationUrl, 'bob')
    const failed = { kind: 'forbidden', reason: 'OIDC_FAILED' }
    await expect(complete(auth, { ...redirect, browserSecret: other.browserSecret })).rejects.toMatchObject(failed)
    const otherState = new URL(other.authorizationUrl).searchParams.get('state') ?? ''
    // The code belongs to the PKCE challenge of the first sign-in.
    await expect(complete(auth, { ...redirect, state: otherState, browserSecret: other.browserSecret })).rejects.toMatchObject(failed)
    expect((await complete(auth, { ...redirect, browserSecret: first.browserSecret })).user).toMatchObject({ userId })
    await expect(complete(auth, { ...redirect, browserSecret: first.browserSecret })).rejects.toMatchObject(failed)

    const late = await begin(auth)
    const minutes = ((late.expireTime?.getTime() ?? 0) - Date.now()) / 60_000
    expect(minutes).toBeCloseTo(10, 0)
    const lateRedirect = await signInAtProvider(late.authorizationUrl, 'bob')
    await setup.database.db.query('update oidc_sign_in set expire_time = now()')
    await expect(complete(auth, { ...lateRedirect, browserSecret: late.browserSecret })).rejects.toMatchObject(failed)
  }, 60_000)
})

describe('with a hostile provider', () => {
  let issuer: string
  let auth: TestAuth
  let email: string
  /** Returns the ID token for the claims of a correct one. */
  let signToken: (claims: JWTPayload) => Promise<string>
  let changeClaims: (claims: JWTPayload) => JWTPayload
  let userInfoSubject: string
  let isDown: boolean
  let keys: Awaited<ReturnType<typeof generateKeyPair>>
  let challenge = ''

  beforeAll(async () => {
    keys = await generateKeyPair('RS256', { extractable: true })
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', use: 'sig' }
    const routes: Record<string, (request: IncomingMessage) => Promise<object>> = {
      '/.well-known/openid-configuration': async () => ({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
        authorization_response_iss_parameter_supported: true,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      }),
      '/jwks': async () => ({ keys: [jwk] }),
      '/userinfo': async () => ({ sub: userInfoSubject, email, email_verified: true }),
      async '/token'(request) {
        const form = new URLSearchParams(await text(request))
        const digest = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url')
        if (digest !== challenge || form.get('redirect_uri') !== REDIRECT) throw new Error('the verifier does not match')
        const now = Math.floor(Date.now() / 1_000)
        const claims = changeClaims({ iss: issuer, aud: CLIENT.id, sub: 'hal', iat: now, exp: now + 60, nonce: form.get('code') ?? '' })
        return { access_token: 'token', token_type: 'Bearer', id_token: await signToken(claims) }
      },
    }
    const server = createServer((request, response) => {
      const route = routes[request.url ?? '']
      if (isDown) response.destroy()
      else if (route)
        route(request).then(
          (body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)),
          (error: Error) => response.writeHead(500).end(error.message),
        )
      else response.writeHead(404).end()
    })
    issuer = await listen(server)
    isDown = false
    auth = await startWithProvider(issuer)
    ;({ email } = await setup.createUser())
  })
  beforeEach(() => {
    isDown = false
    userInfoSubject = 'hal'
    signToken = sign
    changeClaims = (claims) => claims
  })

  const sign = (claims: JWTPayload) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(keys.privateKey)

  /** Begins a sign-in and returns to it. The code of the provider is the nonce. */
  async function signIn(more: { issuer?: string } = { issuer }) {
    const { authorizationUrl, browserSecret } = await begin(auth)
    const { searchParams } = new URL(authorizationUrl)
    challenge = searchParams.get('code_challenge') ?? ''
    const code = searchParams.get('nonce') ?? ''
    return complete(auth, { code, state: searchParams.get('state') ?? '', browserSecret, ...more })
  }

  test('a correct response is accepted, and the URL has every protection', async () => {
    const { authorizationUrl } = await begin(auth)
    expect(Object.fromEntries(new URL(authorizationUrl).searchParams)).toEqual({
      client_id: CLIENT.id,
      response_type: 'code',
      redirect_uri: REDIRECT,
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect((await signIn()).user).toMatchObject({ email })
  })

  test.each<[string, (claims: JWTPayload) => JWTPayload]>([
    ['another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' })],
    ['another audience', (claims) => ({ ...claims, aud: 'another client' })],
    ['another nonce', (claims) => ({ ...claims, nonce: 'replayed' })],
    ['no nonce', ({ nonce, ...claims }) => claims],
    ['an expiry in the past', (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1_000) - 300 })],
    ['no subject', ({ sub, ...claims }) => claims],
  ])('a token with %s is rejected', async (_, change) => {
    changeClaims = change
    await expect(signIn()).rejects.toMatchObject({ kind: 'forbidden', reason: 'OIDC_FAILED' })
  })

  test.each<[string, (claims: JWTPayload) => Promise<string>]>([
    ['no signature', async (claims) => new UnsecuredJWT(claims).encode()],
    [
      'an HMAC with the secret of the client',
      (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(CLIENT.secret)),
    ],
    [
      'an HMAC with the public key',
      async (claims) => {
        const { n = '' } = await exportJWK(keys.publicKey)
        return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(Buffer.from(n, 'base64url'))
      },
    ],
    [
      'the signature of another key',
      async (claims) => {
        const { privateKey } = await generateKeyPair('RS256')
        return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey)
      },
    ],
    [
      'another algorithm than the provider announces',
      async (claims) => {
        const { privateKey } = await generateKeyPair('ES256')
        return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey)
      },
    ],
  ])('a token with %s is rejected', async (_, token) => {
    signToken = token
    await expect(signIn()).rejects.toMatchObject({ kind: 'forbidden', reason: 'OIDC_FAILED' })
  })

  test('a redirect of another provider, and one without its name, are rejected', async () => {
    for (const more of [{ issuer: 'https://evil.example' }, {}])
      await expect(signIn(more)).rejects.toMatchObject({ kind: 'forbidden', reason: 'OIDC_FAILED' })
  })

  test('claims of another subject are rejected', async () => {
    userInfoSubject = 'eve'
    await expect(signIn()).rejects.toMatchObject({ kind: 'forbidden', reason: 'OIDC_FAILED' })
  })

  test('a provider that does not respond is reported, and users with passwords still sign in', async () => {
    isDown = true
    await expect(signIn()).rejects.toMatchObject({ kind: 'unavailable', reason: 'OIDC_UNAVAILABLE' })
    const other = await startWithProvider(issuer)
    await expect(begin(other)).rejects.toMatchObject({ kind: 'unavailable', reason: 'OIDC_UNAVAILABLE' })
    const user = await setup.createUser({}, 'correct horse battery')
    const signedIn = other.sessions.createSession(
      { email: user.email, password: 'correct horse battery', address: '', userAgent: '' },
      guest(),
    )
    await expect(signedIn).resolves.toBeDefined()
    isDown = false
    await expect(begin(other)).resolves.toBeDefined()
  })
})

test('without a provider the sign-in is disabled', async () => {
  const disabled = { kind: 'failed_precondition', reason: 'OIDC_DISABLED' }
  await expect(begin(setup.auth)).rejects.toMatchObject(disabled)
  await expect(complete(setup.auth, { code: 'x', state: 'x', browserSecret: 'x' })).rejects.toMatchObject(disabled)
})
