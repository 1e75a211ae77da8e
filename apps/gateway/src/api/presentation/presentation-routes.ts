import { invalid, isDomainError, notFound } from '@vitascope/errors'
import { UserType } from '@vitascope/proto/auth/v1/user'
import { Presentation } from '@vitascope/proto/catalogue/v1/presentation'
import { z } from 'zod'
import { type Context, route } from '../../server/route/route.ts'
import { id, idField, idOrNone, organisationIdField, text } from '../../server/schema/fields.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { PresentationResponse, presentationResponse } from './presentation-response.ts'
import { slideTimings, toTimings } from './slide-timings.ts'

export const getPresentation = route({
  get: ['/presentation/:id'],
  operationId: 'getPresentation',
  section: 'Presentations',
  access: 'public',
  summary: 'Read a presentation',
  description:
    'Returns a presentation with its slides. If the presentation belongs to a video, guests may read it only while they may read that video. Pictures of the slides of a ' +
    'protected video require a token of the video, like its other files.',
  params: z.object({ id: id('presentation') }),
  response: PresentationResponse,
  handle: async ({ params }, context) => presentationResponse(await findPresentation(params.id, context), context.mediaUrl),
})

const title = text(255, { min: 1 }, { description: 'Title that viewers see.', example: 'Launch' })
const description = text(5_000, {}, { description: 'Description that viewers see.' })
const userId = idField('user for whom it is created. A user of the organisation or a system user. The default is the user of the key')
const videoId = idOrNone('video that it accompanies. It must belong to the same organisation')

const errorCodes = { organisation_inactive: 'The organisation is not active (409).' }

export const createPresentation = route({
  post: ['/presentation'],
  operationId: 'createPresentation',
  section: 'Presentations',
  access: 'system',
  summary: 'Create a presentation',
  description: 'Creates a presentation without slides. Slides are added by uploading files to it.',
  payload: z.strictObject({
    title,
    description: description.default(''),
    user_id: userId.optional(),
    organisation_id: organisationIdField(),
    video_id: videoId.default(''),
  }),
  status: 201,
  response: PresentationResponse,
  errorCodes,
  async handle({ payload }, context) {
    const { services, call, mediaUrl } = context
    if (payload.user_id !== undefined) await requireUser(payload.user_id, payload.organisation_id, context)
    const request = {
      organisationId: payload.organisation_id,
      userId: payload.user_id ?? '',
      title: payload.title,
      description: payload.description,
      videoId: payload.video_id,
    }
    const { presentation } = await services.presentations.createPresentation(request, call)
    return presentationResponse(required(presentation, 'presentation'), mediaUrl)
  },
})

const changes = z.strictObject({
  title: title.optional(),
  description: description.optional(),
  user_id: idField('user for whom it is created. A user of the organisation or a system user').optional(),
  organisation_id: organisationIdField({
    description: 'Id of the organisation to which the presentation moves. Its video must belong to that organisation.',
  }).optional(),
  video_id: videoId.optional(),
  slides: slideTimings.optional(),
})

export const updatePresentation = route({
  put: ['/presentation/:id'],
  operationId: 'updatePresentation',
  section: 'Presentations',
  access: 'system',
  summary: 'Change a presentation and its slide times',
  description: 'Changes only the fields that are sent. The status becomes `ok` when every slide has a time.',
  params: z.object({ id: id('presentation') }),
  payload: changes,
  record: PresentationResponse,
  docs: { example: { title: 'Launch', slides: { 1: { seconds: 0 }, 2: { seconds: 42 } } } },
  response: PresentationResponse,
  errorCodes,
  async handle({ params, payload }, context) {
    const { services, call, mediaUrl } = context
    const { slides, ...fields } = payload
    const updateMask = Object.keys(fields)
    if (Object.keys(payload).length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    // A missing presentation is reported before other missing records.
    if (payload.user_id !== undefined) {
      const current = required(
        (await services.presentations.getPresentation({ presentationId: params.id }, call)).presentation,
        'presentation',
      )
      // The current user was valid when it was set and is not checked again.
      if (payload.user_id !== current.userId) await requireUser(payload.user_id, payload.organisation_id ?? current.organisationId, context)
    }
    const presentation = Presentation.create({
      presentationId: params.id,
      title: payload.title ?? '',
      description: payload.description ?? '',
      userId: payload.user_id ?? '',
      organisationId: payload.organisation_id ?? '',
      videoId: payload.video_id ?? '',
    })
    const request = { presentation, updateMask, timings: toTimings(slides) }
    const updated = await services.presentations.updatePresentation(request, call)
    return presentationResponse(required(updated.presentation, 'presentation'), mediaUrl)
  },
})

export const deletePresentation = route({
  delete: ['/presentation/:id'],
  operationId: 'deletePresentation',
  section: 'Presentations',
  access: 'system',
  summary: 'Delete a presentation with its slides',
  description: 'Deletes a presentation with all its slides. The video that it accompanies is kept.',
  params: z.object({ id: id('presentation') }),
  response: z.object({ id: schema.id('presentation'), deleted: z.literal(true) }),
  async handle({ params }, { services, call }) {
    await services.presentations.deletePresentation({ presentationId: params.id }, call)
    return { id: params.id, deleted: true as const }
  },
})

export const presentationRoutes = [getPresentation, createPresentation, updatePresentation, deletePresentation]

/**
 * Throws not_found unless the user belongs to the organisation or is a system user. System users
 * work in all organisations.
 */
async function requireUser(userId: string, organisationId: string, { services, call }: Context): Promise<void> {
  const user = required((await services.users.getUser({ userId }, call)).user, 'user')
  if (user.organisationId !== organisationId && user.userType !== UserType.USER_TYPE_SYSTEM) throw notFound('user', userId)
}

/**
 * Returns a presentation. Its own organisation and system keys can always read it, everyone else
 * only while it is public.
 */
async function findPresentation(presentationId: string, { caller, services, call }: Context): Promise<Presentation> {
  const ownPresentation = caller.kind === 'guest' ? undefined : await getOwnPresentation()
  const { presentation } = ownPresentation ?? (await services.presentations.findPublicPresentation({ presentationId }, call))
  return required(presentation, 'presentation')

  async function getOwnPresentation() {
    try {
      return await services.presentations.getPresentation({ presentationId }, call)
    } catch (error) {
      if (isDomainError(error) && error.kind === 'not_found') return undefined
      throw error
    }
  }
}
