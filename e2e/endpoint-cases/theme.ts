import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Fixture, NounRows } from '../support/table-row.ts'

type Theme = Record<string, string | null>

const colours = ['background', 'text', 'icon', 'control_bar', 'overlay_text', 'overlay_background', 'overlay_link'].map(
  (name) => `${name}_colour`,
)
const all = (value: string) => Object.fromEntries(colours.map((name) => [name, value]))
const buildText = (length: number) => 'x'.repeat(length)
const tooMuch = { title: buildText(51), skin: buildText(51), ...all('#12345') }
const denied = { id: '7', theme_id: '7', organisation_id: '7', created_by_user_id: '7', opacity: '1' }

const create = async ({ clients, owner }: Fixture, payload: object = {}) => {
  const { status, body } = await clients.uploader.post<{ message: { created: string } }>(`/theme/${owner.organisationId}`, payload)
  const id = expect.stringMatching(/^\d+$/)
  expect([status, body]).toEqual([201, { id, status: 'Created', message: { created: id } }])
  return body.message.created
}
const read = async ({ clients }: Fixture, id: string) => (await clients.owner.get<Theme>(`/theme/${id}`)).body

export const themeRows: NounRows = {
  noun: 'theme',
  rows: [
    {
      endpoint: 'GET /theme/{id}',
      async works(fixture) {
        const id = await create(fixture)
        expect(await read(fixture, id)).toEqual({ id, title: '', skin: null, ...all('') })
        expect((await fixture.clients.system.get(`/theme/${id}`)).body).toEqual(await read(fixture, id))
      },
      async rejectedCalls(fixture) {
        const path = `/theme/${await create(fixture)}`
        return [
          { caller: 'otherTenant', method: 'GET', path, status: 404, code: 'theme_not_found' },
          { method: 'GET', path: '/theme/999999', status: 404, code: 'theme_not_found' },
          { method: 'GET', path: '/theme/x', status: 404 },
          { caller: 'guest', method: 'GET', path, status: 401 },
        ]
      },
    },
    {
      endpoint: 'GET /theme',
      async works(fixture) {
        const ids = [await create(fixture, { title: 'One' }), await create(fixture, { title: 'Two' })]
        const ownThemes = await fixture.clients.uploader.get<Theme[]>('/theme')
        const themesOfOrganisation = await fixture.clients.system.get<Theme[]>(`/theme?organisation_id=${fixture.owner.organisationId}`)
        expect(themesOfOrganisation.body).toEqual(ownThemes.body)
        expect(ownThemes.body.map(({ id }) => id).slice(-2)).toEqual(ids)
        expect(ownThemes.body.at(-1)).toEqual(await read(fixture, ids[1] ?? ''))
        const page = await fixture.clients.owner.get<Theme[]>(`/theme?start=${ownThemes.body.length - 1}&limit=1`)
        expect(page.body.map(({ id }) => id)).toEqual([ids[0]])
        expect(page.headers.get('link')).toContain(`start=${ownThemes.body.length}&limit=1`)
        const foreignThemes = await fixture.clients.otherTenant.get<Theme[]>('/theme')
        expect(foreignThemes.body.filter(({ id }) => ids.includes(id ?? ''))).toEqual([])
      },
      async rejectedCalls({ otherTenant }) {
        return [
          { method: 'GET', path: `/theme?organisation_id=${otherTenant.organisationId}`, status: 403, code: 'foreign_organisation' },
          { method: 'GET', path: '/theme?organisation_id=x', status: 403 },
          { caller: 'system', method: 'GET', path: '/theme', status: 400, fields: ['organisation_id'] },
          { caller: 'system', method: 'GET', path: '/theme?organisation_id=x', status: 400, fields: ['organisation_id'] },
          { caller: 'system', method: 'GET', path: '/theme?organisation_id=999999', status: 404, code: 'organisation_not_found' },
          { method: 'GET', path: '/theme?limit=1001&start=0', status: 400, fields: ['limit', 'start'] },
          { method: 'GET', path: '/theme?cursor=WyJ4Il0', status: 400, fields: ['cursor'] },
          { caller: 'guest', method: 'GET', path: '/theme', status: 401 },
        ]
      },
    },
    {
      endpoint: 'GET /theme/{id}/videos',
      async works(fixture) {
        const id = await create(fixture)
        const list = async () => (await fixture.clients.uploader.get(`/theme/${id}/videos`)).body
        expect(await list()).toEqual([])
        const first = await fixture.video({ name: 'First', theme_id: id })
        const second = await fixture.video({ name: 'Second' })
        await fixture.clients.owner.patch(`/video/${second.video_id}`, { theme_id: id })
        const both = [first, second].map(({ video_id, video_title }) => ({ video_id, title: video_title }))
        expect(await list()).toEqual(both)
        const page = await fixture.clients.system.get(`/theme/${id}/videos?limit=1`)
        expect(page.body).toEqual(both.slice(0, 1))
        expect(page.headers.get('link')).toContain(`/theme/${id}/videos?start=2&limit=1`)
        expect((await fixture.clients.system.get(`/theme/${id}/videos?start=2`)).body).toEqual(both.slice(1))
      },
      async rejectedCalls(fixture) {
        const path = `/theme/${await create(fixture)}/videos`
        return [
          { caller: 'otherTenant', method: 'GET', path, status: 404, code: 'theme_not_found' },
          { method: 'GET', path: '/theme/999999/videos', status: 404 },
          { method: 'GET', path: `${path}?limit=1001`, status: 400, fields: ['limit'] },
          // Invalid cursors: not a cursor, one with an invalid id, and one of another list.
          ...['x', 'WyJ4IiwieSJd', 'WyIxIl0'].map((cursor) => ({
            ...{ method: 'GET', path: `${path}?cursor=${cursor}`, status: 400, fields: ['cursor'] },
          })),
          { caller: 'guest', method: 'GET', path, status: 401 },
        ]
      },
    },
    {
      endpoint: 'POST /theme/{organisation_id}',
      async works(fixture) {
        const max = { title: buildText(50), skin: buildText(50), ...all('#aBcDeF') }
        const id = await create(fixture, max)
        expect(await read(fixture, id)).toEqual({ id, ...max })
        const bySystem = await fixture.clients.system.post<{ message: { created: string } }>(
          `/theme/${fixture.otherTenant.organisationId}`,
          {
            title: 'S',
          },
        )
        expect((await fixture.clients.otherTenant.get(`/theme/${bySystem.body.message.created}`)).body).toMatchObject({ title: 'S' })
      },
      async rejectedCalls({ owner, otherTenant }) {
        const post = { method: 'POST', path: `/theme/${owner.organisationId}`, status: 400 }
        return [
          { ...post, payload: tooMuch, fields: Object.keys(tooMuch) },
          { ...post, payload: denied, fields: Object.keys(denied) },
          ...['red', '123456', '#1234567', '#12345g', '#fff', '#123456;'].map((text_colour) => ({
            ...post,
            payload: { text_colour },
            fields: ['text_colour'],
          })),
          { ...post, path: `/theme/${otherTenant.organisationId}`, payload: {}, status: 403, code: 'foreign_organisation' },
          { ...post, caller: 'system', path: '/theme/999999', payload: {}, status: 404, code: 'organisation_not_found' },
          { ...post, caller: 'guest', payload: {}, status: 401 },
        ]
      },
    },
    {
      endpoint: 'PUT /theme/{theme_id}',
      async works(fixture) {
        const id = await create(fixture, { title: 'Before', skin: 'flat', text_colour: '#000000' })
        const { body } = await fixture.clients.uploader.put(`/theme/${id}`, { skin: '', icon_colour: '#ffffff', text_colour: '' })
        expect(body).toEqual({ status: 'OK', message: { updated: id } })
        expect(await read(fixture, id)).toEqual({ id, title: 'Before', skin: null, ...all(''), icon_colour: '#ffffff' })
      },
      async rejectedCalls(fixture) {
        const put = { method: 'PUT', path: `/theme/${await create(fixture)}`, status: 400 }
        const foreign = await fixture.clients.otherTenant.post<{ message: { created: string } }>(
          `/theme/${fixture.otherTenant.organisationId}`,
          {},
        )
        const { video_id } = await fixture.video()
        const upload = { url: `${fixture.sources.url}/none.mp4`, organisation_id: fixture.owner.organisationId }
        return [
          { ...put, payload: tooMuch, fields: Object.keys(tooMuch) },
          // A theme that was read has an `id`, which is ignored.
          { ...put, payload: denied, fields: Object.keys(denied).filter((name) => name !== 'id') },
          { ...put, payload: {}, fields: ['payload'] },
          { ...put, caller: 'otherTenant', payload: { title: 'Mine' }, status: 404, code: 'theme_not_found' },
          { ...put, path: '/theme/999999', payload: { title: 'Mine' }, status: 404 },
          { ...put, caller: 'guest', payload: { title: 'Mine' }, status: 401 },
          // A video or an organisation cannot reference a missing theme or one of another
          // organisation.
          ...[foreign.body.message.created, '999999'].flatMap((theme_id) => [
            {
              caller: 'system' as const,
              method: 'PUT',
              path: `/organisation/${fixture.owner.organisationId}`,
              payload: { default_theme_id: theme_id },
              status: 404,
              code: 'theme_not_found',
            },
            { method: 'PATCH', path: `/video/${video_id}`, payload: { theme_id }, status: 404, code: 'theme_not_found' },
            { method: 'POST', path: '/video/upload', payload: { ...upload, theme_id }, status: 404, code: 'theme_not_found' },
          ]),
        ]
      },
    },
    {
      endpoint: 'DELETE /theme/{theme_id}',
      async works(fixture) {
        const id = await create(fixture)
        const { video_id } = await fixture.video({ theme_id: id })
        const fetchThemeId = async () => (await fixture.clients.guest.get(`/video/${video_id}`)).body['theme_id']
        expect(await fetchThemeId()).toBe(id)
        const remove = () => fixture.clients.uploader.delete(`/theme/${id}`)
        expect((await remove()).body).toEqual({ status: 'OK', message: { deleted: id } })
        expect((await remove()).status).toBe(404)
        expect(await fetchThemeId()).toBe('')

        // A default theme can only be deleted after it is replaced, so that no organisation
        // references a deleted one.
        const byDefault = await create(fixture)
        const removeDefault = async () => (await fixture.clients.uploader.delete<{ code?: string }>(`/theme/${byDefault}`)).body
        const setDefault = async (default_theme_id: string) => {
          await fixture.clients.system.put(`/organisation/${fixture.owner.organisationId}`, { default_theme_id })
          await waitFor(async () => {
            const { body } = await fixture.clients.guest.get<{ theme: { id: string } | null }>(`/video/${video_id}?player_settings=true`)
            return (body.theme?.id ?? '') === default_theme_id
          })
        }
        await setDefault(byDefault)
        expect(await removeDefault()).toMatchObject({ status: 409, code: 'theme_in_use' })
        await setDefault('')
        expect(await removeDefault()).toMatchObject({ status: 'OK' })
      },
      async rejectedCalls(fixture) {
        const path = `/theme/${await create(fixture)}`
        return [
          { caller: 'otherTenant', method: 'DELETE', path, status: 404, code: 'theme_not_found' },
          { method: 'DELETE', path: '/theme/999999', status: 404 },
          { caller: 'guest', method: 'DELETE', path, status: 401 },
        ]
      },
    },
  ],
  samples: {
    payloads: { 'POST /theme/{}': () => ({ title: 'Sample' }), 'PUT /theme/{}': () => ({ title: 'Changed' }) },
    make: async (fixture) => ({ theme_id: await create(fixture) }),
  },
}
