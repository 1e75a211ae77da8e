import { invalid, isDomainError, notFound } from '@vitascope/errors'
import { UserType } from '@vitascope/proto/auth/v1/user'
import { Presentation } from '@vitascope/proto/catalogue/v1/presentation'
import { z } from 'zod'
import { id, idField, idOrNone, organisationIdField, text } from '../fields.ts'
import { given, shown } from '../public-form.ts'
import { type Context, route } from '../route.ts'
import { PresentationRecord, presentationView } from './presentation-view.ts'
import { slideTimings, toTimings } from './slide-timings.ts'

export const getPresentation = route({
  get: ['/presentation/:id'],
  section: 'Presentations',
  access: 'public',
  summary: 'Read a presentation',
  description:
    'Guests see one that belongs to a video only as long as they may see that video; the pictures of a protected video’s slides need a ' +
    'token of the video, as its other files do.',
  params: z.object({ id: id('presentation') }),
  answer: PresentationRecord,
  handle: async ({ params }, context) => presentationView(await findPresentation(params.id, context), context.publicUrl),
})

const title = text(255, { min: 1 }, { description: 'For viewers.', example: 'Launch' })
const description = text(5_000, {}, { description: 'For viewers.' })
const userId = idField('user for whom it is made, of the organisation or a system user; left out, that of the key')
const videoId = idOrNone('video that it accompanies: of the same organisation')

export const createPresentation = route({
  post: ['/presentation'],
  section: 'Presentations',
  access: 'system',
  summary: 'Create a presentation',
  description: 'It has no slides yet: they come from files that are uploaded to it.',
  payload: z.strictObject({
    title,
    description: description.default(''),
    user_id: userId.optional(),
    organisation_id: organisationIdField(),
    video_id: videoId.default(''),
  }),
  status: 201,
  answer: PresentationRecord,
  refusals: { organisation_inactive: 'the organisation is not active' },
  async handle({ payload }, context) {
    const { services, call, publicUrl } = context
    if (payload.user_id !== undefined) await needUser(payload.user_id, payload.organisation_id, context)
    const request = {
      organisationId: payload.organisation_id,
      userId: payload.user_id ?? '',
      title: payload.title,
      description: payload.description,
      videoId: payload.video_id,
    }
    const { presentation } = await services.presentations.createPresentation(request, call)
    return presentationView(given(presentation, 'presentation'), publicUrl)
  },
})

const changes = z.strictObject({
  title: title.optional(),
  description: description.optional(),
  user_id: idField('user for whom it is made, of the organisation or a system user').optional(),
  organisation_id: organisationIdField({ description: 'Id of the organisation that it moves to; its video must be of it.' }).optional(),
  video_id: videoId.optional(),
  slides: slideTimings.optional(),
})

export const updatePresentation = route({
  put: ['/presentation/:id'],
  section: 'Presentations',
  access: 'system',
  summary: 'Change a presentation, and tell when its slides appear',
  description: 'Takes any of the fields; those left out stay as they are. It is `ok` once every slide has its seconds.',
  params: z.object({ id: id('presentation') }),
  payload: changes,
  answer: PresentationRecord,
  refusals: { organisation_inactive: 'the organisation is not active' },
  async handle({ params, payload }, context) {
    const { services, call, publicUrl } = context
    const { slides, ...fields } = payload
    const updateMask = Object.keys(fields)
    if (Object.keys(payload).length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    // Whether there is such a presentation is told before what else does not exist.
    if (payload.user_id !== undefined) {
      const now = given((await services.presentations.getPresentation({ presentationId: params.id }, call)).presentation, 'presentation')
      // One that was taken when it was named stays, as when it is not sent.
      if (payload.user_id !== now.userId) await needUser(payload.user_id, payload.organisation_id ?? now.organisationId, context)
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
    return presentationView(given(updated.presentation, 'presentation'), publicUrl)
  },
})

export const deletePresentation = route({
  delete: ['/presentation/:id'],
  section: 'Presentations',
  access: 'system',
  summary: 'Delete a presentation with its slides',
  params: z.object({ id: id('presentation') }),
  answer: z.object({ id: shown.id('presentation'), deleted: z.literal(true) }),
  async handle({ params }, { services, call }) {
    await services.presentations.deletePresentation({ presentationId: params.id }, call)
    return { id: params.id, deleted: true as const }
  },
})

export const presentationRoutes = [getPresentation, createPresentation, updatePresentation, deletePresentation]

/** A user of the organisation, or of the system, whose users work in all; every other one is as one that is not there. */
async function needUser(userId: string, organisationId: string, { services, call }: Context): Promise<void> {
  const user = given((await services.users.getUser({ userId }, call)).user, 'user')
  if (user.organisationId !== organisationId && user.userType !== UserType.USER_TYPE_SYSTEM) throw notFound('user', userId)
}

/** Its own organisation and the system see it always; everybody else as long as it is public. */
async function findPresentation(presentationId: string, { caller, services, call }: Context): Promise<Presentation> {
  const own = caller.kind === 'guest' ? undefined : await getOwn()
  const { presentation } = own ?? (await services.presentations.findPublicPresentation({ presentationId }, call))
  return given(presentation, 'presentation')

  async function getOwn() {
    try {
      return await services.presentations.getPresentation({ presentationId }, call)
    } catch (error) {
      if (isDomainError(error) && error.kind === 'not_found') return undefined
      throw error
    }
  }
}
