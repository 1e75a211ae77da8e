import { createHash, randomBytes } from 'node:crypto'
import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { asSuperuser } from '../support/database.ts'
import { readLinkMail } from '../support/link-mail.ts'
import type { Fixture, NounRows } from '../support/table-row.ts'

interface Session {
  id: string
  current: boolean
  user_agent: string
  user: { user_id: string }
}

const PASSWORD = 'correct horse battery'
let count = 0

/** Creates a super user of the owner's organisation with a password. */
async function createUser({ clients, owner }: Fixture): Promise<{ email: string; userId: string }> {
  const email = `signs-in-${++count}-${Date.now()}@example.org`
  const payload = {
    organisation_id: owner.organisationId,
    first_name: 'Ada',
    last_name: 'Lee',
    email,
    user_type: 'standard',
    password: PASSWORD,
  }
  const { status, body } = await clients.system.post<{ user_id: string }>('/user', payload)
  expect(status).toBe(200)
  return { email, userId: body.user_id }
}

/** Signs in. Returns functions that send requests as a page of the platform does. */
async function signIn(fixture: Fixture, email: string) {
  const { status, body, headers } = await fixture.clients.guest.post<Session>('/session', { email, password: PASSWORD })
  expect(status).toBe(201)
  const setCookie = headers.get('set-cookie') ?? ''
  expect(setCookie).toMatch(/^vitascope-session=vs_\w+; Expires=[^;]+ GMT; Path=\/; HttpOnly; SameSite=Lax$/)
  const [cookie = ''] = setCookie.split(';')
  const send = <Body extends object = object>(
    method: string,
    path: string,
    payload?: object,
    origin: string | undefined = fixture.platform.url,
  ) =>
    fixture.clients.guest.send<Body & { code?: string }>(method, path, {
      headers: {
        cookie,
        'x-requested-with': 'XMLHttpRequest',
        ...(origin !== '' && { origin }),
        ...(payload && { 'content-type': 'application/json' }),
      },
      ...(payload && { body: JSON.stringify(payload) }),
    })
  return { session: body, send }
}

/** Stores a link of a user as if it had been sent. Returns its secret. */
async function createLink({ platform }: Fixture, userId: string, validFor = '1 hour'): Promise<string> {
  const secret = randomBytes(32).toString('base64url')
  await asSuperuser(platform, (client) =>
    client.query(
      `insert into auth.sign_in_link (user_id, purpose, secret_hash, expire_time)
       values ($1, 'password_reset', $2, now() + $3::interval)`,
      [userId, createHash('sha256').update(secret).digest(), validFor],
    ),
  )
  return secret
}

const OIDC_CALLBACK = { code: 'unknown', state: 'unknown', browser_secret: 'unknown' }

const guestCalls = (method: string, path: string) => [{ caller: 'guest' as const, method, path, status: 401, code: 'key_required' }]
/** An API key is not a session. */
const keyCalls = (method: string, path: string) => [{ method, path, status: 404, code: 'user_session_not_found' }]

