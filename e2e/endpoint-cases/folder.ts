import { expect } from '@jest/globals'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'
import { createTenant, waitUntilSettled } from '../support/video-steps.ts'

const MISSING = '4611686018427387905'
const MISSING_FOLDER = '9007199254740991'
let folderCount = 0
const nextName = () => `Folder ${++folderCount}`

/** Returns the path of the next page. */
const parseNextPath = ({ headers }: { headers: Headers }) => /<[^>]*\/v2([^>]*)>/.exec(headers.get('link') ?? '')?.[1] ?? 'nowhere'

interface Folder extends Record<string, unknown> {
  folder_id: string
  name: string
}

/** Creates a folder in the owner's organisation. */
async function folder({ clients, owner }: Fixture, name = nextName()): Promise<string> {
  const { status, body } = await clients.owner.post<{ created: string }>('/folder', { organisation_id: owner.organisationId, name })
  if (status !== 200) throw new Error(`no folder was made: ${JSON.stringify(body)}`)
  return body.created
}

async function filled(fixture: Fixture) {
  const id = await folder(fixture)
  const { video_id } = await fixture.video()
  await fixture.clients.owner.post(`/folder/${id}/video/${video_id}/add`)
  return { id, video_id }
}

const contents = async ({ clients }: Fixture, id: string) =>
  (await clients.owner.get<{ contents: string[] }>(`/folder/${id}/video`)).body.contents
const listFolders = async ({ clients, owner }: Fixture) =>
  (await clients.owner.get<Record<string, Folder>[]>(`/folder/${owner.organisationId}`)).body[0] ?? {}

async function deletes(fixture: Fixture, method: 'DELETE' | 'PUT') {
  const { clients, owner } = fixture
  const { id, video_id } = await filled(fixture)
  const before = (await listFolders(fixture))[id]
  const { status, body } = await clients.uploader.send(method, `/folder/${id}/delete/${owner.organisationId}`)
  expect([status, body]).toEqual([200, { deleted: true, old_data: before }])
  expect(await listFolders(fixture)).not.toHaveProperty(id)
  expect((await clients.owner.get(`/video/${video_id}`)).status).toBe(200)
  expect((await clients.owner.send(method, `/folder/${id}/delete/${owner.organisationId}`)).status).toBe(404)
  const bySystem = await folder(fixture)
  expect((await clients.system.send(method, `/folder/${bySystem}/delete/${owner.organisationId}`)).status).toBe(200)
}

async function rejectedDeletes(fixture: Fixture, method: string): Promise<RejectedCall[]> {
  const id = await folder(fixture)
  const { owner, otherTenant } = fixture
  const endpointPath = (folderId: string, organisationId: string) => `/folder/${folderId}/delete/${organisationId}`
  return [
    { method, path: endpointPath(id, otherTenant.organisationId), status: 403, code: 'foreign_organisation' },
    { method, path: endpointPath(id, '999999'), status: 403 },
    { caller: 'otherTenant', method, path: endpointPath(id, owner.organisationId), status: 403 },
    { caller: 'otherTenant', method, path: endpointPath(id, otherTenant.organisationId), status: 404, code: 'folder_not_found' },
    { caller: 'system', method, path: endpointPath(id, otherTenant.organisationId), status: 404, code: 'folder_not_found' },
    { method, path: endpointPath(MISSING_FOLDER, owner.organisationId), status: 404 },
    { method, path: endpointPath('x', owner.organisationId), status: 404 },
    { caller: 'guest', method, path: endpointPath(id, owner.organisationId), status: 401 },
  ]
}

async function removes(fixture: Fixture, method: 'DELETE' | 'POST') {
  const { clients } = fixture
  const { id, video_id } = await filled(fixture)
  const otherVideoId = (await fixture.video()).video_id
  await clients.owner.post(`/folder/${id}/video/${otherVideoId}/add`)
  const { status, body } = await clients.uploader.send(method, `/folder/${id}/video/${video_id}/delete`)
  expect([status, body]).toEqual([200, { folder_id: id, removed: [video_id] }])
  expect(await contents(fixture, id)).toEqual([otherVideoId])
  expect((await clients.owner.send(method, `/folder/${id}/video/${video_id}/delete`)).body).toMatchObject({
    code: 'folder_video_not_found',
  })
  expect((await clients.system.send(method, `/folder/${id}/video/${otherVideoId}/delete`)).status).toBe(200)
}

