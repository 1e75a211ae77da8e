import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { getScope, requireUser, type UserPrincipal } from '@vitascope/principal'
import type { ContactFormServiceService } from '@vitascope/proto/catalogue/v1/contact_form'
import { isId, pageById } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import { type ContactForm, checkContactForm, checkSubmission } from './contact-form.ts'
import type { ContactFormKey, ContactFormStore } from './contact-form-store.ts'
import type { SubmissionStore } from './submission-store.ts'

/** Throws VIDEO_NOT_FOUND if the organisation has no public video with this id. */
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
        read: (position) => forms.list(organisationId, position, signal),
        getId: ({ contactFormId }) => contactFormId,
      })
      return { contactForms: rows, nextPageToken }
    },
    async getContactForm({ contactFormId }, { principal, signal }) {
      return { contactForm: await requireForm(toKey(requireUser(principal), contactFormId), signal) }
    },
    async createContactForm({ contactForm: input }, call) {
      const { userId } = requireUser(call.principal)
      const organisationId = await requireOrganisation(organisations, call.principal, input?.organisationId ?? '', call.signal)
      if (!input) throw invalid([{ field: 'contact_form', message: 'is required' }])
      checkContactForm(input)
      return { contactForm: await forms.create({ ...input, organisationId, userId }, call) }
    },
    async deleteContactForm({ contactFormId }, { principal, signal }) {
      await forms.remove(toKey(requireUser(principal), contactFormId), signal)
      return {}
    },
    async submitContactForm({ contactFormId, validateOnly, ...submission }, call) {
      if (!isId(contactFormId)) throw notFound('contact form', contactFormId)
      const form = await requireForm({ scope: null, contactFormId }, call.signal)
      await requireActiveOrganisation(form, call.signal)
      checkSubmission(form, submission)
      if (submission.videoId !== '') await requirePublicVideo(form.organisationId, submission.videoId, call.signal)
      if (validateOnly) return { submissionId: '' }
      return { submissionId: await submissions.add(contactFormId, submission, call) }
    },
    async listSubmissions({ contactFormId, ...request }, { principal, signal }) {
      await requireForm(toKey(requireUser(principal), contactFormId), signal)
      const { rows, nextPageToken } = await pageById(request, MAX_SUBMISSIONS, {
        read: (position) => submissions.list(contactFormId, position, signal),
        getId: ({ submissionId }) => submissionId,
      })
      return { submissions: rows, nextPageToken }
    },
    async deleteSubmission({ contactFormId, submissionId }, { principal, signal }) {
      await requireForm(toKey(requireUser(principal), contactFormId), signal)
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

function toKey(user: UserPrincipal, contactFormId: string): ContactFormKey {
  if (!isId(contactFormId)) throw notFound('contact form', contactFormId)
  return { scope: getScope(user), contactFormId }
}
