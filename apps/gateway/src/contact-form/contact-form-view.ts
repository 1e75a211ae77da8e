import type { ContactForm, Submission } from '@vitascope/proto/catalogue/v1/contact_form'
import { z } from 'zod'
import { flagText, shown, timestampText } from '../public-form.ts'

export const gatedMeaning = (on: string) =>
  `${on} asks players and pages of your own to let viewers watch only after they have sent it; the built-in player does not.`

export const ContactFormRecord = z
  .object({
    contact_form_id: shown.id('contact form'),
    primary_text: shown.text('What viewers read first.', 'Tell us who you are'),
    secondary_text: shown.text('What they read next.'),
    reference: shown.text('The organisation’s own name for it.', 'spring campaign'),
    opt_in_message: shown.text('What viewers agree to.'),
    button_text: shown.text('Of the button that sends it.', 'Watch'),
    capture_names: shown.flag('`"1"` asks for a name.'),
    capture_company_name: shown.flag('`"1"` asks for a company.'),
    capture_opt_in: shown.flag('`"1"` asks whether the viewer agrees to `opt_in_message`.'),
    gated: shown.flag(gatedMeaning('`"1"`')),
    created_by_user_id: shown.id('user who created it'),
    organisation_id: shown.id('organisation'),
    date_created: shown.timestamp('When it was created.'),
  })
  .meta({ id: 'ContactForm', description: 'A contact form.' })

export const SubmissionRecord = z
  .object({
    submission_id: shown.id('submission'),
    name: shown.text('Empty where the form does not ask for it.', 'Ada Lovelace'),
    company_name: shown.text('Empty where the form does not ask for it.'),
    email: shown.text('As sent.', 'ada@example.org'),
    opt_in: shown.flag('`"1"` when the viewer agreed.'),
    time_created: shown.timestamp('When it came.'),
    video_id: shown.text('Id of the video that showed the form; empty when not said.'),
  })
  .meta({ id: 'Submission', description: 'What a viewer sent by a contact form.' })

export function contactFormView(form: ContactForm): z.input<typeof ContactFormRecord> {
  return {
    contact_form_id: form.contactFormId,
    primary_text: form.primaryText,
    secondary_text: form.secondaryText,
    reference: form.reference,
    opt_in_message: form.optInMessage,
    button_text: form.buttonText,
    capture_names: flagText(form.captureNames),
    capture_company_name: flagText(form.captureCompanyName),
    capture_opt_in: flagText(form.captureOptIn),
    gated: flagText(form.gated),
    created_by_user_id: form.createdByUserId,
    organisation_id: form.organisationId,
    date_created: timestampText(form.createTime),
  }
}

export function submissionView(submission: Submission): z.input<typeof SubmissionRecord> {
  return {
    submission_id: submission.submissionId,
    name: submission.name,
    company_name: submission.companyName,
    email: submission.email,
    opt_in: flagText(submission.optIn),
    time_created: timestampText(submission.createTime),
    video_id: submission.videoId,
  }
}