export const userSessionRows: NounRows = {
  noun: 'user session',
  rows: [
    {
      endpoint: 'POST /session',
      async works(fixture) {
        const { email, userId } = await createUser(fixture)
        const { session, send } = await signIn(fixture, email.toUpperCase())
        expect(session).toMatchObject({ current: true, user: { user_id: userId } })
        // The session reads and changes what the user may, from pages of the platform only.
        expect((await send('GET', '/video')).status).toBe(200)
        const folder = { organisation_id: fixture.owner.organisationId, name: `By ${email}` }
        for (const origin of ['https://evil.example', 'null', ''])
          expect((await send('POST', '/folder', folder, origin)).body).toMatchObject({ status: 403, code: 'foreign_page' })
        expect((await send('POST', '/folder', folder)).status).toBe(200)
        expect((await send('GET', '/organisation/all')).body).toMatchObject({ status: 403, code: 'system_only' })
        expect((await send('GET', `/folder/${fixture.otherTenant.organisationId}`)).status).toBe(403)
        // A public route works with a session that has ended.
        expect((await send('DELETE', '/session')).status).toBe(200)
        const { video_id } = await fixture.playing()
        await waitFor(async () => (await send('GET', '/video')).body.code === 'sign_in_expired', { timeout: 5_000, describe: 'the end' })
        const ended = await send('GET', '/video')
        expect([ended.status, ended.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="Vitascope"'])
        expect((await send('GET', `/video/${video_id}`)).status).toBe(200)
      },
      async rejectedCalls(fixture) {
        const { email } = await createUser(fixture)
        const call = { caller: 'guest' as const, method: 'POST', path: '/session' }
        const wrong = { status: 403, code: 'sign_in_failed' }
        return [
          { ...call, payload: {}, status: 400, fields: ['email', 'password'] },
          {
            ...call,
            payload: { email: 'x'.repeat(255), password: 'x'.repeat(1_001), name: 'x' },
            status: 400,
            fields: ['email', 'password', 'name'],
          },
          { ...call, payload: { email, password: 'correct horse' }, ...wrong },
          { ...call, payload: { email: 'no-one@example.org', password: PASSWORD }, ...wrong },
        ]
      },
    },
    {
      endpoint: 'POST /session/link',
      async works(fixture) {
        const { email, userId } = await createUser(fixture)
        const { send } = await signIn(fixture, email)
        const [link, other] = [await createLink(fixture, userId), await createLink(fixture, userId)]
        const payload = { link, password: 'another long password', first_name: 'Grace' }
        const results = await Promise.all(Array.from({ length: 2 }, () => fixture.clients.guest.post<Session>('/session/link', payload)))
        expect(results.map(({ status }) => status).toSorted()).toEqual([201, 403])
        const used = results.find(({ status }) => status === 201)
        expect(used?.body).toMatchObject({ current: true, user: { user_id: userId, first_name: 'Grace', last_name: 'Lee', email } })
        const [cookie = ''] = (used?.headers.get('set-cookie') ?? '').split(';')
        expect((await fixture.clients.guest.send('GET', '/session', { headers: { cookie } })).status).toBe(200)
        // The other sessions and links of the user have ended.
        await waitFor(async () => (await send('GET', '/session')).status === 401, { timeout: 5_000, describe: 'the end of the session' })
        const repeated = await fixture.clients.guest.post('/session/link', { ...payload, link: other })
        expect([repeated.status, repeated.body]).toMatchObject([403, { code: 'link_invalid' }])
        expect((await fixture.clients.guest.post('/session', { email, password: PASSWORD })).status).toBe(403)
        expect((await fixture.clients.guest.post('/session', { email, password: payload.password })).status).toBe(201)
      },
      async rejectedCalls(fixture) {
        const { userId } = await createUser(fixture)
        const link = await createLink(fixture, userId)
        const expired = await createLink(fixture, userId, '-1 second')
        const call = { caller: 'guest' as const, method: 'POST', path: '/session/link' }
        return [
          { ...call, payload: {}, status: 400, fields: ['link', 'password'] },
          {
            ...call,
            payload: { link: 'x'.repeat(101), password: 'short', first_name: '', last_name: '', email: 'x', name: 'x' },
            status: 400,
            fields: ['link', 'password', 'first_name', 'last_name', 'email', 'name'],
          },
          { ...call, payload: { link: 'unknown', password: PASSWORD }, status: 403, code: 'link_invalid' },
          { ...call, payload: { link: expired, password: PASSWORD }, status: 403, code: 'link_invalid' },
          { ...call, payload: { link, password: PASSWORD, email: 'ada@example.org' }, status: 400, fields: ['email'] },
        ]
      },
    },
    {
      endpoint: 'POST /session/reset',
      async works(fixture) {
        const { email } = await createUser(fixture)
        const { send } = await signIn(fixture, email)
        const { status, body } = await fixture.clients.guest.post('/session/reset', { email })
        const unknown = await fixture.clients.guest.post('/session/reset', { email: `unknown-${email}` })
        expect([status, body]).toEqual([202, { requested: true }])
        expect([unknown.status, unknown.body]).toEqual([status, body])
        const { link, subject } = await readLinkMail(fixture, email)
        expect(subject).toMatch(/^New password for /)
        const changed = await fixture.clients.guest.post('/session/link', { link, password: 'another long password' })
        expect(changed.status).toBe(201)
        await waitFor(async () => (await send('GET', '/session')).status === 401, { timeout: 5_000, describe: 'the end of the session' })
      },
      rejectedCalls: async () => [
        { caller: 'guest', method: 'POST', path: '/session/reset', payload: {}, status: 400, fields: ['email'] },
        {
          caller: 'guest',
          method: 'POST',
          path: '/session/reset',
          payload: { email: 'x'.repeat(255), name: 'x' },
          status: 400,
          fields: ['email', 'name'],
        },
      ],
    },
    {
      endpoint: 'GET /session/oidc',
      // The tests of the console use a provider.
      async works({ clients }) {
        expect(await clients.guest.get('/session/oidc')).toMatchObject({ status: 200, body: { configured: false } })
      },
      rejectedCalls: async () => [{ caller: 'guest', method: 'PUT', path: '/session/oidc', status: 405 }],
    },
    {
      endpoint: 'POST /session/oidc',
      // The tests of auth use a provider.
      async works({ clients }) {
        const { status, body } = await clients.guest.post('/session/oidc')
        expect([status, body]).toMatchObject([409, { code: 'oidc_disabled' }])
      },
      rejectedCalls: async () => [
        {
          caller: 'guest',
          method: 'POST',
          path: '/session/oidc',
          payload: { return_to: '//evil.example' },
          status: 400,
          fields: ['return_to'],
        },
      ],
    },
    {
      endpoint: 'POST /session/oidc/callback',
      async works({ clients }) {
        const { status, body } = await clients.guest.post('/session/oidc/callback', OIDC_CALLBACK)
        expect([status, body]).toMatchObject([409, { code: 'oidc_disabled' }])
      },
      async rejectedCalls() {
        const call = { caller: 'guest' as const, method: 'POST', path: '/session/oidc/callback' }
        return [
          { ...call, payload: {}, status: 400, fields: ['code', 'state', 'browser_secret'] },
          {
            ...call,
            payload: { ...OIDC_CALLBACK, code: 'x'.repeat(4_001), iss: '', redirect_uri: 'https://evil.example' },
            status: 400,
            fields: ['code', 'iss', 'redirect_uri'],
          },
        ]
      },
    },
    {
      endpoint: 'GET /session',
      async works(fixture) {
        const { email, userId } = await createUser(fixture)
        const { session, send } = await signIn(fixture, email)
        const { status, body } = await send<Session>('GET', '/session')
        expect([status, body]).toMatchObject([200, { id: session.id, current: true, user: { user_id: userId } }])
      },
      rejectedCalls: async () => [...guestCalls('GET', '/session'), ...keyCalls('GET', '/session')],
    },
    {
      endpoint: 'GET /session/all',
      async works(fixture) {
        const { email } = await createUser(fixture)
        const [first, second] = [await signIn(fixture, email), await signIn(fixture, email)]
        const { body } = await second.send<Session[]>('GET', '/session/all')
        expect(body.map(({ id, current }) => [id, current])).toEqual([
          [first.session.id, false],
          [second.session.id, true],
        ])
        expect((await fixture.clients.owner.get('/session/all')).body).toEqual([])
      },
      rejectedCalls: async () => guestCalls('GET', '/session/all'),
    },
    {
      endpoint: 'PATCH /session/user',
      async works(fixture) {
        const { email, userId } = await createUser(fixture)
        const { send } = await signIn(fixture, email)
        const { status, body } = await send('PATCH', '/session/user', { first_name: 'x'.repeat(100), telephone_land: '' })
        expect([status, body]).toMatchObject([200, { user_id: userId, first_name: 'x'.repeat(100), last_name: 'Lee', email }])
        const changed = await send('PATCH', '/session/user', { first_name: 'Grace', last_name: 'Hopper', password: 'x'.repeat(128) })
        expect(changed.status).toBe(200)
        expect((await send('GET', '/session')).body).toMatchObject({ user: { first_name: 'Grace', last_name: 'Hopper' } })
        // An address may sign in 30 times a minute.
        expect((await fixture.clients.guest.post('/session', { email, password: 'x'.repeat(128) })).status).toBe(201)
      },
      rejectedCalls: async () => {
        const call = { method: 'PATCH', path: '/session/user' }
        const tooLong = { first_name: 'x'.repeat(101), last_name: '', telephone_land: 'x'.repeat(51), password: 'x'.repeat(129) }
        return [
          { ...call, payload: {}, status: 400, fields: ['payload'] },
          { ...call, payload: tooLong, status: 400, fields: ['first_name', 'last_name', 'telephone_land', 'password'] },
          { ...call, payload: { password: 'x'.repeat(7), email: 'x@example.org' }, status: 400, fields: ['password'] },
          { ...call, payload: { first_name: 'Ada' }, status: 404, code: 'user_session_not_found' },
          { ...call, caller: 'guest', payload: { first_name: 'Ada' }, status: 401, code: 'key_required' },
        ]
      },
    },
    {
      endpoint: 'DELETE /session',
      async works(fixture) {
        const { email } = await createUser(fixture)
        const { send } = await signIn(fixture, email)
        const { status, headers } = await send('DELETE', '/session')
        expect([status, headers.get('set-cookie')]).toEqual([200, expect.stringMatching(/^vitascope-session=; Max-Age=0;/)])
        await waitFor(async () => (await send('GET', '/session')).status === 401, { timeout: 5_000, describe: 'the end of the session' })
      },
      rejectedCalls: async () => [...guestCalls('DELETE', '/session'), ...keyCalls('DELETE', '/session')],
    },
    {
      endpoint: 'DELETE /session/{user_session_id}',
      async works(fixture) {
        const { email, userId } = await createUser(fixture)
        const [first, second, third] = [await signIn(fixture, email), await signIn(fixture, email), await signIn(fixture, email)]
        expect((await second.send('DELETE', `/session/${first.session.id}`)).status).toBe(200)
        await waitFor(async () => (await first.send('GET', '/session')).status === 401, {
          timeout: 5_000,
          describe: 'the end of the session',
        })
        expect((await second.send('GET', '/session')).status).toBe(200)
        // A new password ends the others.
        await fixture.clients.system.patch(`/user/${userId}`, { password: 'another long password' })
        for (const { send } of [second, third])
          await waitFor(async () => (await send('GET', '/session')).status === 401, { timeout: 5_000, describe: 'the end of all' })
      },
      async rejectedCalls(fixture) {
        const { email } = await createUser(fixture)
        const { session } = await signIn(fixture, email)
        const path = `/session/${session.id}`
        return [
          ...guestCalls('DELETE', path),
          ...keyCalls('DELETE', path),
          ...keyCalls('DELETE', '/session/999999'),
          { caller: 'otherTenant' as const, method: 'DELETE', path, status: 404, code: 'user_session_not_found' },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'POST /session': () => ({ email: 'no-one@example.org', password: 'sample' }),
      'POST /session/link': () => ({ link: 'unknown', password: 'a sample' }),
      'POST /session/oidc/callback': () => OIDC_CALLBACK,
      'PATCH /session/user': () => ({ first_name: 'Ada' }),
      'POST /session/reset': () => ({ email: 'no-one@example.org' }),
    },
    async make(fixture) {
      const { email } = await createUser(fixture)
      return { user_session_id: (await signIn(fixture, email)).session.id }
    },
  },
}
