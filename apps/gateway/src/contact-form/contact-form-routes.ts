import { ContactForm } from '@vitascope/proto/catalogue/v1/contact_form'
import { z } from 'zod'
import { flag, id, organisationIdField, text } from '../fields.ts'
import { requiredOrganisation } from '../organisation-rule.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { given } from '../public-form.ts'
import { Reply, route } from '../route.ts'
import { ContactFormRecord, contactFormView, gatedMeaning } from './contact-form-view.ts'
import { listSubmissions, submitContactForm } from './submission-routes.ts'

const formId = z.object({ contactFormId: id('contact form') })

export const listContactForms = route({
  get: ['/contact-form'],
  section: 'Contact forms',
  access: 'user',
  summary: 'List contact forms',
  description: 'A user’s own organisation’s, oldest first; a system key names one by `organisation_id`.',
  query: z.object({ organisation_id: organisationIdField().optional(), ...pageQuery }),
  answer: z.array(ContactFormRecord),
  async handle({ query: { organisation_id, ...query } }, { caller, services, call, publicUrl }) {
    const organisationId = requiredOrganisation(caller, organisation_id)
    const { rows, more } = await collectRows({ ...query, part: 100 }, async (page) => {
      const { contactForms, nextPageToken } = await services.contactForms.listContactForms({ organisationId, ...page }, call)
      return { rows: contactForms, nextPageToken }
    })
    const headers = nextLink(publicUrl, '/contact-form', { ...query, more, query: { organisation_id: organisationId } })
    return new Reply(rows.map(contactFormView), { headers })
  },
})

export const getContactForm = route({
  get: ['/contact-form/:contactFormId'],
  section: 'Contact forms',
  access: 'user',
  summary: 'Read a contact form',
  params: formId,
  answer: ContactFormRecord,
  async handle({ params }, { services, call }) {
    const { contactForm } = await services.contactForms.getContactForm(params, call)
    return contactFormView(given(contactForm, 'contact form'))
  },
})

const capture = (what: string) => flag({ description: `1 asks for ${what}.` }).default(false)

export const createContactForm = route({
  post: ['/contact-form'],
  section: 'Contact forms',
  access: 'user',
  summary: 'Create a contact form',
  description: 'At least one of `primary_text` and `reference` is required. Forms are not changed afterwards: make another one.',
  payload: z.strictObject({
    primary_text: text(1_000, {}, { description: 'What viewers read first.', example: 'Tell us who you are' }).default(''),
    secondary_text: text(1_000, {}, { description: 'What they read next.' }).default(''),
    reference: text(255, {}, { description: 'Your own name for it.', example: 'spring campaign' }).default(''),
    opt_in_message: text(1_000, {}, { description: 'What viewers agree to.' }).default(''),
    button_text: text(100, {}, { description: 'Of the button that sends it.', example: 'Watch' }).default(''),
    capture_names: capture('a name'),
    capture_company_name: capture('a company'),
    capture_opt_in: capture('whether the viewer agrees to `opt_in_message`'),
    gated: flag({ description: gatedMeaning('1') }).default(false),
    organisation_id: organisationIdField({ description: 'Required with a system key.' }).optional(),
  }),
  answer: ContactFormRecord,
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
    return contactFormView(given(created.contactForm, 'contact form'))
  },
})

export const deleteContactForm = route({
  delete: ['/contact-form/:contactFormId'],
  section: 'Contact forms',
  access: 'user',
  summary: 'Delete a contact form for good',
  description: 'What viewers sent by it goes with it, and videos that had it have none afterwards.',
  params: formId,
  answer: z.object({ deleted: z.literal(true) }),
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
]
