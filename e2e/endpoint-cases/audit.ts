import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Api } from '../support/api.ts'
import type { Fixture, NounRows } from '../support/table-row.ts'

interface Entry {
  time: string
  user_id: string
  key: string
  action: string
  object: string
  request_id: string
  address: string
}
interface Page extends Record<string, unknown> {
  entries: Entry[]
  next: string | null
}

async function list(api: Api, filter: Record<string, string> = {}): Promise<Page> {
  const { status, body } = await api.get<Page>(`/audit?${new URLSearchParams(filter)}`)
  expect(status).toBe(200)
  return body
}

/** Returns all entries of a filter, in pages of `limit`. */
async function all(api: Api, filter: Record<string, string>): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let next: string | null | undefined; next !== null; ) {
    const page: Page = await list(api, { ...filter, ...(next !== undefined && { cursor: next }) })
    entries.push(...page.entries)
    next = page.next
  }
  return entries
}

/**
 * Creates a folder as the owner, and changes it as the uploader and as the system. Returns its
 * path.
 */
async function renamedFolder({ clients, owner }: Fixture): Promise<string> {
  const name = Math.random().toString(36).slice(2)
  const organisation_id = owner.organisationId
  const folder = await clients.owner.post<{ created: string }>('/folder', { organisation_id, name })
  const path = `/folder/${folder.body.created}/update`
  for (const [n, api] of [clients.uploader, clients.system].entries()) {
    expect((await api.put(path, { organisation_id, name: `${name}${n}` })).status).toBe(200)
  }
  return path
}

