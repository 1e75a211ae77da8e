import { z } from 'zod'
import { flag, id, idOrNone, text } from '../fields.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { shown } from '../public-form.ts'
import { Reply, route } from '../route.ts'
import { SubmissionRecord, submissionView } from './contact-form-view.ts'

const formId = z.object({ contactFormId: id('contact form') })

const newSubmission = z.strictObject({
  name: text(255, {}, { description: 'Where the form has `capture_names`.', example: 'Ada Lovelace' }).default(''),
  company_name: text(255, {}, { description: 'Where the form has `capture_company_name`.' }).default(''),
  email: text(254, { min: 3 }, { description: 'An email address.', example: 'ada@example.org' }),
  opt_in: flag({ description: 'Where the form has `capture_opt_in`.' }).default(false),
  video_id: idOrNone('video that showed the form: one of its organisation that the viewer may watch').default(''),
})

export const submitContactForm = route({
  post: ['/contact-form/:contactFormId/submission'],
  section: 'Added',
  access: 'public',
  summary: 'Send a contact form',
  description: `For viewers. \`name\` and \`company_name\` are required where the form captures them, and refused where it does not, as is an
\`opt_in\` of 1. Nothing of what was sent is to be read without a key of the organisation. At most 10 a minute of an address by a form.`,
  params: formId,
  payload: newSubmission,
  status: 201,
  answer: z.object({ submission_id: shown.id('submission') }),
  refusals: { contact_form_full: 'it holds 100,000 submissions; deleting it deletes them' },
  async judge({ params, payload }, { services, call }) {
    await services.contactForms.submitContactForm({ ...params, ...toSubmission(payload), validateOnly: true }, call)
  },
  async handle({ params, payload }, { services, call, takeSubmission }) {
    await takeSubmission(params.contactFormId)
    const request = { ...params, ...toSubmission(payload), validateOnly: false }
    const { submissionId } = await services.contactForms.submitContactForm(request, call)
    return { submission_id: submissionId }
  },
})

export const listSubmissions = route({
  get: ['/contact-form/:contactFormId/submission'],
  section: 'Added',
  access: 'user',
  summary: 'List what viewers sent by a contact form',
  description: 'Oldest first.',
  params: formId,
  query: z.object(pageQuery),
  answer: z.array(SubmissionRecord),
  async handle({ params, query }, { services, call, publicUrl }) {
    const { rows, more } = await collectRows({ ...query, part: 500 }, async (page) => {
      const { submissions, nextPageToken } = await services.contactForms.listSubmissions({ ...params, ...page }, call)
      return { rows: submissions, nextPageToken }
    })
    const path = `/contact-form/${params.contactFormId}/submission`
    return new Reply(rows.map(submissionView), { headers: nextLink(publicUrl, path, { ...query, more }) })
  },
})

function toSubmission(sent: Partial<z.output<typeof newSubmission>>) {
  return {
    name: sent.name ?? '',
    companyName: sent.company_name ?? '',
    email: sent.email ?? '',
    optIn: sent.opt_in ?? false,
    videoId: sent.video_id ?? '',
  }
}
