import { type FieldError, notFound, requireValid } from '@vitascope/errors'
import type { Call, Handlers, Principal } from '@vitascope/grpc'
import { getScope, requireService, requireSystemUser, requireUser } from '@vitascope/principal'
import type { AddSlidesRequest, PresentationServiceService } from '@vitascope/proto/catalogue/v1/presentation'
import { checkText, firstCharacters, isId, isUuid } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { newRandomId } from '../rules/id.ts'
import { checkPresentation, mergePresentation, toPublicView } from './presentation.ts'
import { fromMessage, toMessage, toTimings } from './presentation-message.ts'
import type { PresentationKey, PresentationStore } from './presentation-store.ts'
import type { SlideJobStore } from './slide-job-store.ts'

export interface PresentationParts {
  presentations: PresentationStore
  slideJobs: SlideJobStore
  organisations: Organisations
}

export function presentationHandlers({
  presentations,
  slideJobs,
  organisations,
}: PresentationParts): Handlers<typeof PresentationServiceService> {
  const readPresentation = async (key: PresentationKey, signal: AbortSignal) => {
    const presentation = await presentations.find(key, signal)
    if (!presentation) throw notFound('presentation', key.presentationId)
    return { presentation: toMessage(presentation) }
  }
  return {
    getPresentation: ({ presentationId }, { principal, signal }) => readPresentation(toKey(principal, presentationId), signal),
    async findPublicPresentation({ presentationId }, { signal }) {
      const presentation = isId(presentationId) ? await presentations.findPublic(presentationId, signal) : undefined
      if (!presentation) throw notFound('presentation', presentationId)
      return { presentation: toMessage(toPublicView(presentation)) }
    },
    async createPresentation({ organisationId, userId, title, description, videoId }, call) {
      requireSystemUser(call.principal)
      const user = requireUser(call.principal)
      const fields = { organisationId, userId: userId === '' ? user.userId : userId, title, description, videoId }
      const problems = [
        ...(organisationId === '' ? [{ field: 'organisation_id', message: 'is required' }] : []),
        ...checkPresentation(fields),
      ]
      requireValid(problems)
      await organisations.requireActive(organisationId, call.signal)
      return { presentation: toMessage(await presentations.create(newRandomId(), fields, call)) }
    },
    async updatePresentation(request, { principal, signal }) {
      const { presentation: input, updateMask = [] } = request
      const key = toSystemKey(principal, input?.presentationId ?? '')
      if (!input) throw notFound('presentation', '')
      const timings = toTimings(request)
      if (updateMask.length === 0 && timings.length === 0) return readPresentation(key, signal)
      // PRESENTATION_NOT_FOUND takes precedence over other missing references.
      await readPresentation(key, signal)
      if (updateMask.includes('organisation_id')) await organisations.requireActive(input.organisationId, signal)
      const updated = await presentations.update(
        key,
        (current) => mergePresentation(current, fromMessage(input), updateMask, timings),
        signal,
      )
      return { presentation: toMessage(updated) }
    },
    async deletePresentation({ presentationId }, { principal, signal }) {
      await presentations.remove(toSystemKey(principal, presentationId), signal)
      return {}
    },
    async addSlides(request, call) {
      requireService(call.principal)
      checkSource(request)
      await organisations.requireActive(request.organisationId, call.signal)
      if (request.presentationId !== '' && !isId(request.presentationId)) throw notFound('presentation', request.presentationId)
      const title = firstCharacters(request.filename.replace(/\.[^.]{1,8}$/, '') || request.filename, 255)
      return slideJobs.add({ ...request, title, uploadId: request.uploadId || undefined }, call.signal)
    },
  }
}

function toKey(principal: Principal, presentationId: string): PresentationKey {
  const scope = getScope(principal)
  if (!isId(presentationId)) throw notFound('presentation', presentationId)
  return { scope, presentationId }
}

function toSystemKey(principal: Call['principal'], presentationId: string): PresentationKey {
  requireSystemUser(principal)
  return toKey(principal, presentationId)
}

function checkSource({ userId, filename, sourceObject, sourceBytes, uploadId }: AddSlidesRequest): void {
  const problems: FieldError[] = [
    ...checkText('filename', filename, { min: 1, max: 255 }),
    ...(isId(userId) ? [] : [{ field: 'user_id', message: 'must be the id of a user' }]),
    ...(sourceObject === ''
      ? [{ field: 'source_object', message: 'must not be empty' }]
      : checkText('source_object', sourceObject, { max: 512 })),
    ...(sourceBytes >= 1 ? [] : [{ field: 'source_bytes', message: 'must be greater than 0' }]),
    ...(uploadId === '' || isUuid(uploadId) ? [] : [{ field: 'upload_id', message: 'must be a UUID' }]),
  ]
  requireValid(problems)
}
