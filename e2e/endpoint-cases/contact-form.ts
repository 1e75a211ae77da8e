import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Fixture, NounRows } from '../support/table-row.ts'
import { createTenant } from '../support/video-steps.ts'

interface ContactForm extends Record<string, unknown> {
  contact_form_id: string
}

const buildText = (count: number) => 'ä'.repeat(count)
const texts = {
  primary_text: buildText(1_000),
  secondary_text: buildText(1_000),
  reference: buildText(255),
  opt_in_message: buildText(1_000),
  button_text: buildText(100),
}
const captures = { capture_names: true, capture_company_name: '1', capture_opt_in: 1 }
const fullSubmission = { name: buildText(255), company_name: buildText(255), email: 'ada@example.org', opt_in: true }
const unknownForm = '/contact-form/999999'

const newForm = async ({ clients }: Fixture, fields: Record<string, unknown> = {}): Promise<ContactForm> => {
  const { status, body } = await clients.uploader.post<ContactForm>('/contact-form', { primary_text: 'Who are you?', ...fields })
  if (status !== 200) throw new Error(`no contact form: ${JSON.stringify(body)}`)
  return body
}
const send = async ({ clients }: Fixture, form: string, payload: Record<string, unknown>): Promise<string> => {
  const { status, body } = await clients.guest.post<{ submission_id: string }>(`/contact-form/${form}/submission`, payload)
  expect([status, Object.keys(body)]).toEqual([201, ['id', 'submission_id']])
  return body.submission_id
}

