import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { buildOrganisation, createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { type ContactFormStore, createContactFormStore, type NewContactForm } from './contact-form-store.ts'
import { createSubmissionStore, type SubmissionStore } from './submission-store.ts'

let catalogue: CatalogueDatabase
let forms: ContactFormStore
let submissions: SubmissionStore

beforeAll(async () => {
  catalogue = await catalogueDatabase()
  forms = createContactFormStore(catalogue.db)
  submissions = createSubmissionStore(catalogue.db)
})
afterAll(() => catalogue.close())

const buildForm = (more: Partial<NewContactForm> = {}): NewContactForm => ({
  ...{ organisationId: '1', userId: '7', primaryText: 'Who?', secondaryText: 's', reference: 'r', optInMessage: 'o', buttonText: 'b' },
  ...{ captureNames: true, captureCompanyName: false, captureOptIn: true, gated: false },
  ...more,
})
const sent = { videoId: '', name: 'Ada', companyName: '', email: 'ada@example.org', optIn: true }
const everything = { after: '0', limit: 1_000, skip: 0 }
const videoWith = async (contactFormId: string) => {
  const { videoId } = await catalogue.upload()
  await catalogue.videos.update({ scope: '1', videoId }, '7', (current) => ({ ...current, contactFormId }))
  return videoId
}
const findShownForm = async (videoId: string) => (await catalogue.videos.find(null, videoId))?.contactFormId

describe('a contact form', () => {
  test('is returned as stored, and created once for one idempotency key', async () => {
    const call = createCall({ key: 'form', fingerprint: 'x' })
    const { userId, ...fields } = buildForm()
    const created = await forms.create({ ...fields, userId }, call)
    expect(created).toEqual({ ...fields, contactFormId: expect.any(String), createdByUserId: '7', createTime: expect.any(Date) })
    expect(await forms.create({ ...fields, userId }, call)).toEqual(created)
    expect(await forms.find({ scope: '1', contactFormId: created.contactFormId })).toEqual(created)
    expect(await forms.list('1', everything)).toEqual([created])
  })
  test('of another organisation is not found', async () => {
    const { contactFormId } = await forms.create(buildForm(), createCall())
    expect(await forms.find({ scope: '2', contactFormId })).toBeUndefined()
    expect(await forms.list('2', everything)).toEqual([])
    await expect(forms.remove({ scope: '2', contactFormId })).rejects.toMatchObject({ reason: 'CONTACT_FORM_NOT_FOUND' })
  })
})

describe('a submission', () => {
  test('is deleted alone and once, and only through the form to which it was sent', async () => {
    const { contactFormId } = await forms.create(buildForm(), createCall())
    const other = await forms.create(buildForm(), createCall())
    const [first, second] = [
      await submissions.add(contactFormId, sent, createCall()),
      await submissions.add(contactFormId, sent, createCall()),
    ]
    await expect(submissions.remove(other.contactFormId, first)).rejects.toMatchObject({ reason: 'SUBMISSION_NOT_FOUND' })
    await submissions.remove(contactFormId, first)
    await expect(submissions.remove(contactFormId, first)).rejects.toMatchObject({ reason: 'SUBMISSION_NOT_FOUND' })
    expect((await submissions.list(contactFormId, everything)).map(({ submissionId }) => submissionId)).toEqual([second])
  })
})

describe('a video', () => {
  test('keeps a form of its own organisation until the form is deleted', async () => {
    const { contactFormId } = await forms.create(buildForm(), createCall())
    const videoId = await videoWith(contactFormId)
    expect(await findShownForm(videoId)).toBe(contactFormId)
    await forms.remove({ scope: '1', contactFormId })
    expect(await findShownForm(videoId)).toBe('')
    await catalogue.videos.update({ scope: '1', videoId }, '7', (current) => ({ ...current, title: 'Still to be changed' }))
    await expect(videoWith(contactFormId)).rejects.toMatchObject({ reason: 'CONTACT_FORM_NOT_FOUND' })
  })
  test('cannot have a form of another organisation', async () => {
    const { contactFormId } = await forms.create(buildForm({ organisationId: '2' }), createCall())
    await expect(videoWith(contactFormId)).rejects.toMatchObject({ kind: 'not_found', reason: 'CONTACT_FORM_NOT_FOUND' })
  })
})

describe('submissions of viewers', () => {
  test('are stored once for one idempotency key, and deleted with their form', async () => {
    const { contactFormId } = await forms.create(buildForm(), createCall())
    const call = createCall({ key: `sent ${contactFormId}`, fingerprint: 'x' })
    const first = await submissions.add(contactFormId, { ...sent, videoId: '77' }, call)
    expect(await submissions.add(contactFormId, { ...sent, videoId: '77' }, call)).toBe(first)
    const second = await submissions.add(contactFormId, { ...sent, optIn: false }, createCall())
    expect(await submissions.list(contactFormId, everything)).toEqual([
      { ...sent, videoId: '77', submissionId: first, createTime: expect.any(Date) },
      { ...sent, optIn: false, submissionId: second, createTime: expect.any(Date) },
    ])
    expect(await submissions.list(contactFormId, { after: first, limit: 1, skip: 0 })).toHaveLength(1)
    await forms.remove({ scope: '1', contactFormId })
    expect(await submissions.list(contactFormId, everything)).toEqual([])
    await expect(submissions.add(contactFormId, sent, createCall())).rejects.toMatchObject({ reason: 'CONTACT_FORM_NOT_FOUND' })
  })
  test('are rejected for a form of an inactive organisation', async () => {
    await catalogue.organisations.apply(buildOrganisation({ organisationId: '3', active: false }))
    const { contactFormId } = await forms.create(buildForm({ organisationId: '3' }), createCall())
    await expect(submissions.add(contactFormId, sent, createCall())).rejects.toMatchObject({ reason: 'CONTACT_FORM_NOT_FOUND' })
  })
  test('are stored without a limit and without waiting for each other', async () => {
    const { contactFormId } = await forms.create(buildForm(), createCall())
    await catalogue.db.query('update contact_form set submissions = 100000 where contact_form_id = $1', [contactFormId])
    await catalogue.db.transaction(async ({ query }) => {
      // The lock of another submission.
      await query('select 1 from contact_form where contact_form_id = $1 for key share', [contactFormId])
      await Promise.all(Array.from({ length: 8 }, () => submissions.add(contactFormId, sent, createCall())))
    })
    expect(await submissions.list(contactFormId, everything)).toHaveLength(8)
  })
})
