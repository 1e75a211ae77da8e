import { type FieldError, invalid } from '@vitascope/errors'
import { Media } from '@vitascope/proto/catalogue/v1/media'
import { z } from 'zod'
import type { Caller } from '../../server/route/caller.ts'
import { Reply } from '../../server/route/reply.ts'
import { type Context, route } from '../../server/route/route.ts'
import { flag, id, idField, int, text } from '../../server/schema/fields.ts'
import { changedFields, formatOptionalTimestamp, required, schema } from '../../server/schema/response-format.ts'
import { QUOTA_ERRORS } from '../shared/quota-errors.ts'
import { isSystemCaller } from '../shared/resolve-organisation.ts'
import { sourceAddress } from '../shared/validate-source-url.ts'
import { sourceForMedia, sourceNames } from '../upload/upload-link.ts'
import { MediaResponse, mediaDetailsResponse, mediaResponse } from './media-response.ts'

export const getMedia = route({
  get: ['/media/:mediaId'],
  operationId: 'getMedia',
  section: 'Media',
  access: 'user',
  summary: 'Read a media',
  description: 'Returns the file names of a media and whether its files require a token.',
  params: z.object({ mediaId: id('media') }),
  response: MediaResponse,
  async handle({ params }, { services, call }) {
    const { media } = await services.media.getMedia({ mediaId: params.mediaId }, call)
    return mediaResponse(required(media, 'media'))
  },
})

const changes = z.strictObject({
  uri: sourceAddress('URL of a new source. Excludes all other fields. It must be a publicly reachable http or https URL.').optional(),
  title: text(255, { min: 1 }, { description: 'Title of the media.' }).optional(),
  gif_status: int({ min: 0, max: 1 }, { description: '`1` creates an animated preview.' }).optional(),
  original_filename: text(255, { min: 1 }, { description: 'Original file name. Only system keys may set it.' }).optional(),
  token_required_platform: flag({ description: '`1`: media files require a token. Only system keys may set it.' }).optional(),
})

export const updateMedia = route({
  put: ['/media/:mediaId'],
  operationId: 'updateMedia',
  section: 'Media',
  access: 'user',
  cost: 'work',
  summary: 'Replace the source or change details',
  description:
    'Accepts either `uri` or any of the other fields. The old files keep playing while a replacement is encoded. The header ' +
    '`X-Job-Id` contains the id of its job.',
  params: z.object({ mediaId: id('media') }),
  payload: changes,
  record: MediaResponse,
  docs: { example: { title: 'Launch day' } },
  response: z.object({
    media_id: schema.id('media'),
    status: z.union([
      z.object({
        action: z.literal('replace_video'),
        success: z.literal(true),
        uri: schema.text('URL as it was sent.', 'https://media.example.org/launch.mp4'),
      }),
      z.object({
        action: z.literal('update_data'),
        success: z.literal(true),
        data: z.record(z.string(), z.unknown()).meta({ description: 'The changed fields with their new values.' }),
      }),
    ]),
  }),
  publicNames: { ...sourceNames('uri'), token_required: 'token_required_platform' },
  errorCodes: { system_only: 'Only system keys may set `original_filename` and `token_required_platform`.', ...QUOTA_ERRORS },
  async handle({ params, payload }, context) {
    const { uri, ...details } = payload
    const sentNames = Object.keys(details)
    if (uri === undefined && sentNames.length === 0) throw invalid([{ field: 'payload', message: 'must have uri or a detail field' }])
    if (uri !== undefined && sentNames.length > 0) throw invalid([{ field: 'uri', message: 'must not be combined with detail fields' }])
    if (uri === undefined) return { media_id: params.mediaId, status: await changeDetails(params.mediaId, details, context) }
    const jobId = await replaceSource(params.mediaId, uri, context)
    const status = { action: 'replace_video' as const, success: true as const, uri }
    return new Reply({ media_id: params.mediaId, status }, { headers: { 'X-Job-Id': jobId } })
  },
})

