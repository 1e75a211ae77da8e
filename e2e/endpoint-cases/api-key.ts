import { expect } from '@jest/globals'
import type { Fixture, NounRows } from '../support/table-row.ts'
import { createUser } from '../support/video-steps.ts'

const newKey = async ({ clients }: Fixture, userId: string, fields: Record<string, unknown> = {}) => {
  const payload = { application_name: 'Newsroom', resources: ['video::get', 'video::post'], ...fields }
  const { status, body } = await clients.system.post<{ key: string; expires: string | null; resources: string[] }>(
    `/apikey/${userId}/generate`,
    payload,
  )
  expect(status).toBe(200)
  return body
}
/** A path whose resource only some presets have. */
const PRESET_READS = [
  ['upload', '/playlist/organisation/1', false],
  ['playback', '/webhook', false],
  ['read', '/webhook', true],
  ['admin', '/webhook', true],
] as const
const createColleague = ({ platform, owner }: Fixture) => createUser(platform.system, owner.organisationId, 'uploader', ['video::get'])

const listOfUser = async (fixture: Fixture, path: 'user' | 'user_id') => {
  const { userId, key } = await createColleague(fixture)
  const powerless = await newKey(fixture, userId, { resources: [] })
  const { status, body } = await fixture.clients.system.get<{ user_id: string; acl: Record<string, { application_name: string } | null> }>(
    `/apikey/${path}/${userId}`,
  )
  expect([status, body.user_id]).toEqual([200, userId])
  expect(body.acl[key]).toMatchObject({ application_name: 'tests', resources: { 'video::get': { levels: ['user', 'admin'] } } })
  expect(body.acl[powerless.key]).toBeNull()
}
const rejectedListCalls = async (path: string) => [
  { caller: 'system' as const, method: 'GET', path: `${path}/999999`, status: 404 },
  { method: 'GET', path: `${path}/1`, status: 403 },
  { caller: 'guest' as const, method: 'GET', path: `${path}/1`, status: 401 },
  { caller: 'system' as const, method: 'GET', path: `${path}/1?limit=1001&start=0`, status: 400, fields: ['limit', 'start'] },
]