export const auditRows: NounRows = {
  noun: 'audit',
  rows: [
    {
      endpoint: 'GET /audit',
      async works(fixture) {
        const { clients, owner, uploader, otherTenant, platform } = fixture
        const { organisationId } = owner
        const requestId = `audit-${Math.random().toString(36).slice(2)}`
        const created = await clients.uploader.post<{ id: string }>(
          '/oauth/thirdparty',
          { organisation_id: organisationId },
          { 'x-request-id': requestId },
        )
        const object = `/oauth/thirdparty/${created.body.id}`
        expect((await clients.owner.put(object, { token: 'a-secret-of-the-audit' })).status).toBe(200)
        expect((await clients.owner.delete(object)).status).toBe(200)
        // Reads and rejected writes leave no entry, whether the input, the caller or the service is
        // the reason.
        await clients.system.get('/video')
        await clients.owner.put(object, { colour: 'red' })
        await clients.otherTenant.put(object, { token: 'x' })
        await clients.guest.delete(object)
        expect((await clients.owner.delete(object)).status).toBe(404)

        const readEntries = async () => (await list(clients.owner, { object })).entries
        // The entry of the rejected write is removed a moment later.
        await waitFor(async () => (await readEntries()).length === 2, { describe: 'the entry of the rejected write to be removed' })
        const [deleted, changed] = await readEntries()
        expect(changed).toEqual({
          ...{ time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/), user_id: owner.userId, key: owner.key.slice(0, 8) },
          ...{ action: 'oauth::put', object, request_id: expect.any(String), address: '127.0.0.1' },
        })
        expect(deleted).toMatchObject({ action: 'oauth::delete' })
        const [first] = (await list(clients.owner, { object: '/v2/oauth/thirdparty', limit: '1' })).entries
        expect(first).toMatchObject({
          user_id: uploader.userId,
          key: uploader.key.slice(0, 8),
          request_id: requestId,
          action: 'oauth::post',
        })

        // Filters apply separately and combined. The entries do not depend on the page size.
        const rename = await renamedFolder(fixture)
        const ofFolder = (await list(clients.owner, { limit: '2' })).entries
        expect(ofFolder.map((entry) => entry.user_id)).toEqual([uploader.userId, owner.userId])
        const time = ofFolder[0]?.time ?? ''
        const second = (seconds: number) =>
          new Date(Date.parse(`${time.replace(' ', 'T')}Z`) + seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')
        const whole = await all(clients.owner, { limit: '1000' })
        const filters: [Record<string, string>, (entry: Entry) => boolean][] = [
          [{ user_id: uploader.userId }, (entry) => entry.user_id === uploader.userId],
          [{ action: 'folder::put' }, (entry) => entry.action === 'folder::put'],
          [{ object: '/folder' }, (entry) => entry.object === '/folder'],
          [
            { user_id: uploader.userId, action: 'folder::put', organisation_id: organisationId },
            (e) => e.user_id === uploader.userId && e.action === 'folder::put',
          ],
          [{ from: time, to: time }, (entry) => entry.time === time],
          [{ to: second(-1) }, (entry) => entry.time < time],
          [{ from: second(1) }, (entry) => entry.time > time],
          [{ user_id: otherTenant.userId }, () => false],
          [{ action: 'moon::put' }, () => false],
        ]
        for (const [filter, holds] of filters) {
          for (const limit of ['1', '999']) {
            expect((await all(clients.owner, { ...filter, limit })).map(({ request_id }) => request_id)).toEqual(
              whole.filter(holds).map(({ request_id }) => request_id),
            )
          }
        }
        // The system sees all entries and their authors. A super user sees those of keys of its
        // organisation.
        expect((await list(clients.system, { object: rename })).entries).toHaveLength(2)
        expect((await list(clients.owner, { object: rename })).entries).toHaveLength(1)
        expect((await list(clients.otherTenant, { object: rename })).entries).toEqual([])
        expect((await list(clients.system, { object: rename, organisation_id: organisationId })).entries).toHaveLength(1)
        expect((await list(clients.system, { object: rename, organisation_id: '999999' })).entries).toEqual([])

        // API keys in paths are omitted, and guests have no key.
        const { body: key } = await clients.system.post<{ key: string }>(`/apikey/${uploader.userId}/generate`, {
          application_name: 'a',
          resources: [],
        })
        await clients.system.delete(`/apikey/${key.key}`)
        expect((await list(clients.system, { action: 'apikey::delete', limit: '1' })).entries).toMatchObject([
          { object: `/apikey/${key.key.slice(0, 8)}` },
        ])
        const { body: form } = await clients.owner.post<{ contact_form_id: string }>('/contact-form', { primary_text: 'Who?' })
        const submission = `/contact-form/${form.contact_form_id}/submission`
        expect((await clients.guest.post(submission, { email: 'ada@example.org' })).status).toBe(201)
        expect((await list(clients.system, { object: submission })).entries).toMatchObject([
          { user_id: '', key: '', action: 'contact-form::post' },
        ])
        expect(JSON.stringify(await all(platform.system, { limit: '1000' }))).not.toMatch(/a-secret-of-the-audit|ada@example/)
      },
      rejectedCalls: async ({ otherTenant }) => [
        ...['0', '1001', 'x', '1.5', '-1'].map((limit) => ({
          method: 'GET',
          path: `/audit?limit=${limit}`,
          status: 400,
          fields: ['limit'],
        })),
        { method: 'GET', path: '/audit?cursor=x', status: 400, fields: ['cursor'] },
        { method: 'GET', path: '/audit?cursor=WyIxIl0', status: 400, fields: ['cursor'] },
        { method: 'GET', path: '/audit?from=2030-02-30%2000:00:00&to=today&user_id=me', status: 400, fields: ['from', 'to', 'user_id'] },
        { method: 'GET', path: '/audit?from=2030-01-02%2000:00:00&to=2030-01-01%2000:00:00', status: 400, fields: ['to'] },
        { method: 'GET', path: `/audit?action=${'x'.repeat(101)}&object=`, status: 400, fields: ['action', 'object'] },
        { method: 'GET', path: `/audit?organisation_id=${otherTenant.organisationId}`, status: 403, code: 'foreign_organisation' },
        { method: 'GET', path: '/audit?organisation_id=999999', status: 403, code: 'foreign_organisation' },
        { caller: 'system', method: 'GET', path: '/audit?organisation_id=x', status: 400, fields: ['organisation_id'] },
        { caller: 'uploader', method: 'GET', path: '/audit', status: 403, code: 'super_user_only' },
        { caller: 'guest', method: 'GET', path: '/audit', status: 401 },
        ...['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({ caller: 'system' as const, method, path: '/audit', status: 405 })),
      ],
    },
  ],
  samples: { payloads: {} },
}
