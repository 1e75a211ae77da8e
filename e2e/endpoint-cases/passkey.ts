import { expect } from '@jest/globals'
import { createRegistration, type PasskeyRecord, registerPasskey, signSignIn } from '../support/passkeys.ts'
import type { Fixture, NounRows } from '../support/table-row.ts'
import { createUser } from '../support/video-steps.ts'

const PASSWORD = 'correct horse battery'
const REGISTRATION = {
  name: 'Laptop',
  browser_secret: 'unknown',
  credential: { id: 'AAAA', response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' } },
}
const SIGN_IN = {
  browser_secret: 'unknown',
  credential: { id: 'AAAA', response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' } },
}
const guestCall = (method: string, path: string) => ({ caller: 'guest' as const, method, path, status: 401, code: 'key_required' })
const own = ({ clients, platform }: Fixture) => registerPasskey(clients.owner, platform.url)
const list = async ({ clients }: Fixture) => (await clients.owner.get<PasskeyRecord[]>('/passkey')).body
const remove = ({ clients }: Fixture, id: string) => clients.owner.delete(`/passkey/${id}`)

/** Creates a user of the owner's organisation with a key and a password, and a client with the key. */
async function createPerson({ platform, owner }: Fixture) {
  const { userId, key } = await createUser(platform.system, owner.organisationId, 'uploader')
  const email = `passkey-${userId}@example.org`
  await platform.system.patch(`/user/${userId}`, { email, password: PASSWORD })
  return { userId, email, api: platform.withKey(key) }
}

const signInByPassword = ({ clients }: Fixture, email: string) => clients.guest.post('/session', { email, password: PASSWORD })

export const passkeyRows: NounRows = {
  noun: 'passkey',
  rows: [
    {
      endpoint: 'POST /passkey/registration',
      async works(fixture) {
        const { clients, platform } = fixture
        const { status, body, headers } = await clients.owner.post<{ options: Record<string, unknown> }>('/passkey/registration')
        expect([status, headers.get('cache-control')]).toEqual([201, 'no-store'])
        expect(body.options).toMatchObject({
          rp: { id: new URL(platform.url).hostname },
          authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
          attestation: 'none',
        })
      },
      rejectedCalls: async () => [
        guestCall('POST', '/passkey/registration'),
        { method: 'POST', path: '/passkey/registration', payload: { origin: 'https://evil.example' }, status: 400, fields: ['origin'] },
      ],
    },
    {
      endpoint: 'POST /passkey',
      async works(fixture) {
        const { credential, payload } = await createRegistration(fixture.clients.owner, fixture.platform.url, 'x'.repeat(100))
        const { status, body } = await fixture.clients.owner.post<PasskeyRecord>('/passkey', payload)
        expect([status, body]).toMatchObject([201, { name: 'x'.repeat(100), backed_up: false, last_used: '' }])
        expect(await list(fixture)).toContainEqual(body)
        // The challenge is used.
        expect((await fixture.clients.owner.post('/passkey', payload)).body).toMatchObject({ code: 'passkey_failed' })
        const next = await fixture.clients.owner.post<{ options: { excludeCredentials: { id: string }[] } }>('/passkey/registration')
        expect(next.body.options.excludeCredentials.map(({ id }) => id)).toContain(credential.credentialId)
        await remove(fixture, body.id)
      },
      async rejectedCalls() {
        const call = { method: 'POST', path: '/passkey' }
        return [
          guestCall('POST', '/passkey'),
          { ...call, payload: {}, status: 400, fields: ['name', 'browser_secret', 'credential'] },
          {
            ...call,
            payload: { ...REGISTRATION, name: 'x'.repeat(101), credential: { id: 'x'.repeat(1_365), response: {} }, user_id: '1' },
            status: 400,
            fields: ['name', 'credential.id', 'credential.response.clientDataJSON', 'credential.response.attestationObject', 'user_id'],
          },
          { ...call, payload: REGISTRATION, status: 403, code: 'passkey_failed' },
        ]
      },
    },
    {
      endpoint: 'GET /passkey',
      async works(fixture) {
        const [first, second] = [await own(fixture), await own(fixture)]
        expect((await list(fixture)).slice(-2)).toEqual([first.passkey, second.passkey])
        expect((await fixture.clients.uploader.get('/passkey')).body).toEqual([])
        for (const { passkey } of [first, second]) await remove(fixture, passkey.id)
      },
      rejectedCalls: async () => [guestCall('GET', '/passkey')],
    },
    {
      endpoint: 'PATCH /passkey/{passkey_id}',
      async works(fixture) {
        const { passkey } = await own(fixture)
        const { status, body } = await fixture.clients.owner.patch(`/passkey/${passkey.id}`, { ...passkey, name: 'Phone' })
        expect([status, body]).toEqual([200, { ...passkey, name: 'Phone' }])
        expect(await list(fixture)).toContainEqual(body)
        await remove(fixture, passkey.id)
      },
      async rejectedCalls(fixture) {
        const { passkey } = await own(fixture)
        const call = { method: 'PATCH', path: `/passkey/${passkey.id}` }
        const missing = { payload: { name: 'Phone' }, status: 404, code: 'passkey_not_found' }
        return [
          { ...guestCall('PATCH', call.path), payload: { name: 'Phone' } },
          { ...call, payload: { name: 'x'.repeat(101), user_id: '1' }, status: 400, fields: ['name', 'user_id'] },
          { ...call, payload: { name: ' ' }, status: 400, fields: ['name'] },
          { ...call, ...missing, caller: 'uploader' },
          { ...call, ...missing, caller: 'otherTenant' },
          { ...call, ...missing, caller: 'system' },
          { ...call, ...missing, path: '/passkey/999999' },
        ]
      },
    },
    {
      endpoint: 'DELETE /passkey/{passkey_id}',
      async works(fixture) {
        const { credential, passkey } = await own(fixture)
        const { payload } = await signSignIn(fixture.clients.guest, fixture.platform.url, credential)
        const { status, body } = await remove(fixture, passkey.id)
        expect([status, body]).toEqual([200, { id: passkey.id, deleted: true }])
        const rejected = await fixture.clients.guest.post('/session/passkey/callback', payload)
        expect([rejected.status, rejected.body]).toMatchObject([403, { code: 'passkey_failed' }])
      },
      async rejectedCalls(fixture) {
        const { passkey } = await own(fixture)
        const call = { method: 'DELETE', path: `/passkey/${passkey.id}`, status: 404, code: 'passkey_not_found' }
        return [
          guestCall('DELETE', call.path),
          { ...call, caller: 'uploader' },
          { ...call, caller: 'otherTenant' },
          { ...call, caller: 'system' },
          { ...call, path: '/passkey/999999' },
        ]
      },
    },
    {
      endpoint: 'DELETE /user/{user_id}/passkeys',
      async works(fixture) {
        const { userId, email, api } = await createPerson(fixture)
        await registerPasskey(api, fixture.platform.url)
        expect((await api.patch('/session/settings', { passkey_required: true })).status).toBe(200)
        expect((await signInByPassword(fixture, email)).body).toMatchObject({ status: 403, code: 'passkey_required' })
        const { status, body } = await fixture.clients.owner.delete(`/user/${userId}/passkeys`)
        expect([status, body]).toEqual([200, { user_id: userId, deleted: true }])
        expect((await api.get('/passkey')).body).toEqual([])
        expect((await signInByPassword(fixture, email)).status).toBe(201)
      },
      async rejectedCalls(fixture) {
        const { userId } = await createPerson(fixture)
        const call = { method: 'DELETE', path: `/user/${userId}/passkeys` }
        const { userId: systemUser } = await createUser(fixture.platform.system, fixture.owner.organisationId, 'system')
        return [
          guestCall('DELETE', call.path),
          { ...call, caller: 'uploader', status: 403, code: 'super_user_only' },
          { ...call, caller: 'otherTenant', status: 404, code: 'user_not_found' },
          { ...call, path: '/user/999999/passkeys', status: 404, code: 'user_not_found' },
          { ...call, path: `/user/${systemUser}/passkeys`, status: 403, code: 'system_only' },
        ]
      },
    },
    {
      endpoint: 'POST /session/passkey',
      async works(fixture) {
        const { clients, platform } = fixture
        const { email, api } = await createPerson(fixture)
        const { credential } = await registerPasskey(api, platform.url)
        expect((await signSignIn(clients.guest, platform.url, credential)).allowed).toEqual([])
        const { allowed, payload } = await signSignIn(clients.guest, platform.url, credential, { email, password: PASSWORD })
        expect(allowed).toEqual([credential.credentialId])
        expect((await clients.guest.post('/session/passkey/callback', payload)).status).toBe(201)
      },
      async rejectedCalls(fixture) {
        const { email } = await createPerson(fixture)
        const call = { caller: 'guest' as const, method: 'POST', path: '/session/passkey' }
        return [
          {
            ...call,
            payload: { email: 'x'.repeat(255), password: 'x'.repeat(1_001), origin: 'x' },
            status: 400,
            fields: ['email', 'password', 'origin'],
          },
          { ...call, payload: { email }, status: 400, fields: ['password'] },
          { ...call, payload: { password: PASSWORD }, status: 400, fields: ['email'] },
          { ...call, payload: { email, password: 'correct horse' }, status: 403, code: 'sign_in_failed' },
          { ...call, payload: { email, password: PASSWORD }, status: 409, code: 'no_passkey' },
        ]
      },
    },
    {
      endpoint: 'POST /session/passkey/callback',
      async works(fixture) {
        const { clients, platform } = fixture
        const { credential, passkey } = await own(fixture)
        const { payload } = await signSignIn(clients.guest, platform.url, credential)
        const { status, body, headers } = await clients.guest.post('/session/passkey/callback', payload)
        expect([status, body]).toMatchObject([201, { current: true, user: { user_id: fixture.owner.userId } }])
        const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';')
        expect((await clients.guest.send('GET', '/session', { headers: { cookie } })).status).toBe(200)
        expect((await list(fixture)).find(({ id }) => id === passkey.id)?.last_used).not.toBe('')
        const repeated = await clients.guest.post('/session/passkey/callback', payload)
        expect([repeated.status, repeated.body]).toMatchObject([403, { code: 'passkey_failed' }])
        await remove(fixture, passkey.id)
      },
      async rejectedCalls() {
        const call = { caller: 'guest' as const, method: 'POST', path: '/session/passkey/callback' }
        return [
          { ...call, payload: {}, status: 400, fields: ['browser_secret', 'credential'] },
          {
            ...call,
            payload: {
              browser_secret: 'x'.repeat(101),
              credential: { id: '', response: { clientDataJSON: 'x'.repeat(10_001) } },
              rp_id: 'x',
            },
            status: 400,
            fields: [
              ...['browser_secret', 'credential.id', 'credential.response.clientDataJSON', 'credential.response.authenticatorData'],
              ...['credential.response.signature', 'rp_id'],
            ],
          },
          { ...call, payload: SIGN_IN, status: 403, code: 'passkey_failed' },
        ]
      },
    },
    {
      endpoint: 'GET /session/settings',
      async works({ clients }) {
        // The address of the tests is an IP address, for which browsers have no passkeys.
        expect((await clients.owner.get('/session/settings')).body).toEqual({ passkey_required: false, passkey_origin: '' })
      },
      rejectedCalls: async () => [guestCall('GET', '/session/settings')],
    },
    {
      endpoint: 'PATCH /session/settings',
      async works(fixture) {
        const { owner } = fixture.clients
        const { passkey } = await own(fixture)
        expect((await owner.patch('/session/settings', { passkey_required: true })).body).toMatchObject({ passkey_required: true })
        const { body: stored } = await owner.get('/session/settings')
        expect(stored).toMatchObject({ passkey_required: true })
        // A record can be sent back as it was read.
        expect((await owner.patch('/session/settings', { ...stored, passkey_required: false })).status).toBe(200)
        expect((await remove(fixture, passkey.id)).status).toBe(200)
        const { api } = await createPerson(fixture)
        const { passkey: last } = await registerPasskey(api, fixture.platform.url)
        await api.patch('/session/settings', { passkey_required: true })
        expect((await api.delete(`/passkey/${last.id}`)).body).toMatchObject({ status: 409, code: 'last_passkey' })
      },
      rejectedCalls: async () => [
        { ...guestCall('PATCH', '/session/settings'), payload: { passkey_required: true } },
        { method: 'PATCH', path: '/session/settings', payload: {}, status: 400, fields: ['passkey_required'] },
        {
          method: 'PATCH',
          path: '/session/settings',
          payload: { passkey_required: 'perhaps', user_id: '1' },
          status: 400,
          fields: ['passkey_required', 'user_id'],
        },
        {
          caller: 'uploader',
          method: 'PATCH',
          path: '/session/settings',
          payload: { passkey_required: true },
          status: 409,
          code: 'no_passkey',
        },
      ],
    },
  ],
  samples: {
    payloads: {
      'POST /passkey': () => REGISTRATION,
      'PATCH /passkey/{}': () => ({ name: 'Phone' }),
      'POST /session/passkey': () => ({ email: 'no-one@example.org', password: 'sample' }),
      'POST /session/passkey/callback': () => SIGN_IN,
      'PATCH /session/settings': () => ({ passkey_required: false }),
    },
    make: async (fixture) => ({ passkey_id: (await own(fixture)).passkey.id }),
  },
}
