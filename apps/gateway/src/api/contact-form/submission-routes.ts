import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { flag, id, idOrNone, text } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { schema } from '../../server/schema/response-format.ts'
import { SubmissionResponse, submissionResponse } from './contact-form-response.ts'

const formId = z.object({ contactFormId: id('contact form') })

const newSubmission = z.strictObject({
  name: text(255, {}, { description: 'Name. Required if the form has `capture_names`.', example: 'Ada Lovelace' }).default(''),
  company_name: text(255, {}, { description: 'Company. Required if the form has `capture_company_name`.' }).default(''),
  email: text(254, { min: 3 }, { description: 'Email address.', example: 'ada@example.org' }),
  opt_in: flag({ description: 'Consent. Allowed if the form has `capture_opt_in`.' }).default(false),
  video_id: idOrNone('video that showed the form. It belongs to the organisation of the form, and the viewer may watch it').default(''),
})

export const submitContactForm = route({
  post: ['/contact-form/:contactFormId/submission'],
  operationId: 'submitContactForm',
  section: 'Contact forms',
  access: 'public',
  summary: 'Submit a contact form',
  description: `Stores what a viewer entered into a form. \`name\` and \`company_name\` are required if the form captures them, and rejected
otherwise. An \`opt_in\` of 1 is rejected if the form does not capture it. Reading submissions requires a key of the organisation.
An IP address may submit a form 10 times a minute. For IPv6, the limit is 10 for a /64 and 20 for a /48. All viewers together may
submit a form 1,000 times a minute. The number of stored submissions is not limited.`,
  params: formId,
  payload: newSubmission,
  status: 201,
  response: z.object({ id: schema.id('submission'), submission_id: schema.id('submission') }),
  async validateRemotely({ params, payload }, { services, call }) {
    await services.contactForms.submitContactForm({ ...params, ...toSubmission(payload), validateOnly: true }, call)
  },
  async handle({ params, payload }, { services, call, countSubmission }) {
    await countSubmission(params.contactFormId)
    const request = { ...params, ...toSubmission(payload), validateOnly: false }
    const { submissionId } = await services.contactForms.submitContactForm(request, call)
    return { id: submissionId, submission_id: submissionId }
  },
})

export const listSubmissions = route({
  get: ['/contact-form/:contactFormId/submission'],
  operationId: 'listContactFormSubmissions',
  section: 'Contact forms',
  access: 'user',
  summary: 'List the submissions of a contact form',
  description: 'Returns the submissions, oldest first.',
  params: formId,
  query: z.object(pageQuery),
  response: z.array(SubmissionResponse),
  async handle({ params, query }, { services, call, publicUrl }) {
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 500 }, async (page) => {
      const { submissions, nextPageToken } = await services.contactForms.listSubmissions({ ...params, ...page }, call)
      return { rows: submissions, nextPageToken }
    })
    const path = `/contact-form/${params.contactFormId}/submission`
    return new Reply(rows.map(submissionResponse), { headers: nextLink(publicUrl, path, { ...query, nextCursor }) })
  },
})

export const deleteSubmission = route({
  delete: ['/contact-form/:contactFormId/submission/:submissionId'],
  operationId: 'deleteContactFormSubmission',
  section: 'Contact forms',
  access: 'user',
  summary: 'Delete a submission of a contact form',
  description: 'Permanently deletes the submission.',
  params: formId.extend({ submissionId: id('submission') }),
  response: z.object({ deleted: z.literal(true) }),
  async handle({ params }, { services, call }) {
    await services.contactForms.deleteSubmission(params, call)
    return { deleted: true as const }
  },
})

function toSubmission(payload: Partial<z.output<typeof newSubmission>>) {
  return {
    name: payload.name ?? '',
    companyName: payload.company_name ?? '',
    email: payload.email ?? '',
    optIn: payload.opt_in ?? false,
    videoId: payload.video_id ?? '',
  }
}
