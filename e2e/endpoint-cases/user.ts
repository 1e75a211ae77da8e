import { expect } from '@jest/globals'
import { readLinkMail } from '../support/link-mail.ts'
import type { Fixture, NounRows } from '../support/table-row.ts'

let userCount = 0
const createUser = async ({ clients, owner }: Fixture, fields: Record<string, unknown> = {}) => {
  const email = `row-${++userCount}@example.org`
  const payload = { organisation_id: owner.organisationId, first_name: 'Grace', last_name: 'Hopper', email, ...fields }
  const { status, body } = await clients.owner.post<{ user_id: string }>('/user', payload)
  expect(status).toBe(200)
  return { email, userId: body.user_id }
}
const buildText = (length: number) => 'x'.repeat(length)

export const userRows: NounRows = {
  noun: 'user',
  rows: [
    {
      endpoint: 'GET /user/{email}',
      async works(fixture) {
        const { email, userId } = await createUser(fixture)
        for (const spelled of [email, email.toUpperCase()]) {
          const { status, body } = await fixture.clients.system.get(`/user/${spelled}`)
          expect([status, body]).toMatchObject([200, { user_id: userId, email, user_type: 'uploader', status: 'invited' }])
        }
      },
      rejectedCalls: async () => [
        { caller: 'system', method: 'GET', path: '/user/nobody@example.org', status: 404 },
        { method: 'GET', path: '/user/nobody@example.org', status: 403 },
        { caller: 'guest', method: 'GET', path: '/user/nobody@example.org', status: 401 },
      ],
    },
    {
      endpoint: 'POST /user',
      async works(fixture) {
        const names = { first_name: buildText(100), last_name: buildText(100), telephone_land: buildText(50) }
        const { email, userId } = await createUser(fixture, { ...names, password: buildText(128), user_type: 'standard' })
        expect((await fixture.clients.system.get(`/user/${email}`)).body).toMatchObject({ ...names, user_id: userId, status: 'active' })
      },
      async rejectedCalls({ owner, otherTenant }) {
        const good = { organisation_id: owner.organisationId, first_name: 'A', last_name: 'B', email: 'row@example.org' }
        const bad = {
          ...good,
          first_name: buildText(101),
          last_name: '',
          telephone_land: buildText(51),
          password: buildText(7),
          email: 'no',
        }
        return [
          {
            method: 'POST',
            path: '/user',
            payload: bad,
            status: 400,
            fields: ['first_name', 'last_name', 'telephone_land', 'password', 'email'],
          },
          { method: 'POST', path: '/user', payload: { ...good, password: buildText(129) }, status: 400, fields: ['password'] },
          { method: 'POST', path: '/user', payload: { ...good, user_id: '7' }, status: 400, fields: ['user_id'] },
          { method: 'POST', path: '/user', payload: { ...good, organisation_id: otherTenant.organisationId }, status: 403 },
          { method: 'POST', path: '/user', payload: { ...good, user_type: 'system' }, status: 403 },
          { caller: 'uploader', method: 'POST', path: '/user', payload: good, status: 403 },
          { caller: 'system', method: 'POST', path: '/user', payload: { ...good, organisation_id: '999999' }, status: 404 },
        ]
      },
    },
    {
      endpoint: 'POST /user/{user_id}/invitation',
      async works(fixture) {
        const { email, userId } = await createUser(fixture)
        const { status, body } = await fixture.clients.owner.post(`/user/${userId}/invitation`)
        expect([status, body]).toEqual([202, { user_id: userId, email, requested: true }])
        const { link, subject } = await readLinkMail(fixture, email)
        expect(subject).toMatch(/^Your invitation to /)
        const accepted = { link, password: 'correct horse battery', first_name: 'Ada', last_name: 'Byron' }
        expect((await fixture.clients.guest.post('/session/link', accepted)).body).toMatchObject({
          current: true,
          user: { user_id: userId, first_name: 'Ada', last_name: 'Byron', status: 'active' },
        })
        expect((await fixture.clients.guest.post('/session/link', accepted)).status).toBe(403)
      },
      async rejectedCalls(fixture) {
        const { userId } = await createUser(fixture)
        const { userId: activeId } = await createUser(fixture, { status: 'active' })
        const call = { method: 'POST', path: `/user/${userId}/invitation` }
        return [
          { ...call, caller: 'guest', status: 401, code: 'key_required' },
          { ...call, caller: 'uploader', status: 403, code: 'super_user_only' },
          { ...call, caller: 'otherTenant', status: 404, code: 'user_not_found' },
          { ...call, payload: { email: 'x@example.org' }, status: 400, fields: ['email'] },
          { ...call, path: '/user/999999/invitation', status: 404, code: 'user_not_found' },
          { ...call, path: `/user/${activeId}/invitation`, status: 409, code: 'user_active' },
        ]
      },
    },
    {
      endpoint: 'DELETE /user/{user_id}',
      async works(fixture) {
        const { email, userId } = await createUser(fixture)
        expect((await fixture.clients.system.delete(`/user/${userId}`)).body).toEqual({ user_id: userId, deleted: true })
        expect((await fixture.clients.system.get(`/user/${email}`)).status).toBe(404)
        expect((await fixture.clients.system.delete(`/user/${userId}`)).status).toBe(404)
      },
      rejectedCalls: async ({ uploader }) => [
        { caller: 'system', method: 'DELETE', path: '/user/999999', status: 404 },
        { method: 'DELETE', path: `/user/${uploader.userId}`, status: 403 },
      ],
    },
    {
      endpoint: 'GET /user',
      async works(fixture) {
        const { email } = await createUser(fixture)
        const { status, body } = await fixture.clients.owner.get<{ email: string; organisation_id: string }[]>('/user')
        expect(status).toBe(200)
        expect(body.map((user) => user.email)).toContain(email)
        expect(new Set(body.map((user) => user.organisation_id))).toEqual(new Set([fixture.owner.organisationId]))
        expect((await fixture.clients.system.get(`/user?organisation_id=${fixture.owner.organisationId}`)).body).toEqual(body)
      },
      rejectedCalls: async ({ otherTenant }) => [
        { method: 'GET', path: `/user?organisation_id=${otherTenant.organisationId}`, status: 403 },
        { caller: 'system', method: 'GET', path: '/user', status: 400, fields: ['organisation_id'] },
        { caller: 'uploader', method: 'GET', path: '/user', status: 403 },
      ],
    },
    {
      endpoint: 'PATCH /user/{user_id}',
      async works(fixture) {
        const { email, userId } = await createUser(fixture)
        const changed = await fixture.clients.owner.patch(`/user/${userId}`, { first_name: 'Ada', user_type: 'standard' })
        expect(changed.body).toMatchObject({ user_id: userId, first_name: 'Ada', user_type: 'standard', last_name: 'Hopper' })
        expect((await fixture.clients.system.get(`/user/${email}`)).body).toEqual(changed.body)
      },
      rejectedCalls: async ({ owner, uploader, otherTenant }) => [
        { method: 'PATCH', path: `/user/${otherTenant.userId}`, payload: { first_name: 'X' }, status: 404 },
        { method: 'PATCH', path: `/user/${owner.userId}`, payload: { user_type: 'uploader' }, status: 403, code: 'own_rights' },
        { method: 'PATCH', path: `/user/${uploader.userId}`, payload: { user_type: 'system' }, status: 403 },
        { method: 'PATCH', path: `/user/${uploader.userId}`, payload: { organisation_id: '1' }, status: 400, fields: ['organisation_id'] },
        { method: 'PATCH', path: `/user/${uploader.userId}`, payload: {}, status: 400 },
        { caller: 'uploader', method: 'PATCH', path: `/user/${uploader.userId}`, payload: { first_name: 'X' }, status: 403 },
      ],
    },
  ],
  samples: {
    payloads: {
      'POST /user': (v) => ({ organisation_id: v['organisation_id'], first_name: 'A', last_name: 'B', email: 'new@example.org' }),
      'PATCH /user/{}': () => ({ first_name: 'Renamed' }),
    },
    async make(fixture) {
      const { clients, owner } = fixture
      const { userId } = await createUser(fixture)
      const { body } = await clients.system.get<{ user_id: string; email: string }[]>(`/user?organisation_id=${owner.organisationId}`)
      return { user_id: owner.userId, email: body.find((user) => user.user_id === owner.userId)?.email ?? '', invited_user_id: userId }
    },
  },
}