export const contactFormRows: NounRows = {
  noun: 'contact-form',
  rows: [
    {
      endpoint: 'GET /contact-form',
      async works(fixture) {
        const forms = [await newForm(fixture), await newForm(fixture, { reference: 'second' })]
        const { status, body } = await fixture.clients.uploader.get<ContactForm[]>('/contact-form')
        expect(status).toBe(200)
        expect(body.slice(-2)).toEqual(forms)
        const ownFormsPath = `/contact-form?organisation_id=${fixture.owner.organisationId}`
        expect((await fixture.clients.system.get(ownFormsPath)).body).toEqual(body)
        expect((await fixture.clients.otherTenant.get('/contact-form')).body).toEqual([])
        expect((await fixture.clients.owner.get(`${ownFormsPath}&start=2&limit=1`)).body).toEqual([body[1]])
      },
      rejectedCalls: async ({ otherTenant }) => [
        { method: 'GET', path: `/contact-form?organisation_id=${otherTenant.organisationId}`, status: 403 },
        { caller: 'system', method: 'GET', path: '/contact-form', status: 400, fields: ['organisation_id'] },
        { caller: 'system', method: 'GET', path: '/contact-form?organisation_id=999999', status: 404 },
        { method: 'GET', path: '/contact-form?start=0&limit=1001', status: 400, fields: ['start', 'limit'] },
        { caller: 'guest', method: 'GET', path: '/contact-form', status: 401 },
      ],
    },
    {
      endpoint: 'GET /contact-form/{contact_form_id}',
      async works(fixture) {
        const form = await newForm(fixture)
        for (const caller of ['owner', 'uploader', 'system'] as const) {
          const { status, body } = await fixture.clients[caller].get(`/contact-form/${form.contact_form_id}`)
          expect([status, body]).toEqual([200, form])
        }
      },
      async rejectedCalls(fixture) {
        const path = `/contact-form/${(await newForm(fixture)).contact_form_id}`
        return [
          { caller: 'otherTenant', method: 'GET', path, status: 404, code: 'contact_form_not_found' },
          { method: 'GET', path: unknownForm, status: 404, code: 'contact_form_not_found' },
          { caller: 'guest', method: 'GET', path, status: 401 },
        ]
      },
    },
    {
      endpoint: 'POST /contact-form',
      async works(fixture) {
        const { contact_form_id, ...form } = await newForm(fixture, { ...texts, ...captures, gated: '1' })
        expect(form).toEqual({
          id: contact_form_id,
          ...texts,
          ...{ capture_names: '1', capture_company_name: '1', capture_opt_in: '1', gated: '1' },
          ...{
            created_by_user_id: fixture.uploader.userId,
            organisation_id: fixture.owner.organisationId,
            date_created: expect.any(String),
          },
        })
        expect((await fixture.clients.owner.get(`/contact-form/${contact_form_id}`)).body).toEqual({ contact_form_id, ...form })
        const createdForOrganisation = await fixture.clients.system.post('/contact-form', {
          reference: 'r',
          organisation_id: fixture.owner.organisationId,
        })
        expect([createdForOrganisation.status, createdForOrganisation.body]).toMatchObject([
          200,
          { primary_text: '', organisation_id: fixture.owner.organisationId, gated: '0' },
        ])
      },
      async rejectedCalls({ otherTenant }) {
        const call = { method: 'POST', path: '/contact-form' }
        const tooLong = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, `${text}ä`]))
        return [
          { ...call, payload: {}, status: 400, fields: ['primary_text', 'reference'] },
          {
            ...call,
            payload: { primary_text: ' ', reference: '', secondary_text: 'a' },
            status: 400,
            fields: ['primary_text', 'reference'],
          },
          { ...call, payload: tooLong, status: 400, fields: Object.keys(texts) },
          {
            ...call,
            payload: { reference: 'r', gated: 2, capture_names: 'yes', created_by_user_id: '1' },
            status: 400,
            fields: ['gated', 'capture_names', 'created_by_user_id'],
          },
          { ...call, payload: { reference: 'r', organisation_id: otherTenant.organisationId }, status: 403 },
          { ...call, caller: 'system', payload: { reference: 'r' }, status: 400, fields: ['organisation_id'] },
          { ...call, caller: 'guest', payload: { reference: 'r' }, status: 401 },
        ]
      },
    },
    {
      endpoint: 'DELETE /contact-form/{contact_form_id}',
      async works(fixture) {
        const { clients, video } = fixture
        const { contact_form_id } = await newForm(fixture)
        const { video_id } = await video()
        await clients.owner.patch(`/video/${video_id}`, { contact_form_id })
        await send(fixture, contact_form_id, { email: 'ada@example.org', video_id })
        expect((await clients.guest.get(`/video/${video_id}`)).body).toMatchObject({ contact_form_id })
        const readShownForm = async () =>
          (await clients.guest.get<{ contact_form: object | null }>(`/video/${video_id}?player_settings=true`)).body.contact_form
        expect(await readShownForm()).toMatchObject({ contact_form_id, gated: '0' })
        expect(Object.keys((await readShownForm()) ?? {})).not.toContain('reference')
        const { status, body } = await clients.uploader.delete(`/contact-form/${contact_form_id}`)
        expect([status, body]).toEqual([200, { deleted: true }])
        for (const path of ['', '/submission'])
          expect((await clients.owner.get(`/contact-form/${contact_form_id}${path}`)).status).toBe(404)
        expect((await clients.guest.get(`/video/${video_id}`)).body).toMatchObject({ contact_form_id: '' })
        expect(await readShownForm()).toBeNull()
        expect((await clients.owner.patch(`/video/${video_id}`, { contact_form_id })).status).toBe(404)
        expect((await clients.owner.patch(`/video/${video_id}`, { description: 'goes on' })).status).toBe(200)
        expect((await clients.owner.delete(`/contact-form/${contact_form_id}`)).status).toBe(404)
      },
      async rejectedCalls(fixture) {
        const path = `/contact-form/${(await newForm(fixture)).contact_form_id}`
        const foreign = await fixture.clients.otherTenant.post<ContactForm>('/contact-form', { reference: 'theirs' })
        const { video_id } = await fixture.video()
        const change = { path: `/video/${video_id}`, payload: { contact_form_id: foreign.body.contact_form_id } }
        return [
          { caller: 'otherTenant', method: 'DELETE', path, status: 404, code: 'contact_form_not_found' },
          { method: 'DELETE', path: unknownForm, status: 404, code: 'contact_form_not_found' },
          { caller: 'guest', method: 'DELETE', path, status: 401 },
          { method: 'PATCH', ...change, status: 404, code: 'contact_form_not_found' },
          { caller: 'system', method: 'PUT', ...change, status: 404, code: 'contact_form_not_found' },
          { method: 'PATCH', path: change.path, payload: { contact_form_id: '999999' }, status: 404, code: 'contact_form_not_found' },
        ]
      },
    },
    {
      endpoint: 'POST /contact-form/{contact_form_id}/submission',
      async works(fixture) {
        const { contact_form_id } = await newForm(fixture, captures)
        const { video_id } = await fixture.video()
        const submission_id = await send(fixture, contact_form_id, { ...fullSubmission, video_id })
        const { body } = await fixture.clients.owner.get(`/contact-form/${contact_form_id}/submission`)
        expect(body).toEqual([{ submission_id, ...fullSubmission, opt_in: '1', video_id, time_created: expect.any(String) }])
      },
      async rejectedCalls(fixture) {
        const all = `/contact-form/${(await newForm(fixture, captures)).contact_form_id}/submission`
        const plain = `/contact-form/${(await newForm(fixture)).contact_form_id}/submission`
        const { video_id } = await fixture.video()
        await fixture.clients.owner.patch(`/video/${video_id}`, { enabled: 0 })
        const inactive = await createInactiveForm(fixture)
        const call = { caller: 'guest' as const, method: 'POST' }
        const good = { email: 'ada@example.org' }
        return [
          { ...call, path: all, payload: {}, status: 400, fields: ['email', 'name', 'company_name'] },
          { ...call, path: plain, payload: { email: 1, name: 'Ada', colour: 'red' }, status: 400, fields: ['email', 'colour', 'name'] },
          { ...call, path: all, payload: good, status: 400, fields: ['name', 'company_name'] },
          {
            ...call,
            path: all,
            payload: { ...fullSubmission, name: buildText(256), company_name: buildText(256), email: `a@${'b'.repeat(253)}` },
            ...{ status: 400, fields: ['name', 'company_name', 'email'] },
          },
          { ...call, path: plain, payload: fullSubmission, status: 400, fields: ['name', 'company_name', 'opt_in'] },
          ...['ada', 'ada@', 'a b@c', 'a@b\r\nBcc: c@d', '<a>@b'].map((email) => ({
            ...{ ...call, path: plain, payload: { email }, status: 400, fields: ['email'] },
          })),
          { ...call, path: plain, payload: { ...good, submission_id: '1' }, status: 400, fields: ['submission_id'] },
          { ...call, path: plain, payload: { ...good, video_id: '7' }, status: 404, code: 'video_not_found' },
          { ...call, path: plain, payload: { ...good, video_id }, status: 404, code: 'video_not_found' },
          { ...call, path: `${unknownForm}/submission`, payload: good, status: 404, code: 'contact_form_not_found' },
          { ...call, path: `/contact-form/${inactive}/submission`, payload: {}, status: 400 },
          { ...call, path: `/contact-form/${inactive}/submission`, payload: good, status: 404, code: 'contact_form_not_found' },
        ]
      },
    },
    {
      endpoint: 'GET /contact-form/{contact_form_id}/submission',
      async works(fixture) {
        const { contact_form_id } = await newForm(fixture)
        const path = `/contact-form/${contact_form_id}/submission`
        expect((await fixture.clients.owner.get(path)).body).toEqual([])
        const sent = [
          await send(fixture, contact_form_id, { email: 'a@example.org' }),
          await send(fixture, contact_form_id, { email: 'b@example.org' }),
        ]
        const { status, body } = await fixture.clients.uploader.get<{ submission_id: string }[]>(path)
        expect([status, body.map(({ submission_id }) => submission_id)]).toEqual([200, sent])
        expect(body[0]).toMatchObject({ name: '', company_name: '', email: 'a@example.org', opt_in: '0', video_id: '' })
        const page = await fixture.clients.system.get(`${path}?limit=1`)
        expect(page.body).toEqual([body[0]])
        const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? ''
        expect((await fixture.clients.system.get(next.slice(next.indexOf('/contact-form')))).body).toEqual([body[1]])
      },
      async rejectedCalls(fixture) {
        const { contact_form_id } = await newForm(fixture)
        await send(fixture, contact_form_id, { email: 'a@example.org' })
        const path = `/contact-form/${contact_form_id}/submission`
        return [
          { caller: 'otherTenant', method: 'GET', path, status: 404, code: 'contact_form_not_found' },
          { method: 'GET', path: `${unknownForm}/submission`, status: 404, code: 'contact_form_not_found' },
          { method: 'GET', path: `${path}?limit=1001`, status: 400, fields: ['limit'] },
          { caller: 'guest', method: 'GET', path, status: 401 },
        ]
      },
    },
    {
      endpoint: 'DELETE /contact-form/{contact_form_id}/submission/{submission_id}',
      async works(fixture) {
        const { contact_form_id } = await newForm(fixture)
        const path = `/contact-form/${contact_form_id}/submission`
        const [first, second] = [
          await send(fixture, contact_form_id, { email: 'a@example.org' }),
          await send(fixture, contact_form_id, { email: 'b@example.org' }),
        ]
        const { status, body } = await fixture.clients.uploader.delete(`${path}/${first}`)
        expect([status, body]).toEqual([200, { deleted: true }])
        expect((await fixture.clients.owner.get(path)).body).toMatchObject([{ submission_id: second, email: 'b@example.org' }])
        expect((await fixture.clients.uploader.delete(`${path}/${first}`)).status).toBe(404)
        expect((await fixture.clients.system.delete(`${path}/${second}`)).status).toBe(200)
      },
      async rejectedCalls(fixture) {
        const { contact_form_id } = await newForm(fixture)
        const otherForm = await newForm(fixture)
        const path = `/contact-form/${contact_form_id}/submission/${await send(fixture, contact_form_id, { email: 'a@example.org' })}`
        const pathOfOtherForm = path.replace(contact_form_id, otherForm.contact_form_id)
        return [
          { caller: 'otherTenant', method: 'DELETE', path, status: 404, code: 'contact_form_not_found' },
          { method: 'DELETE', path: pathOfOtherForm, status: 404, code: 'submission_not_found' },
          { method: 'DELETE', path: `/contact-form/${contact_form_id}/submission/x`, status: 404, code: 'submission_not_found' },
          { method: 'DELETE', path: `${unknownForm}/submission/1`, status: 404, code: 'contact_form_not_found' },
          { caller: 'guest', method: 'DELETE', path, status: 401 },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'POST /contact-form': (v) => ({ primary_text: 'Who are you?', organisation_id: v['organisation_id'] }),
      'POST /contact-form/{}/submission': () => ({ email: 'ada@example.org' }),
    },
    async make(fixture) {
      const { contact_form_id } = await newForm(fixture)
      return { contact_form_id, submission_id: await send(fixture, contact_form_id, { email: 'ada@example.org' }) }
    },
  },
}

/** Returns the form of an organisation that was disabled after its creation. */
async function createInactiveForm({ clients, platform }: Fixture): Promise<string> {
  const { organisationId, key } = await createTenant(platform.system)
  const { body } = await platform.withKey(key).post<ContactForm>('/contact-form', { reference: 'closed' })
  await clients.system.put(`/organisation/${organisationId}`, { status: 'inactive' })
  const path = `/contact-form/${body.contact_form_id}/submission`
  // The catalogue is notified a moment later.
  await waitFor(async () => (await clients.guest.post(path, { email: 'ada@example.org' })).status === 404)
  return body.contact_form_id
}
