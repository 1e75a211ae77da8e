import { describe, expect, test } from '@jest/globals'
import { type ContactFormFields, checkContactForm, checkSubmission, type SubmissionFields } from './contact-form.ts'

const buildForm = (fields: Partial<ContactFormFields> = {}): ContactFormFields => ({
  ...{ primaryText: 'Who are you?', secondaryText: '', reference: '', optInMessage: '', buttonText: '' },
  ...{ captureNames: false, captureCompanyName: false, captureOptIn: false, gated: false },
  ...fields,
})
const sent = (fields: Partial<SubmissionFields> = {}): SubmissionFields => ({
  ...{ videoId: '', name: '', companyName: '', email: 'ada@example.org', optIn: false },
  ...fields,
})
const findInvalidFields = (check: () => void): string[] => {
  try {
    check()
    return []
  } catch (error) {
    return (error as { fields: { field: string }[] }).fields.map(({ field }) => field)
  }
}
const buildText = (count: number) => 'ä'.repeat(count)

describe('a contact form', () => {
  test.each([
    [{ primaryText: '', reference: 'spring' }, []],
    [{ primaryText: '', reference: '' }, ['primary_text', 'reference']],
    [{ primaryText: ' ', reference: '\n' }, ['primary_text', 'reference']],
    [
      {
        primaryText: buildText(1_000),
        secondaryText: buildText(1_000),
        reference: buildText(255),
        optInMessage: buildText(1_000),
        buttonText: buildText(100),
      },
      [],
    ],
    [
      {
        primaryText: buildText(1_001),
        secondaryText: buildText(1_001),
        reference: buildText(256),
        optInMessage: buildText(1_001),
        buttonText: buildText(101),
      },
      ['primary_text', 'secondary_text', 'reference', 'opt_in_message', 'button_text'],
    ],
    [{ primaryText: 'a\0' }, ['primary_text']],
  ])('is validated (%#)', (fields, wrong) => {
    expect(findInvalidFields(() => checkContactForm(buildForm(fields)))).toEqual(wrong)
  })
})

describe('a submission', () => {
  const all = { captureNames: true, captureCompanyName: true, captureOptIn: true }
  test.each([
    ['only an email address', {}, {}, []],
    ['every field of the form', all, { name: buildText(255), companyName: buildText(255), optIn: true, videoId: '7' }, []],
    ['all fields except the consent', all, { name: 'Ada', companyName: 'Engines' }, []],
    ['too long names', all, { name: buildText(256), companyName: buildText(256) }, ['name', 'company_name']],
    ['none of the required fields', all, { name: ' ', email: '' }, ['name', 'company_name', 'email']],
    [
      'fields that are not in the form',
      {},
      { name: 'Ada', companyName: 'Engines', optIn: true, videoId: 'x' },
      ['name', 'company_name', 'opt_in', 'video_id'],
    ],
  ])('is validated against the form: %s', (_, form, fields, wrong) => {
    expect(findInvalidFields(() => checkSubmission(buildForm(form), sent(fields)))).toEqual(wrong)
  })
  test.each(['a@b', 'ada.lovelace+list@mail.example.org', 'ä@münchen.example', `${'a'.repeat(64)}@${'b'.repeat(63)}.org`])(
    'accepts the address %j',
    (email) => {
      expect(findInvalidFields(() => checkSubmission(buildForm(), sent({ email })))).toEqual([])
    },
  )
  test.each([
    'a',
    '@b',
    'a@',
    'a b@c',
    'a@b\r\nBcc: x@y',
    '<a>@b',
    'a@b..c',
    'a@-b',
    `${'a'.repeat(65)}@b`,
    `a@${'b.'.repeat(130)}c`,
    'a\0@b',
    'a@b@',
    'a,b@c',
  ])('rejects the address %j', (email) => {
    expect(findInvalidFields(() => checkSubmission(buildForm(), sent({ email })))).toEqual(['email'])
  })
})
