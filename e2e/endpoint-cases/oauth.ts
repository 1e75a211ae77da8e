import { expect } from '@jest/globals'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'

interface TokenRecord extends Record<string, unknown> {
  id: string
  date_created: string
}

const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/
const path = (id: string) => `/oauth/thirdparty/${id}`
const byAttribute = (attribute: string, value: string) => `/oauth/thirdparty/attribute/${attribute}/value/${encodeURIComponent(value)}`
const uniqueText = () => Math.random().toString(36).slice(2)

async function newToken({ clients, owner }: Fixture, fields: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await clients.owner.post<{ id: string }>('/oauth/thirdparty', {
    organisation_id: owner.organisationId,
    ...fields,
  })
  expect(status).toBe(201)
  return body.id
}

const readToken = async ({ clients }: Fixture, id: string) => (await clients.system.get<TokenRecord>(path(id))).body

/**
 * Returns calls with each field one character too long or of a wrong type, and with fields that callers cannot set.
 */
function invalidFieldCalls(method: 'POST' | 'PUT', tokenPath: string, organisationId: string): RejectedCall[] {
  const buildRejectedCall = (payload: object, ...fields: string[]): RejectedCall => ({
    method,
    path: tokenPath,
    payload: { organisation_id: organisationId, ...payload },
    status: 400,
    fields,
  })
  return [
    buildRejectedCall({ service_name: 'x'.repeat(256), called_by: '🎬'.repeat(256), username: 7 }, 'service_name', 'called_by', 'username'),
    buildRejectedCall({ token: 'x'.repeat(16_385), auth_url: `https://a.example/${'x'.repeat(2_031)}` }, 'token', 'auth_url'),
    buildRejectedCall({ other_data: { a: 'x'.repeat(65_529) } }, 'other_data'),
    buildRejectedCall({ other_data: '[1]', date_expiry: '2031-02-30 00:00:00', user_id: 'me' }, 'other_data', 'date_expiry', 'user_id'),
    buildRejectedCall({ other_data: '{' }, 'other_data'),
    ...['javascript:alert(1)', '//evil.example', 'ftp://a.example', 'https:evil', 'java\tscript:x'].map((auth_url) =>
      buildRejectedCall({ auth_url }, 'auth_url'),
    ),
    // PUT accepts a record as it was read.
    ...(method === 'POST'
      ? [buildRejectedCall({ deleted: '1', id: '1', date_created: 'x', colour: 'red' }, 'deleted', 'id', 'date_created', 'colour')]
      : [buildRejectedCall({ id: '1', secret: '1', colour: 'red' }, 'secret', 'colour')]),
  ]
}

