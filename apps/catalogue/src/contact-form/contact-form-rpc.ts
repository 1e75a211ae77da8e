import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { requireUser, scopeOf, type UserPrincipal } from '@vitascope/principal'
import type { ContactFormServiceService } from '@vitascope/proto/catalogue/v1/contact_form'
import { isId, pageById } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import { type ContactForm, checkContactForm, checkSubmission } from './contact-form.ts'
import type { ContactFormKey, ContactFormStore } from './contact-form-store.ts'
import type { SubmissionStore } from './submission-store.ts'

/** Requires a public video of an organisation. Throws VIDEO_NOT_FOUND otherwise. */
export type RequirePublicVideo = (organisationId: string, videoId: string, signal: AbortSignal) => Promise<void>

export interface ContactFormParts {
  forms: ContactFormStore
  submissions: SubmissionStore
  requirePublicVideo: RequirePublicVideo
  organisations: Organisations
}

const MAX_FORMS = 100
const MAX_SUBMISSIONS = 500

export function contactFormHandlers({
  forms,
  submissions,
  requirePublicVideo,
  organisations,
}: ContactFormParts): Handlers<typeof ContactFormServiceService> {
  return {
    async listContactForms(request, { principal, signal }) {
      const organisationId = await requireOrganisation(organisations, principal, request.organisationId, signal)
      const { rows, nextPageToken } = await pageById(request, MAX_FORMS, {
        read: (place) => forms.list(organisationId, place, signal),
        idOf: ({ contactFormId }) => contactFormId,
      })
      return { contactForms: rows, nextPageToken }
    },
    async getContactForm({ contactFormId }, { principal, signal }) {
      return { contactForm: await requireForm(keyOf(requireUser(principal), contactFormId), signal) }
    },
    async createContactForm({ contactForm: given }, call) {
      const { userId } = requireUser(call.principal)
      const organisationId = await requireOrganisation(organisations, call.principal, given?.organisationId ?? '', call.signal)
      if (!given) throw invalid([{ field: 'contact_form', message: 'is required' }])
      checkContactForm(given)
      return { contactForm: await forms.create({ ...given, organisationId, userId }, call) }
    },
    async deleteContactForm({ contactFormId }, { principal, signal }) {
      await forms.remove(keyOf(requireUser(principal), contactFormId), signal)
      return {}
    },
    async submitContactForm({ contactFormId, validateOnly, ...sent }, call) {
      if (!isId(contactFormId)) throw notFound('contact form', contactFormId)
      const form = await requireForm({ scope: null, contactFormId }, call.signal)
      await requireActiveOrganisation(form, call.signal)
      checkSubmission(form, sent)
      if (sent.videoId !== '') await requirePublicVideo(form.organisationId, sent.videoId, call.signal)
      if (validateOnly) return { submissionId: '' }
      return { submissionId: await submissions.add(contactFormId, sent, call) }
    },
    async listSubmissions({ contactFormId, ...request }, { principal, signal }) {
      await requireForm(keyOf(requireUser(principal), contactFormId), signal)
      const { rows, nextPageToken } = await pageById(request, MAX_SUBMISSIONS, {
        read: (place) => submissions.list(contactFormId, place, signal),
        idOf: ({ submissionId }) => submissionId,
      })
      return { submissions: rows, nextPageToken }
    },
    async deleteSubmission({ contactFormId, submissionId }, { principal, signal }) {
      await requireForm(keyOf(requireUser(principal), contactFormId), signal)
      if (!isId(submissionId)) throw notFound('submission', submissionId)
      await submissions.remove(contactFormId, submissionId, signal)
      return {}
    },
  }

  async function requireForm(key: ContactFormKey, signal: AbortSignal): Promise<ContactForm> {
    const form = await forms.find(key, signal)
    if (!form) throw notFound('contact form', key.contactFormId)
    return form
  }

  /** Runs before the fields are validated, because validation errors would reveal the fields of the form. */
  async function requireActiveOrganisation({ contactFormId, organisationId }: ContactForm, signal: AbortSignal): Promise<void> {
    const { active } = await organisations.require(organisationId, signal)
    if (!active) throw notFound('contact form', contactFormId)
  }
}

function keyOf(user: UserPrincipal, contactFormId: string): ContactFormKey {
  if (!isId(contactFormId)) throw notFound('contact form', contactFormId)
  return { scope: scopeOf(user), contactFormId }
}
