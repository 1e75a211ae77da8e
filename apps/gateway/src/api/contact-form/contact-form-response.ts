import type { ContactForm, Submission } from '@vitascope/proto/catalogue/v1/contact_form'
import type { ViewerContactForm } from '@vitascope/proto/catalogue/v1/setting'
import { z } from 'zod'
import { formatFlag, formatOptionalTimestamp, schema } from '../../server/schema/response-format.ts'

export const describeGate = (field: string) =>
  `${field} requests that playback starts only after the form is submitted. The built-in player shows other forms with a button to skip them.`

export const ContactFormResponse = z
  .object({
    id: schema.id('contact form'),
    contact_form_id: schema.id('contact form'),
    primary_text: schema.text('Text that viewers read first.', 'Enter your name to watch the video'),
    secondary_text: schema.text('Text that viewers read next.', 'It takes a minute.'),
    reference: schema.text('Internal name of the form.', 'spring campaign'),
    opt_in_message: schema.text('Text that viewers agree to.', 'You may send me news.'),
    button_text: schema.text('Label of the submit button.', 'Watch'),
    capture_names: schema.flag('`"1"` adds a field for the name.'),
    capture_company_name: schema.flag('`"1"` adds a field for the company.'),
    capture_opt_in: schema.flag('`"1"` adds a field for consent to `opt_in_message`.'),
    gated: schema.flag(describeGate('`"1"`')),
    created_by_user_id: schema.id('user who created it'),
    organisation_id: schema.id('organisation'),
    date_created: schema.timestamp('Time of creation.'),
  })
  .meta({ id: 'ContactForm', description: 'A contact form.' })

/** The fields that viewers see. */
export const ViewerContactFormResponse = ContactFormResponse.omit({
  id: true,
  reference: true,
  created_by_user_id: true,
  organisation_id: true,
  date_created: true,
}).meta({ id: 'ViewerContactForm', description: 'The fields of a contact form that viewers see.' })

export const SubmissionResponse = z
  .object({
    submission_id: schema.id('submission'),
    name: schema.text('Name of the viewer. Empty if the form has no field for it.', 'Ada Lovelace'),
    company_name: schema.text('Company of the viewer. Empty if the form has no field for it.', 'Example Films'),
    email: schema.text('Email address as it was sent.', 'ada@example.org'),
    opt_in: schema.flag('`"1"` if the viewer agreed.'),
    time_created: schema.timestamp('Time of the submission.'),
    video_id: schema.text('Id of the video that showed the form. Empty if it was not sent.', '42'),
  })
  .meta({ id: 'Submission', description: 'Data that a viewer submitted with a contact form.' })

export function viewerContactFormResponse(form: ViewerContactForm): z.input<typeof ViewerContactFormResponse> {
  return {
    contact_form_id: form.contactFormId,
    primary_text: form.primaryText,
    secondary_text: form.secondaryText,
    opt_in_message: form.optInMessage,
    button_text: form.buttonText,
    capture_names: formatFlag(form.captureNames),
    capture_company_name: formatFlag(form.captureCompanyName),
    capture_opt_in: formatFlag(form.captureOptIn),
    gated: formatFlag(form.gated),
  }
}

export function contactFormResponse(form: ContactForm): z.input<typeof ContactFormResponse> {
  return {
    id: form.contactFormId,
    ...viewerContactFormResponse(form),
    reference: form.reference,
    created_by_user_id: form.createdByUserId,
    organisation_id: form.organisationId,
    date_created: formatOptionalTimestamp(form.createTime),
  }
}

export function submissionResponse(submission: Submission): z.input<typeof SubmissionResponse> {
  return {
    submission_id: submission.submissionId,
    name: submission.name,
    company_name: submission.companyName,
    email: submission.email,
    opt_in: formatFlag(submission.optIn),
    time_created: formatOptionalTimestamp(submission.createTime),
    video_id: submission.videoId,
  }
}
