import { invalid, isDomainError, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { ContactFormServiceService } from '@vitascope/proto/catalogue/v1/contact_form'
import { parseId } from '../id/id.ts'
import { pageById } from '../id-page.ts'
import { needOrganisation } from '../organisation-mirror/named-organisation.ts'
import type { Organisations } from '../organisation-mirror/organisation.ts'
import { asPublic } from '../video/video.ts'
import type { VideoStore } from '../video/video-store.ts'
import { requireUser, scopeOf, type UserPrincipal } from '../visibility.ts'
import { type ContactForm, checkContactForm, checkSubmission } from './contact-form.ts'
import type { ContactFormKey, ContactFormStore } from './contact-form-store.ts'
import type { SubmissionStore } from './submission-store.ts'

export interface ContactFormRoom {
  forms: ContactFormStore
  submissions: SubmissionStore
  videos: VideoStore
  organisations: Organisations
}

const FORMS_MOST = 100
const SUBMISSIONS_MOST = 500

export function contactFormHandlers({
  forms,
  submissions,
  videos,
  organisations,
}: ContactFormRoom): Handlers<typeof ContactFormServiceService> {
  return {
    async listContactForms(request, { principal, signal }) {
      const organisationId = await needOrganisation(organisations, principal, request.organisationId, signal)
      const { rows, nextPageToken } = await pageById(request, FORMS_MOST, {
        read: (place) => forms.list(organisationId, place, signal),
        idOf: ({ contactFormId }) => contactFormId,
      })
      return { contactForms: rows, nextPageToken }
    },
    async getContactForm({ contactFormId }, { principal, signal }) {
      return { contactForm: await need(keyOf(requireUser(principal), contactFormId), signal) }
    },
    async createContactForm({ contactForm: given }, call) {
      const { userId } = requireUser(call.principal)
      const organisationId = await needOrganisation(organisations, call.principal, given?.organisationId ?? '', call.signal)
      if (!given) throw invalid([{ field: 'contact_form', message: 'is required' }])
      checkContactForm(given)
      return { contactForm: await forms.create({ ...given, organisationId, userId }, call) }
    },
    async deleteContactForm({ contactFormId }, { principal, signal }) {
      await forms.remove(keyOf(requireUser(principal), contactFormId), signal)
      return {}
    },
    async submitContactForm({ contactFormId, validateOnly, ...sent }, call) {
      if (!parseId(contactFormId)) throw notFound('contact form', contactFormId)
      const form = await need({ scope: null, contactFormId }, call.signal)
      await needActive(form, call.signal)
      checkSubmission(form, sent)
      if (sent.videoId !== '') await needPublicVideo(form.organisationId, sent.videoId, call.signal)
      if (validateOnly) return { submissionId: '' }
      return { submissionId: await submissions.add(contactFormId, sent, call) }
    },
    async listSubmissions({ contactFormId, ...request }, { principal, signal }) {
      await need(keyOf(requireUser(principal), contactFormId), signal)
      const { rows, nextPageToken } = await pageById(request, SUBMISSIONS_MOST, {
        read: (place) => submissions.list(contactFormId, place, signal),
        idOf: ({ submissionId }) => submissionId,
      })
      return { submissions: rows, nextPageToken }
    },
  }

  async function need(key: ContactFormKey, signal: AbortSignal): Promise<ContactForm> {
    const form = await forms.find(key, signal)
    if (!form) throw notFound('contact form', key.contactFormId)
    return form
  }

  /** Before the fields are judged, which would show what a form asks. */
  async function needActive({ contactFormId, organisationId }: ContactForm, signal: AbortSignal): Promise<void> {
    const { active } = await organisations.need(organisationId, signal)
    if (!active) throw notFound('contact form', contactFormId)
  }

  /** A video of the form's organisation that the viewer may have watched; every other one is as one that is not there. */
  async function needPublicVideo(organisationId: string, videoId: string, signal: AbortSignal): Promise<void> {
    const video = await videos.find(organisationId, videoId, signal)
    if (!video) throw notFound('video', videoId)
    try {
      asPublic(video, new Date())
    } catch (error) {
      // One that expired under its viewer shows its message to nobody here.
      throw isDomainError(error) ? notFound('video', videoId) : error
    }
  }
}

function keyOf(user: UserPrincipal, contactFormId: string): ContactFormKey {
  if (!parseId(contactFormId)) throw notFound('contact form', contactFormId)
  return { scope: scopeOf(user), contactFormId }
}