const deletion = {
  media_id: idField('media. Required').optional(),
  user_id: idField('user for whom the media is deleted. Required with a system key').optional(),
  notes: text(1_000, {}, { description: 'Reason of the deletion.' }).optional(),
}

export const deleteMedia = route({
  delete: ['/media'],
  operationId: 'deleteMedia',
  section: 'Media',
  access: 'user',
  summary: 'Delete a media and all its videos',
  description:
    'Deletes a media with all its videos and files. Accepts the fields in the query or in the payload. A field that is sent in both must have the same value.',
  query: z.object(deletion),
  payload: z.strictObject(deletion),
  payloadOptional: true,
  docs: { example: { media_id: '43', notes: 'Replaced by a newer recording' } },
  response: z.object({ id: schema.id('media'), result: z.literal(true), deleted: schema.timestamp('Time of deletion.') }),
  async handle({ query, payload }, { caller, services, call }) {
    const request = parseDeletion(query, payload, caller)
    // A deletion is final, so its record must name an existing user.
    if (isSystemCaller(caller)) await services.users.getUser({ userId: request.userId }, call)
    const { deleteTime } = await services.media.deleteMedia(request, call)
    return { id: request.mediaId, result: true as const, deleted: formatOptionalTimestamp(required(deleteTime, 'time of deletion')) }
  },
})

export const publishMedia = route({
  post: ['/media/:mediaId/publish'],
  operationId: 'publishMedia',
  section: 'Media',
  access: 'user',
  resource: 'video::post',
  summary: 'Publish a media again',
  description: 'Creates a further video of the media. It starts with the fields of the media’s first video.',
  params: z.object({ mediaId: id('media') }),
  status: 201,
  response: z.object({ id: schema.id('video'), video_id: schema.id('video'), media_id: schema.id('media') }),
  async handle({ params }, { services, call }) {
    const { videoId, mediaId } = await services.media.publishMedia({ mediaId: params.mediaId }, call)
    return { id: videoId, video_id: videoId, media_id: mediaId }
  },
})

export const mediaRoutes = [getMedia, updateMedia, deleteMedia, publishMedia]

async function replaceSource(mediaId: string, uri: string, context: Context): Promise<string> {
  const { sourceUrl, isUpload } = await sourceForMedia('uri', uri, mediaId, context)
  const request = { mediaId, sourceUrl, organisationId: '', startsWaiting: isUpload }
  const { jobId } = await context.services.media.replaceSource(request, context.call)
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
  const sentNames = Object.keys(details)
  const updateMask = sentNames.map((name) => (name === 'token_required_platform' ? 'token_required' : name))
  const changed = await services.media.updateMedia({ media, updateMask }, call)
  const data = changedFields(mediaDetailsResponse(required(changed.media, 'media')), sentNames)
  return { action: 'update_data' as const, success: true as const, data }
}

type Deletion = Partial<Record<'media_id' | 'user_id' | 'notes', string | undefined>>

/**
 * Merges query and payload. A field in both must have the same value. A user always deletes on its
 * own behalf.
 */
function parseDeletion(query: Deletion, payload: Deletion, caller: Caller) {
  const system = isSystemCaller(caller)
  const repeatedFields = (['media_id', 'user_id', 'notes'] as const).filter(
    (name) => query[name] !== undefined && payload[name] !== undefined,
  )
  const problems: FieldError[] = repeatedFields
    .filter((name) => query[name] !== payload[name])
    .map((field) => ({ field, message: 'must be the same in query and payload' }))
  const { media_id: mediaId, user_id: userId, notes = '' } = { ...query, ...payload }
  if (mediaId === undefined) problems.push({ field: 'media_id', message: 'is required' })
  if (system && userId === undefined) problems.push({ field: 'user_id', message: 'is required with a system key' })
  if (mediaId === undefined || problems.length > 0) throw invalid(problems)
  return { mediaId, userId: system ? (userId ?? '') : caller.kind === 'user' ? caller.userId : '', notes }
}