export const oauthRows: NounRows = {
  noun: 'oauth',
  rows: [
    {
      endpoint: 'GET /oauth/thirdparty/{id}',
      async works(fixture) {
        const { clients, owner } = fixture
        const id = await newToken(fixture)
        const { status, body, headers } = await clients.system.get<TokenRecord>(path(id))
        expect([status, body]).toEqual([
          200,
          {
            ...{ id, organisation_id: owner.organisationId, service_name: '', called_by: '', username: '', token: '', auth_url: '' },
            ...{ other_data: {}, date_created: body.date_created, date_expiry: '', date_last_modified: body.date_created },
            ...{ user_id: '', deleted: '0' },
          },
        ])
        expect(body.date_created).toMatch(TIME)
        expect(headers.get('cache-control')).toBe('no-store')
      },
      async rejectedCalls(fixture) {
        const id = await newToken(fixture)
        const deletedId = await newToken(fixture)
        await fixture.clients.owner.delete(path(deletedId))
        const missing = (tokenId: string): RejectedCall => ({
          caller: 'system',
          method: 'GET',
          path: path(tokenId),
          status: 404,
          code: 'third_party_token_not_found',
        })
        return [
          ...[deletedId, '999999', 'x', '0', '-1', `${id}x`, '99999999999999999999'].map(missing),
          { method: 'GET', path: path(id), status: 403, code: 'system_only' },
          { caller: 'otherTenant', method: 'GET', path: path(id), status: 403, code: 'system_only' },
          { caller: 'guest', method: 'GET', path: path(id), status: 401 },
        ]
      },
    },
    {
      endpoint: 'GET /oauth/thirdparty/attribute/{attribute}/value/{value}',
      async works(fixture) {
        const { clients, owner, uploader } = fixture
        const values = {
          ...{ service_name: `photo share/${uniqueText()}`, called_by: `é-${uniqueText()}`, username: `ada%20${uniqueText()}` },
          auth_url: `https://photoshare.example/${'x'.repeat(1_900)}?a=b&c=${uniqueText()}`,
        }
        const older = await newToken(fixture, { ...values, user_id: uploader.userId })
        const newer = await newToken(fixture, { ...values, user_id: uploader.userId })
        const search = async (attribute: string, value: string) => {
          const { status, body } = await clients.system.get<TokenRecord>(byAttribute(attribute, value))
          return [status, body.id]
        }
        const all = [...Object.entries(values), ['organisation_id', owner.organisationId], ['user_id', uploader.userId]] as const
        for (const [attribute, value] of all) expect(await search(attribute, value)).toEqual([200, newer])
        expect(await search('id', older)).toEqual([200, older])
        await clients.owner.delete(path(newer))
        for (const [attribute, value] of all) expect(await search(attribute, value)).toEqual([200, older])
        await clients.owner.delete(path(older))
        for (const [attribute, value] of Object.entries(values)) expect((await search(attribute, value))[0]).toBe(404)
        expect((await search('id', older))[0]).toBe(404)
      },
      async rejectedCalls(fixture) {
        const service_name = uniqueText()
        await newToken(fixture, { service_name, token: 'secret' })
        const searchCall = (attribute: string, value: string, status: number): RejectedCall => ({
          caller: 'system',
          method: 'GET',
          path: byAttribute(attribute, value),
          status,
          ...(status === 400 && { fields: ['attribute'] }),
        })
        return [
          ...['token', 'other_data', 'deleted', 'date_created', 'ID', '__proto__', 'toString'].map((attribute) =>
            searchCall(attribute, 'secret', 400),
          ),
          searchCall('service_name', service_name.toUpperCase(), 404),
          searchCall('service_name', `${service_name}%`, 404),
          searchCall('service_name', 'x'.repeat(3_000), 404),
          searchCall('id', 'x', 404),
          searchCall('organisation_id', '999999', 404),
          searchCall('user_id', "1' or '1'='1", 404),
          { method: 'GET', path: byAttribute('service_name', service_name), status: 403 },
          { caller: 'guest', method: 'GET', path: byAttribute('service_name', service_name), status: 401 },
        ]
      },
    },
    {
      endpoint: 'POST /oauth/thirdparty',
      async works(fixture) {
        const { clients, owner, uploader } = fixture
        const sent = {
          ...{
            organisation_id: owner.organisationId,
            service_name: '🎬'.repeat(255),
            called_by: 'x'.repeat(255),
            username: 'x'.repeat(254),
          },
          ...{ token: 'x'.repeat(16_384), auth_url: `https://a.example/${'x'.repeat(2_030)}`, date_expiry: '2019-12-31 23:59:59' },
          user_id: uploader.userId,
        }
        const largeData = { a: 'x'.repeat(65_528) }
        const response = await clients.uploader.post<{ id: string; status: number; created: string }>('/oauth/thirdparty', {
          ...sent,
          other_data: JSON.stringify(largeData),
        })
        const { id, created } = response.body
        expect([response.status, response.body]).toEqual([201, { id, status: 1, created }])
        expect(created).toMatch(TIME)
        expect(await readToken(fixture, id)).toMatchObject({ ...sent, other_data: largeData, date_created: created, deleted: '0' })

        const data = JSON.stringify({
          organisation_id: Number(owner.organisationId),
          other_data: { __proto: [1, { b: null }] },
          username: 'ada',
        })
        const form = await clients.system.send<{ id: string }>('POST', '/oauth/thirdparty', { body: new URLSearchParams({ data }) })
        expect([form.status, await readToken(fixture, form.body.id)]).toMatchObject([
          201,
          { username: 'ada', other_data: { __proto: [1, { b: null }] } },
        ])

        const headers = { 'idempotency-key': uniqueText() }
        const first = await clients.owner.post<{ id: string }>('/oauth/thirdparty', { organisation_id: owner.organisationId }, headers)
        const repeated = await clients.owner.post<{ id: string }>('/oauth/thirdparty', { organisation_id: owner.organisationId }, headers)
        expect(repeated.body).toEqual(first.body)
      },
      async rejectedCalls({ owner, otherTenant }) {
        const thirdPartyPath = '/oauth/thirdparty'
        const { organisationId: organisation_id } = owner
        return [
          ...invalidFieldCalls('POST', thirdPartyPath, organisation_id),
          { method: 'POST', path: thirdPartyPath, payload: {}, status: 400, fields: ['organisation_id'] },
          {
            method: 'POST',
            path: thirdPartyPath,
            payload: { organisation_id: otherTenant.organisationId },
            status: 403,
            code: 'foreign_organisation',
          },
          { method: 'POST', path: thirdPartyPath, payload: { organisation_id: '999999' }, status: 403, code: 'foreign_organisation' },
          {
            method: 'POST',
            path: thirdPartyPath,
            payload: { organisation_id, user_id: otherTenant.userId },
            status: 404,
            code: 'user_not_found',
          },
          {
            caller: 'system',
            method: 'POST',
            path: thirdPartyPath,
            payload: { organisation_id, user_id: otherTenant.userId },
            status: 404,
            code: 'user_not_found',
          },
          {
            caller: 'system',
            method: 'POST',
            path: thirdPartyPath,
            payload: { organisation_id: '999999' },
            status: 404,
            code: 'organisation_not_found',
          },
          { caller: 'guest', method: 'POST', path: thirdPartyPath, payload: { organisation_id }, status: 401 },
        ]
      },
    },
    {
      endpoint: 'PUT /oauth/thirdparty/{id}',
      async works(fixture) {
        const { clients, owner, otherTenant } = fixture
        const id = await newToken(fixture, {
          service_name: 'photoshare',
          token: 'old',
          other_data: { a: 1 },
          date_expiry: '2031-01-01 00:00:00',
        })
        const put = await clients.uploader.put<{ Updated: string }>(path(id), { token: 'new', organisation_id: owner.organisationId })
        expect([put.status, put.body]).toEqual([200, { id, status: 1, Updated: put.body.Updated }])
        expect(put.body.Updated).toMatch(TIME)
        const stored = { service_name: 'photoshare', other_data: { a: 1 }, date_expiry: '2031-01-01 00:00:00' }
        expect(await readToken(fixture, id)).toMatchObject({ ...stored, token: 'new', date_last_modified: put.body.Updated })
        const emptied = { service_name: '', token: '', other_data: '', date_expiry: '', user_id: '' }
        expect((await clients.owner.put(path(id), emptied)).status).toBe(200)
        expect(await readToken(fixture, id)).toMatchObject({ ...emptied, other_data: {} })
        expect(
          (await clients.system.put(path(id), { organisation_id: otherTenant.organisationId, user_id: otherTenant.userId })).status,
        ).toBe(200)
        expect(await readToken(fixture, id)).toMatchObject({ organisation_id: otherTenant.organisationId, user_id: otherTenant.userId })
        expect((await clients.owner.put(path(id), { token: 'x' })).status).toBe(404)
      },
      async rejectedCalls(fixture) {
        const { owner, otherTenant, uploader } = fixture
        const id = await newToken(fixture, { user_id: uploader.userId })
        const deletedId = await newToken(fixture)
        await fixture.clients.owner.delete(path(deletedId))
        const put = (tokenId: string, payload: object, status: number, code: string): RejectedCall => ({
          method: 'PUT',
          path: path(tokenId),
          payload,
          status,
          code,
        })
        return [
          ...invalidFieldCalls('PUT', path(id), owner.organisationId),
          { method: 'PUT', path: path(id), payload: {}, status: 400, fields: ['payload'] },
          put(id, { organisation_id: otherTenant.organisationId }, 403, 'foreign_organisation'),
          put(id, { user_id: otherTenant.userId }, 404, 'user_not_found'),
          { ...put(id, { organisation_id: otherTenant.organisationId }, 404, 'user_not_found'), caller: 'system' },
          { ...put(id, { organisation_id: '999999' }, 404, 'organisation_not_found'), caller: 'system' },
          { ...put(id, { token: 'x' }, 404, 'third_party_token_not_found'), caller: 'otherTenant' },
          ...['999999', deletedId, 'x'].map((tokenId) => put(tokenId, { token: 'x' }, 404, 'third_party_token_not_found')),
          { ...put(id, { token: 'x' }, 401, 'key_required'), caller: 'guest' },
        ]
      },
    },
    {
      endpoint: 'DELETE /oauth/thirdparty/{id}',
      async works(fixture) {
        const { clients } = fixture
        const id = await newToken(fixture, { token: 'secret' })
        const deleted = await clients.uploader.delete<{ Deleted: string }>(path(id))
        expect([deleted.status, deleted.body]).toEqual([200, { id, status: 1, Deleted: deleted.body.Deleted }])
        expect(deleted.body.Deleted).toMatch(TIME)
        for (const method of ['GET', 'DELETE']) expect((await clients.system.send(method, path(id))).status).toBe(404)
        expect((await clients.owner.put(path(id), { token: 'x' })).status).toBe(404)
        expect((await clients.system.get(byAttribute('id', id))).status).toBe(404)
        expect((await clients.system.delete(path(await newToken(fixture)))).status).toBe(200)
      },
      async rejectedCalls(fixture) {
        const id = await newToken(fixture)
        const missing = (tokenId: string, caller: 'owner' | 'otherTenant'): RejectedCall => ({
          ...{ caller, method: 'DELETE', path: path(tokenId), status: 404, code: 'third_party_token_not_found' },
        })
        return [
          missing(id, 'otherTenant'),
          missing('999999', 'owner'),
          missing('x', 'owner'),
          { caller: 'guest', method: 'DELETE', path: path(id), status: 401 },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'POST /oauth/thirdparty': (v) => ({ organisation_id: v['organisation_id'] }),
      'PUT /oauth/thirdparty/{}': () => ({ token: 'x' }),
    },
    make: async (fixture) => ({ oauth_id: await newToken(fixture), attribute: 'service_name', value: 'photoshare' }),
  },
}