export const apiKeyRows: NounRows = {
  noun: 'api-key',
  rows: [
    {
      endpoint: 'GET /apikey/{api_key}',
      async works({ clients, owner }) {
        const { status, body } = await clients.owner.get(`/apikey/${owner.key}`)
        expect([status, body]).toMatchObject([200, { key: owner.key, organisation_id: owner.organisationId, user_id: owner.userId }])
        expect((await clients.system.get(`/apikey/${owner.key}`)).body).toEqual(body)
      },
      rejectedCalls: async ({ otherTenant }) => [
        { method: 'GET', path: `/apikey/${otherTenant.key}`, status: 403, code: 'own_key_only' },
        { caller: 'system', method: 'GET', path: '/apikey/vs_none', status: 404 },
        { caller: 'guest', method: 'GET', path: `/apikey/${otherTenant.key}`, status: 401 },
      ],
    },
    {
      endpoint: 'GET /apikey/acl-list',
      async works({ clients }) {
        const { status, body } =
          await clients.system.get<Record<string, { id: number; levels: string[]; resource: string }>>('/apikey/acl-list')
        expect(status).toBe(200)
        for (const [id, entry] of Object.entries(body)) expect(String(entry.id)).toBe(id)
        expect(Object.values(body)).toContainEqual(expect.objectContaining({ resource: 'video::put', levels: ['user', 'admin'] }))
      },
      rejectedCalls: async () => [
        { method: 'GET', path: '/apikey/acl-list', status: 403 },
        { caller: 'guest', method: 'GET', path: '/apikey/acl-list', status: 401 },
      ],
    },
    {
      endpoint: 'GET /apikey/user/{user_id}',
      works: (fixture) => listOfUser(fixture, 'user'),
      rejectedCalls: () => rejectedListCalls('/apikey/user'),
    },
    {
      endpoint: 'GET /apikey/user_id/{user_id}',
      works: (fixture) => listOfUser(fixture, 'user_id'),
      rejectedCalls: () => rejectedListCalls('/apikey/user_id'),
    },
    {
      endpoint: 'GET /apikey/organisation/{organisation_id}',
      async works({ clients, owner, otherTenant }) {
        const { body } = await clients.system.get<Record<string, Record<string, unknown>>>(`/apikey/organisation/${owner.organisationId}`)
        const shown = body[owner.userId]?.[owner.key] as { last_used: string | null }
        expect(shown).toMatchObject({ expires: null })
        expect(shown.last_used ?? '2030-01-01 00:00:00 GMT').toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT$/)
        expect(Object.keys(body)).not.toContain(otherTenant.userId)
      },
      rejectedCalls: () => rejectedListCalls('/apikey/organisation'),
    },
    {
      endpoint: 'POST /apikey/{user_id}/generate',
      async works(fixture) {
        const { userId } = await createColleague(fixture)
        const created = await newKey(fixture, userId, { application_name: 'x'.repeat(255), expiry_date: '2030-12-31 23:59:59 GMT' })
        expect(created).toMatchObject({ expires: '2030-12-31 23:59:59 GMT', resources: ['video::get', 'video::post'], user_id: userId })
        expect((await fixture.platform.withKey(created.key).get('/video')).status).toBe(200)
        expect((await fixture.clients.system.get(`/apikey/${created.key}`)).body).toMatchObject({
          acl: ['video::get', 'video::post'],
          user_id: userId,
        })
        for (const [preset, path, granted] of PRESET_READS) {
          const presetKey = await newKey(fixture, userId, { application_name: preset, resources: undefined, preset })
          expect(presetKey.resources).toContain('video::get')
          const api = fixture.platform.withKey(presetKey.key)
          expect([preset, (await api.get('/video')).status, (await api.get(path)).status]).toEqual([preset, 200, granted ? 200 : 403])
        }
      },
      async rejectedCalls({ owner, uploader }) {
        const path = `/apikey/${uploader.userId}/generate`
        const good = { application_name: 'a', resources: [] }
        const caller = 'system' as const
        return [
          { caller, method: 'POST', path, payload: {}, status: 400, fields: ['application_name', 'resources'] },
          {
            caller,
            method: 'POST',
            path,
            payload: { ...good, application_name: 'x'.repeat(256) },
            status: 400,
            fields: ['application_name'],
          },
          {
            caller,
            method: 'POST',
            path,
            payload: { ...good, expiry_date: '2012-02-30 00:00:00 GMT' },
            status: 400,
            fields: ['expiry_date'],
          },
          {
            caller,
            method: 'POST',
            path,
            payload: { ...good, expiry_date: '2030-01-01 00:00:00 MOON' },
            status: 400,
            fields: ['expiry_date'],
          },
          { caller, method: 'POST', path, payload: { ...good, resources: ['user::post'] }, status: 400 },
          { caller, method: 'POST', path, payload: { ...good, resources: ['moon::get'] }, status: 400 },
          { caller, method: 'POST', path, payload: { ...good, preset: 'read' }, status: 400, fields: ['resources'] },
          { caller, method: 'POST', path, payload: { application_name: 'a', preset: 'all' }, status: 400, fields: ['preset'] },
          { caller, method: 'POST', path, payload: { ...good, user_type: 'system' }, status: 400, fields: ['user_type'] },
          { caller, method: 'POST', path: '/apikey/999999/generate', payload: good, status: 404 },
          { method: 'POST', path: `/apikey/${owner.userId}/generate`, payload: good, status: 403 },
        ]
      },
    },
    {
      endpoint: 'PUT /apikey/{api_key}/regenerate',
      async works(fixture) {
        const { key } = await createColleague(fixture)
        const { status, body } = await fixture.clients.system.put<{ new_key: string; old_key: string }>(`/apikey/${key}/regenerate`)
        expect([status, body.old_key]).toEqual([200, key])
        expect((await fixture.platform.withKey(body.new_key).get('/video')).status).toBe(200)
        expect((await fixture.clients.system.get(`/apikey/${key}`)).status).toBe(404)
      },
      rejectedCalls: async ({ owner }) => [
        { caller: 'system', method: 'PUT', path: '/apikey/vs_none/regenerate', status: 404 },
        { method: 'PUT', path: `/apikey/${owner.key}/regenerate`, status: 403 },
        { caller: 'guest', method: 'PUT', path: `/apikey/${owner.key}/regenerate`, status: 401 },
      ],
    },
    {
      endpoint: 'DELETE /apikey/{api_key}',
      async works(fixture) {
        const { key } = await createColleague(fixture)
        expect((await fixture.clients.owner.delete(`/apikey/${key}`)).body).toEqual({ deleted: true })
        expect((await fixture.clients.system.get(`/apikey/${key}`)).status).toBe(404)
      },
      rejectedCalls: async ({ owner, otherTenant }) => [
        { method: 'DELETE', path: `/apikey/${otherTenant.key}`, status: 404 },
        { caller: 'uploader', method: 'DELETE', path: `/apikey/${owner.key}`, status: 403 },
        { caller: 'guest', method: 'DELETE', path: `/apikey/${owner.key}`, status: 401 },
      ],
    },
  ],
  samples: {
    payloads: { 'POST /apikey/{}/generate': () => ({ application_name: 'new', resources: [] }) },
    make: async ({ owner }) => ({ api_key: owner.key }),
  },
}
