import { type FieldError, invalid } from '@vitascope/errors'
import { Media } from '@vitascope/proto/catalogue/v1/media'
import { z } from 'zod'
import type { Caller } from '../caller.ts'
import { flag, id, idField, int, text } from '../fields.ts'
import { isSystemCaller } from '../organisation-rule.ts'
import { changedFields, given, shown, timestampText } from '../public-form.ts'
import { withPublicNames } from '../public-names.ts'
import { type Context, Reply, route } from '../route.ts'
import { sourceAddress } from '../source-rule.ts'
import { sourceForMedia } from '../upload/upload-link.ts'
import { QUOTA_REFUSALS } from '../video/quota-refusals.ts'
import { MediaRecord, mediaDetailsView, mediaView } from './media-view.ts'

export const getMedia = route({
  get: ['/media/:mediaId'],
  section: 'Media',
  access: 'user',
  summary: 'Read a media',
  params: z.object({ mediaId: id('media') }),
  answer: MediaRecord,
  async handle({ params }, { services, call }) {
    const { media } = await services.media.getMedia({ mediaId: params.mediaId }, call)
    return mediaView(given(media, 'media'))
  },
})

const changes = z.strictObject({
  uri: sourceAddress('A new source, in place of all other fields: http or https, and publicly reachable.').optional(),
  title: text(255, { min: 1 }, { description: 'Its title.' }).optional(),
  gif_status: int({ min: 0, max: 1 }, { description: '1 makes an animated preview.' }).optional(),
  original_filename: text(255, { min: 1 }, { description: 'System keys only.' }).optional(),
  token_required_platform: flag({ description: 'System keys only. 1: the files are had with a token only.' }).optional(),
})

export const updateMedia = route({
  put: ['/media/:mediaId'],
  section: 'Media',
  access: 'user',
  cost: 'work',
  summary: 'Replace the source of a media, or change its details',
  description:
    'Either `uri`, or any of the other fields. While a replacement encodes, the old files play on; the header `X-Job-Id` names its job.',
  params: z.object({ mediaId: id('media') }),
  payload: changes,
  answer: z.object({
    media_id: shown.id('media'),
    status: z.union([
      z.object({ action: z.literal('replace_video'), success: z.literal(true), uri: shown.text('As sent.') }),
      z.object({
        action: z.literal('update_data'),
        success: z.literal(true),
        data: z.record(z.string(), z.unknown()).meta({ description: 'The fields that were sent, as they are now.' }),
      }),
    ]),
  }),
  refusals: { system_only: '`original_filename` and `token_required_platform` are for system keys', ...QUOTA_REFUSALS },
  async handle({ params, payload }, context) {
    const { uri, ...details } = payload
    const updateMask = Object.keys(details)
    if (uri === undefined && updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have uri or a detail field' }])
    if (uri !== undefined && updateMask.length > 0) throw invalid([{ field: 'uri', message: 'must not stand beside detail fields' }])
    if (uri === undefined) return { media_id: params.mediaId, status: await changeDetails(params.mediaId, details, context) }
    const jobId = await replaceSource(params.mediaId, uri, context)
    const status = { action: 'replace_video' as const, success: true as const, uri }
    return new Reply({ media_id: params.mediaId, status }, { headers: { 'X-Job-Id': jobId } })
  },
})

const deletion = {
  media_id: idField('media: required').optional(),
  user_id: idField('user on whose behalf: required with a system key').optional(),
  notes: text(1_000, {}, { description: 'Why.' }).optional(),
}

export const deleteMedia = route({
  delete: ['/media'],
  section: 'Media',
  access: 'user',
  summary: 'Delete a media and all its publishes',
  description: 'The fields stand in the query or in the payload.',
  query: z.object(deletion),
  payload: z.strictObject(deletion),
  payloadOptional: true,
  answer: z.object({ id: shown.id('media'), result: z.literal(true), deleted: shown.timestamp('When.') }),
  async handle({ query, payload }, { caller, services, call }) {
    const request = deletionOf(query, payload, caller)
    // It cannot be undone, so what is written down of it names somebody who is there.
    if (isSystemCaller(caller)) await services.users.getUser({ userId: request.userId }, call)
    const { deleteTime } = await services.media.deleteMedia(request, call)
    return { id: request.mediaId, result: true as const, deleted: timestampText(given(deleteTime, 'a time of deletion')) }
  },
})

export const publishMedia = route({
  post: ['/media/:mediaId/publish'],
  section: 'Added',
  access: 'user',
  resource: 'video::post',
  summary: 'Publish a media once more',
  description: 'The new video begins with the fields of the media’s first one.',
  params: z.object({ mediaId: id('media') }),
  status: 201,
  answer: z.object({ video_id: shown.id('video'), media_id: shown.id('media') }),
  async handle({ params }, { services, call }) {
    const { videoId, mediaId } = await services.media.publishMedia({ mediaId: params.mediaId }, call)
    return { video_id: videoId, media_id: mediaId }
  },
})

export const mediaRoutes = [getMedia, updateMedia, deleteMedia, publishMedia]

async function replaceSource(mediaId: string, uri: string, context: Context): Promise<string> {
  const names = { source_url: 'uri', url: 'uri' }
  const { sourceUrl, isUpload } = await withPublicNames(names, sourceForMedia('uri', uri, mediaId, context))
  const request = { mediaId, sourceUrl, organisationId: '', startsWaiting: isUpload }
  const { jobId } = await withPublicNames(names, context.services.media.replaceSource(request, context.call))
  return jobId
}

async function changeDetails(mediaId: string, details: Omit<z.output<typeof changes>, 'uri'>, { services, call }: Context) {
  const media = Media.create({
    mediaId,
    title: details.title ?? '',
    gifStatus: details.gif_status ?? 0,
    originalFilename: details.original_filename ?? '',
    tokenRequired: details.token_required_platform ?? false,
  })
  const sent = Object.keys(details)
  const updateMask = sent.map((name) => (name === 'token_required_platform' ? 'token_required' : name))
  const names = { token_required: 'token_required_platform' }
  const changed = await withPublicNames(names, services.media.updateMedia({ media, updateMask }, call))
  const data = changedFields(mediaDetailsView(given(changed.media, 'media')), sent)
  return { action: 'update_data' as const, success: true as const, data }
}

type Deletion = Partial<Record<'media_id' | 'user_id' | 'notes', string | undefined>>

/** Query and payload as one; what stands in both must be the same. A user always deletes on its own behalf. */
function deletionOf(query: Deletion, payload: Deletion, caller: Caller) {
  const system = isSystemCaller(caller)
  const both = (['media_id', 'user_id', 'notes'] as const).filter((name) => query[name] !== undefined && payload[name] !== undefined)
  const problems: FieldError[] = both
    .filter((name) => query[name] !== payload[name])
    .map((field) => ({ field, message: 'must be the same in query and payload' }))
  const { media_id: mediaId, user_id: userId, notes = '' } = { ...query, ...payload }
  if (mediaId === undefined) problems.push({ field: 'media_id', message: 'is required' })
  if (system && userId === undefined) problems.push({ field: 'user_id', message: 'is required with a system key' })
  if (mediaId === undefined || problems.length > 0) throw invalid(problems)
  return { mediaId, userId: system ? (userId ?? '') : caller.kind === 'user' ? caller.userId : '', notes }
}
