import { expect } from '@jest/globals'
import type { Fixture, NounRows } from '../support/table-row.ts'

interface Organisation extends Record<string, unknown> {
  organisation_id: string
}
const create = async ({ clients }: Fixture, name: string) => {
  const { status, body } = await clients.system.post<Organisation>('/organisation', { name })
  expect(status).toBe(201)
  return body
}

export const organisationRows: NounRows = {
  noun: 'organisation',
  rows: [
    {
      endpoint: 'GET /organisation/{id}',
      async works(fixture) {
        const created = await create(fixture, 'Read back')
        expect((await fixture.clients.system.get(`/organisation/${created.organisation_id}`)).body).toEqual(created)
      },
      rejectedCalls: async ({ owner }) => [
        { caller: 'system', method: 'GET', path: '/organisation/999999', status: 404 },
        { caller: 'system', method: 'GET', path: '/organisation/x', status: 404 },
        { method: 'GET', path: `/organisation/${owner.organisationId}`, status: 403 },
      ],
    },
    {
      endpoint: 'GET /organisation/{organisation_id}/usage',
      async works(fixture) {
        const { clients, owner } = fixture
        const path = `/organisation/${owner.organisationId}`
        await clients.system.put(path, { quota: { bytes: 1_000_000_000_000, minutes_per_month: 50_000, concurrent_jobs: 1_000 } })
        try {
          for (const caller of ['owner', 'uploader', 'system'] as const) {
            const { organisation_id, name, public_page, quota, usage } = (await clients.system.get<Organisation>(path)).body
            const { status, body } = await clients[caller].get(`${path}/usage`)
            expect([status, body]).toEqual([200, { organisation_id, name, public_page, quota, usage }])
            expect(quota).toEqual({ bytes: '1000000000000', minutes_per_month: '50000', concurrent_jobs: '1000' })
          }
        } finally {
          await clients.system.put(path, { quota: null })
        }
      },
      rejectedCalls: async ({ owner, otherTenant }) => [
        { method: 'GET', path: `/organisation/${otherTenant.organisationId}/usage`, status: 403 },
        { method: 'GET', path: '/organisation/999999/usage', status: 403 },
        { caller: 'system', method: 'GET', path: '/organisation/999999/usage', status: 404 },
        { caller: 'guest', method: 'GET', path: `/organisation/${owner.organisationId}/usage`, status: 401 },
      ],
    },
    {
      endpoint: 'GET /organisation',
      async works(fixture) {
        const { organisation_id } = await create(fixture, 'Also inactive')
        await fixture.clients.system.put(`/organisation/${organisation_id}`, { status: 'inactive' })
        const { body } = await fixture.clients.system.get<Organisation[]>('/organisation')
        const { usage, ...record } = (await fixture.clients.system.get<Organisation>(`/organisation/${organisation_id}`)).body
        expect(body.at(-1)).toEqual(record)
        expect(record).toMatchObject({ status: 'inactive' })
        expect(usage).toBeDefined()
        expect((await fixture.clients.system.get('/organisation?start=2&limit=1')).body).toEqual([body[1]])
      },
      rejectedCalls: async () => [
        { method: 'GET', path: '/organisation', status: 403 },
        { caller: 'system', method: 'GET', path: '/organisation?limit=1001', status: 400, fields: ['limit'] },
      ],
    },
    {
      endpoint: 'GET /organisation/all',
      async works(fixture) {
        const { organisation_id } = await create(fixture, 'Listed')
        const { body } = await fixture.clients.system.get<Record<string, string>>('/organisation/all')
        expect(body[organisation_id]).toBe('Listed')
        await fixture.clients.system.put(`/organisation/${organisation_id}`, { status: 'inactive' })
        expect((await fixture.clients.system.get('/organisation/all')).body).not.toHaveProperty(organisation_id)
      },
      rejectedCalls: async () => [
        { method: 'GET', path: '/organisation/all', status: 403 },
        { caller: 'system', method: 'GET', path: '/organisation/all?limit=1001', status: 400, fields: ['limit'] },
      ],
    },
    {
      endpoint: 'PUT /organisation/{id}',
      async works(fixture) {
        const { organisation_id } = await create(fixture, 'Before')
        const data = {
          name: 'x'.repeat(255),
          allowed_ips: ['192.0.2.0/24', '2001:db8::/32'],
          public_page: true,
          quota: { bytes: '5', minutes_per_month: null, concurrent_jobs: '2' },
        }
        const { body } = await fixture.clients.system.put(`/organisation/${organisation_id}`, data)
        expect(body).toEqual({ organisation_id, status: { action: 'update_data', success: true, data } })
        expect((await fixture.clients.system.get(`/organisation/${organisation_id}`)).body).toMatchObject({ ...data, status: 'active' })
      },
      async rejectedCalls({ owner }) {
        const path = `/organisation/${owner.organisationId}`
        const bad = { name: 'x'.repeat(256), status: 'gone', allowed_ips: ['300.1.1.1'], public_page: 'maybe', colour: 'red' }
        return [
          {
            caller: 'system',
            method: 'PUT',
            path,
            payload: bad,
            status: 400,
            fields: ['name', 'status', 'allowed_ips[0]', 'public_page', 'colour'],
          },
          { caller: 'system', method: 'PUT', path, payload: {}, status: 400 },
          { caller: 'system', method: 'PUT', path: '/organisation/1', payload: { status: 'inactive' }, status: 409 },
          { caller: 'system', method: 'PUT', path: '/organisation/999999', payload: { name: 'X' }, status: 404 },
          { method: 'PUT', path, payload: { name: 'X' }, status: 403 },
        ]
      },
    },
    {
      endpoint: 'POST /organisation',
      async works(fixture) {
        const created = await create(fixture, 'x'.repeat(255))
        expect(created).toMatchObject({ status: 'active', allowed_ips: [], public_page: false })
        expect((await fixture.clients.system.get(`/organisation/${created.organisation_id}`)).body).toEqual(created)
      },
      rejectedCalls: async () => [
        { caller: 'system', method: 'POST', path: '/organisation', payload: { name: '' }, status: 400, fields: ['name'] },
        { caller: 'system', method: 'POST', path: '/organisation', payload: { name: 'x'.repeat(256) }, status: 400, fields: ['name'] },
        { method: 'POST', path: '/organisation', payload: { name: 'X' }, status: 403 },
      ],
    },
  ],
  samples: {
    payloads: { 'POST /organisation': () => ({ name: 'New' }), 'PUT /organisation/{}': () => ({ name: 'Renamed' }) },
    make: async ({ owner }) => ({ organisation_id: owner.organisationId }),
  },
}
