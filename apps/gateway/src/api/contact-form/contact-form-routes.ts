import { ContactForm } from '@vitascope/proto/catalogue/v1/contact_form'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { flag, id, organisationIdField, text } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { required } from '../../server/schema/response-format.ts'
import { requiredOrganisation } from '../shared/resolve-organisation.ts'
import { ContactFormResponse, contactFormResponse, describeGate } from './contact-form-response.ts'
import { deleteSubmission, listSubmissions, submitContactForm } from './submission-routes.ts'

const formId = z.object({ contactFormId: id('contact form') })

export const listContactForms = route({
  get: ['/contact-form'],
  operationId: 'listContactForms',
  section: 'Contact forms',
  access: 'user',
  summary: 'List contact forms',
  description:
    'Returns the contact forms of the user’s own organisation, oldest first. A system key selects the organisation with `organisation_id`.',
  query: z.object({ organisation_id: organisationIdField().optional(), ...pageQuery }),
  response: z.array(ContactFormResponse),
  async handle({ query: { organisation_id, ...query } }, { caller, services, call, publicUrl }) {
    const organisationId = requiredOrganisation(caller, organisation_id)
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 100 }, async (page) => {
      const { contactForms, nextPageToken } = await services.contactForms.listContactForms({ organisationId, ...page }, call)
      return { rows: contactForms, nextPageToken }
    })
    const headers = nextLink(publicUrl, '/contact-form', { ...query, nextCursor, query: { organisation_id: organisationId } })
    return new Reply(rows.map(contactFormResponse), { headers })
  },
})

export const getContactForm = route({
  get: ['/contact-form/:contactFormId'],
  operationId: 'getContactForm',
  section: 'Contact forms',
  access: 'user',
  summary: 'Read a contact form',
  description: 'Returns the texts and the settings of a contact form.',
  params: formId,
  response: ContactFormResponse,
  async handle({ params }, { services, call }) {
    const { contactForm } = await services.contactForms.getContactForm(params, call)
    return contactFormResponse(required(contactForm, 'contact form'))
  },
})

const capture = (data: string) => flag({ description: `\`1\` adds a field for ${data}.` }).default(false)

export const createContactForm = route({
  post: ['/contact-form'],
  operationId: 'createContactForm',
  section: 'Contact forms',
  access: 'user',
  summary: 'Create a contact form',
  description:
    'Creates a form. At least one of `primary_text` and `reference` is required. Forms cannot be changed afterwards. Create another ' +
    'form instead.',
  payload: z.strictObject({
    primary_text: text(1_000, {}, { description: 'Text that viewers read first.', example: 'Enter your name to watch the video' }).default(
      '',
    ),
    secondary_text: text(1_000, {}, { description: 'Text that viewers read next.' }).default(''),
    reference: text(255, {}, { description: 'Internal name of the form.', example: 'spring campaign' }).default(''),
    opt_in_message: text(1_000, {}, { description: 'Text that viewers agree to.' }).default(''),
    button_text: text(100, {}, { description: 'Label of the submit button.', example: 'Watch' }).default(''),
    capture_names: capture('the name'),
    capture_company_name: capture('the company'),
    capture_opt_in: capture('consent to `opt_in_message`'),
    gated: flag({ description: describeGate('`1`') }).default(false),
    organisation_id: organisationIdField({ description: 'Id of the organisation. Required with a system key.' }).optional(),
  }),
  docs: { example: { organisation_id: '1', primary_text: 'Enter your name to watch the video', button_text: 'Watch' } },
  response: ContactFormResponse,
  async handle({ payload }, { caller, services, call }) {
    const contactForm = ContactForm.create({
      organisationId: requiredOrganisation(caller, payload.organisation_id),
      primaryText: payload.primary_text,
      secondaryText: payload.secondary_text,
      reference: payload.reference,
      optInMessage: payload.opt_in_message,
      buttonText: payload.button_text,
      captureNames: payload.capture_names,
      captureCompanyName: payload.capture_company_name,
      captureOptIn: payload.capture_opt_in,
      gated: payload.gated,
    })
    const created = await services.contactForms.createContactForm({ contactForm }, call)
    return contactFormResponse(required(created.contactForm, 'contact form'))
  },
})

export const deleteContactForm = route({
  delete: ['/contact-form/:contactFormId'],
  operationId: 'deleteContactForm',
  section: 'Contact forms',
  access: 'user',
  summary: 'Delete a contact form',
  description: 'Permanently deletes the form and its submissions. Videos with this form then have none.',
  params: formId,
  response: z.object({ deleted: z.literal(true) }),
  async handle({ params }, { services, call }) {
    await services.contactForms.deleteContactForm(params, call)
    return { deleted: true as const }
  },
})

export const contactFormRoutes = [
  listContactForms,
  getContactForm,
  createContactForm,
  deleteContactForm,
  submitContactForm,
  listSubmissions,
  deleteSubmission,
]