async function rejectedRemoves(fixture: Fixture, method: string): Promise<RejectedCall[]> {
  const { id, video_id } = await filled(fixture)
  const outside = (await fixture.video()).video_id
  const endpointPath = (folderId: string, videoId: string) => `/folder/${folderId}/video/${videoId}/delete`
  return [
    { method, path: endpointPath(id, outside), status: 404, code: 'folder_video_not_found' },
    { method, path: endpointPath(id, 'x'), status: 404, code: 'folder_video_not_found' },
    { method, path: endpointPath(MISSING_FOLDER, video_id), status: 404, code: 'folder_not_found' },
    { caller: 'otherTenant', method, path: endpointPath(id, video_id), status: 404, code: 'folder_not_found' },
    { caller: 'guest', method, path: endpointPath(id, video_id), status: 401 },
  ]
}

export const folderRows: NounRows = {
  noun: 'folder',
  rows: [
    {
      endpoint: 'GET /folder/{organisation_id}',
      async works(fixture) {
        const { clients, platform } = fixture
        const tenant = await createTenant(platform.system)
        const api = platform.withKey(tenant.key)
        const endpointPath = `/folder/${tenant.organisationId}`
        expect((await api.get(endpointPath)).body).toEqual([{}])
        const ids: string[] = []
        for (const name of ['One', 'Two', '__proto__']) {
          ids.push((await api.post<{ created: string }>('/folder', { organisation_id: tenant.organisationId, name })).body.created)
        }
        for (const one of [api, clients.system]) {
          const { status, body } = await one.get<Record<string, Folder>[]>(endpointPath)
          expect([status, body.length, Object.keys(body[0] ?? {})]).toEqual([200, 1, ids])
          expect(Object.values(body[0] ?? {}).map(({ folder_id, name }) => [folder_id, name])).toEqual([
            [ids[0], 'One'],
            [ids[1], 'Two'],
            [ids[2], '__proto__'],
          ])
        }
        const part = await api.get<Record<string, Folder>[]>(`${endpointPath}?start=2&limit=1`)
        const next = await api.get<Record<string, Folder>[]>(parseNextPath(part))
        expect([part, next].map(({ body }) => Object.keys(body[0] ?? {}))).toEqual([[ids[1]], [ids[2]]])
      },
      rejectedCalls: async ({ owner, otherTenant }) => [
        { method: 'GET', path: `/folder/${otherTenant.organisationId}`, status: 403 },
        { method: 'GET', path: '/folder/x', status: 403 },
        { caller: 'system', method: 'GET', path: '/folder/999999', status: 404, code: 'organisation_not_found' },
        { method: 'GET', path: `/folder/${owner.organisationId}?limit=1001&start=0`, status: 400, fields: ['limit', 'start'] },
        { caller: 'guest', method: 'GET', path: `/folder/${owner.organisationId}`, status: 401 },
      ],
    },
    {
      endpoint: 'POST /folder',
      async works(fixture) {
        const { clients, owner, uploader } = fixture
        for (const [length, max] of [
          [254, 4_999],
          [255, 5_000],
        ] as const) {
          const fields = { name: `${++folderCount}`.padEnd(length, 'é'), description: 'é'.repeat(max) }
          const { status, body } = await clients.uploader.post<{ created: string; data: object }>('/folder', {
            organisation_id: owner.organisationId,
            ...fields,
          })
          const by = {
            created_by_user_id: uploader.userId,
            last_modified_by_user_id: uploader.userId,
            organisation_id: owner.organisationId,
          }
          expect([status, body.data]).toMatchObject([200, { ...fields, ...by }])
          expect((await listFolders(fixture))[body.created]).toEqual({ folder_id: body.created, ...body.data })
        }
        const form = new URLSearchParams({ organisation_id: owner.organisationId, name: nextName() })
        expect((await clients.system.send('POST', '/folder', { body: form })).body).toMatchObject({ data: { description: '' } })
        const title = nextName()
        const titled = await clients.owner.post<{ id: string; created: string }>('/folder', {
          organisation_id: owner.organisationId,
          title,
        })
        expect([titled.status, titled.body]).toMatchObject([200, { id: titled.body.created, data: { name: title } }])
        const name = nextName()
        const responses = await Promise.all(
          Array.from({ length: 20 }, () => clients.owner.post('/folder', { organisation_id: owner.organisationId, name })),
        )
        expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(409)])
        expect(Object.values(await listFolders(fixture)).filter((one) => one.name === name)).toHaveLength(1)
      },
      async rejectedCalls(fixture) {
        const { owner, otherTenant } = fixture
        const name = nextName()
        await folder(fixture, name)
        const ownerFields = { organisation_id: owner.organisationId }
        const rejectedCall = { method: 'POST', path: '/folder' }
        return [
          { ...rejectedCall, payload: { ...ownerFields, name }, status: 409, code: 'folder_exists' },
          { ...rejectedCall, payload: { name: 'x' }, status: 400, fields: ['organisation_id'] },
          {
            ...rejectedCall,
            payload: { ...ownerFields, folder_id: '1', created_by_user_id: '1' },
            status: 400,
            fields: ['name', 'folder_id', 'created_by_user_id'],
          },
          {
            ...rejectedCall,
            payload: { ...ownerFields, name: 'x'.repeat(256), description: 'x'.repeat(5_001) },
            status: 400,
            fields: ['name', 'description'],
          },
          ...['', '  ', 'a\0', 7, null].map((bad) => ({
            ...rejectedCall,
            payload: { ...ownerFields, name: bad },
            status: 400,
            fields: ['name'],
          })),
          { ...rejectedCall, payload: { organisation_id: otherTenant.organisationId, name: 'x' }, status: 403 },
          { ...rejectedCall, payload: { organisation_id: '999999', name: 'x' }, status: 403 },
          {
            ...rejectedCall,
            caller: 'system',
            payload: { organisation_id: '999999', name: 'x' },
            status: 404,
            code: 'organisation_not_found',
          },
          { ...rejectedCall, caller: 'guest', payload: { ...ownerFields, name: 'x' }, status: 401 },
        ]
      },
    },
    {
      endpoint: 'PUT /folder/{folder_id}/update',
      async works(fixture) {
        const { clients, owner, uploader } = fixture
        const id = await folder(fixture)
        const old_data = (await listFolders(fixture))[id]
        const name = nextName()
        const { status, body } = await clients.uploader.put(`/folder/${id}/update`, { organisation_id: owner.organisationId, name })
        const updated_data = (await listFolders(fixture))[id]
        expect([status, body]).toEqual([200, { updated: id, old_data, updated_data }])
        expect(updated_data).toMatchObject({ name, last_modified_by_user_id: uploader.userId })
        const repeated = { organisation_id: owner.organisationId, name, description: 'New' }
        expect((await clients.system.put(`/folder/${id}/update`, repeated)).body).toMatchObject({
          updated_data: { name, description: 'New' },
        })
      },
      async rejectedCalls(fixture) {
        const { owner, otherTenant } = fixture
        const taken = nextName()
        await folder(fixture, taken)
        const id = await folder(fixture)
        const ownerFields = { organisation_id: owner.organisationId }
        const rejectedCall = { method: 'PUT', path: `/folder/${id}/update` }
        return [
          { ...rejectedCall, payload: { ...ownerFields, name: taken }, status: 409, code: 'folder_exists' },
          { ...rejectedCall, payload: { name: 'x' }, status: 400, fields: ['organisation_id'] },
          { ...rejectedCall, payload: ownerFields, status: 400, fields: ['payload'] },
          {
            ...rejectedCall,
            payload: { ...ownerFields, name: 'x'.repeat(256), colour: '' },
            status: 400,
            fields: ['name', 'colour'],
          },
          { ...rejectedCall, payload: { organisation_id: otherTenant.organisationId, name: 'x' }, status: 403 },
          {
            ...rejectedCall,
            caller: 'otherTenant',
            payload: { organisation_id: otherTenant.organisationId, name: 'x' },
            status: 404,
            code: 'folder_not_found',
          },
          {
            ...rejectedCall,
            caller: 'system',
            payload: { organisation_id: otherTenant.organisationId, name: 'x' },
            status: 404,
            code: 'folder_not_found',
          },
          {
            method: 'PUT',
            path: `/folder/${MISSING_FOLDER}/update`,
            payload: { ...ownerFields, name: 'x' },
            status: 404,
            code: 'folder_not_found',
          },
          { ...rejectedCall, caller: 'guest', payload: { ...ownerFields, name: 'x' }, status: 401 },
        ]
      },
    },
    {
      endpoint: 'DELETE /folder/{folder_id}/delete/{organisation_id}',
      works: (fixture) => deletes(fixture, 'DELETE'),
      rejectedCalls: (fixture) => rejectedDeletes(fixture, 'DELETE'),
    },
    {
      endpoint: 'PUT /folder/{folder_id}/delete/{organisation_id}',
      works: (fixture) => deletes(fixture, 'PUT'),
      rejectedCalls: (fixture) => rejectedDeletes(fixture, 'PUT'),
    },
    {
      endpoint: 'GET /folder/{folder_id}/video',
      async works(fixture) {
        const { clients } = fixture
        const { id, video_id } = await filled(fixture)
        const { video_id: second, media_id } = await fixture.video()
        await clients.owner.post(`/folder/${id}/video/${second}/add`)
        for (const api of [clients.uploader, clients.system]) {
          expect((await api.get(`/folder/${id}/video`)).body).toEqual({ contents: [video_id, second], folder_id: id })
        }
        const part = await clients.owner.get(`/folder/${id}/video?limit=1`)
        expect([part.body, (await clients.owner.get(parseNextPath(part))).body]).toEqual([
          { contents: [video_id], folder_id: id },
          { contents: [second], folder_id: id },
        ])
        await clients.owner.delete(`/media?media_id=${media_id}`)
        expect(await contents(fixture, id)).toEqual([video_id])
        expect(await contents(fixture, await folder(fixture))).toEqual([])
      },
      async rejectedCalls(fixture) {
        const { id } = await filled(fixture)
        return [
          { caller: 'otherTenant', method: 'GET', path: `/folder/${id}/video`, status: 404, code: 'folder_not_found' },
          { method: 'GET', path: `/folder/${MISSING_FOLDER}/video`, status: 404 },
          { method: 'GET', path: '/folder/x/video', status: 404 },
          { method: 'GET', path: `/folder/${id}/video?limit=1001&start=0`, status: 400, fields: ['limit', 'start'] },
          { caller: 'guest', method: 'GET', path: `/folder/${id}/video`, status: 401 },
        ]
      },
    },
    {
      endpoint: 'POST /folder/{folder_id}/video/{video_id}/add',
      async works(fixture) {
        const { clients } = fixture
        const [first, second] = [await folder(fixture), await folder(fixture)]
        const { video_id } = await fixture.video()
        const { status, body } = await clients.uploader.post(`/folder/${first}/video/${video_id}/add`)
        expect([status, body]).toEqual([200, { folder_id: first, added: [video_id] }])
        expect((await clients.owner.post(`/folder/${first}/video/${video_id}/add`)).body).toEqual({ folder_id: first, added: [] })
        expect((await clients.system.post(`/folder/${second}/video/${video_id}/add`)).body).toEqual({
          folder_id: second,
          added: [video_id],
        })
        expect([await contents(fixture, first), await contents(fixture, second)]).toEqual([[video_id], [video_id]])
      },
      async rejectedCalls(fixture) {
        const { clients, otherTenant, sources } = fixture
        const id = await folder(fixture)
        const { video_id } = await fixture.video()
        const payload = { url: `${sources.url}/none.mp4`, organisation_id: otherTenant.organisationId }
        const foreign = (await clients.otherTenant.post<{ id: string }>('/video/upload', payload)).body.id
        await waitUntilSettled(clients.otherTenant, foreign)
        const endpointPath = (folderId: string, videoId: string) => `/folder/${folderId}/video/${videoId}/add`
        const rejectedCall = { method: 'POST' }
        return [
          { ...rejectedCall, path: endpointPath(id, foreign), status: 404, code: 'video_not_found' },
          { ...rejectedCall, caller: 'system', path: endpointPath(id, foreign), status: 404, code: 'video_not_found' },
          { ...rejectedCall, path: endpointPath(id, MISSING), status: 404, code: 'video_not_found' },
          { ...rejectedCall, path: endpointPath(id, 'x'), status: 404, code: 'video_not_found' },
          { ...rejectedCall, caller: 'otherTenant', path: endpointPath(id, foreign), status: 404, code: 'folder_not_found' },
          { ...rejectedCall, path: endpointPath(MISSING_FOLDER, video_id), status: 404, code: 'folder_not_found' },
          { ...rejectedCall, path: endpointPath(id, video_id), payload: { place: 1 }, status: 400, fields: ['place'] },
          { ...rejectedCall, caller: 'guest', path: endpointPath(id, video_id), status: 401 },
        ]
      },
    },
    {
      endpoint: 'DELETE /folder/{folder_id}/video/{video_id}/delete',
      works: (fixture) => removes(fixture, 'DELETE'),
      rejectedCalls: (fixture) => rejectedRemoves(fixture, 'DELETE'),
    },
    {
      endpoint: 'POST /folder/{folder_id}/video/{video_id}/delete',
      works: (fixture) => removes(fixture, 'POST'),
      rejectedCalls: (fixture) => rejectedRemoves(fixture, 'POST'),
    },
  ],
  samples: {
    payloads: {
      'POST /folder': (v) => ({ organisation_id: v['organisation_id'], name: 'Sample' }),
      'PUT /folder/{}/update': (v) => ({ organisation_id: v['organisation_id'], name: 'Renamed' }),
    },
    make: async (fixture) => ({ folder_id: await folder(fixture) }),
  },
}
