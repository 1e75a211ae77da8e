import { UploadVideoRequest, type UploadVideoResponse } from '@vitascope/proto/catalogue/v1/video'
import { z } from 'zod'
import type { PublicNames } from '../../server/route/public-names.ts'
import { type Context, formBody, route } from '../../server/route/route.ts'
import { flag, idField, idOrNone, object, organisationIdField, text } from '../../server/schema/fields.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { QUOTA_ERRORS } from '../shared/quota-errors.ts'
import { requestedOrganisation, requiredOrganisation } from '../shared/resolve-organisation.ts'
import { sourceAddress } from '../shared/validate-source-url.ts'
import { resolveSource, sourceNames } from '../upload/upload-link.ts'
import { callbackName, jsonpReply } from './jsonp.ts'
import { description, descriptionPrivate, pixels, tags, visibility } from './video-changes.ts'
import { VideoStatusResponse, videoStatusResponse, waitingCode, waitingWord } from './video-status.ts'

const upload = z.strictObject({
  url: sourceAddress('Publicly reachable http or https URL of the source. The source is fetched after the response.'),
  organisation_id: organisationIdField(),
  media_id: idField('media whose source is replaced. Fields other than `url` and `organisation_id` are then ignored').optional(),
  name: text(255, {}, { description: 'Title of the video and the media. Defaults to the file name if it is omitted or empty.' }).default(
    '',
  ),
  description: description.default(''),
  description_private: descriptionPrivate.default(''),
  tags: tags.default([]),
  published_width: pixels('Width in pixels. Defaults to the width of the source.').optional(),
  published_height: pixels('Height in pixels. Defaults to the height of the source.').optional(),
  theme_id: idOrNone('theme').default(''),
  settings_id: idOrNone('player settings profile').default(''),
  visibility: visibility.default('public'),
  notify: flag({ description: '`false` suppresses the email that reports success.' }).default(true),
  priority: z
    .enum(['normal', 'low'])
    .default('normal')
    .meta({ description: 'Priority of the encode job of a new video. A `low` job starts when no other job waits. Use it for archives.' }),
})

const uploadErrors = {
  ...QUOTA_ERRORS,
  organisation_inactive: 'The organisation is not active (409).',
}

type Upload = z.output<typeof upload>

const uploadFields = upload.omit({ url: true }).extend({
  organisation_id: organisationIdField({
    description: 'Id of the organisation. Required with a system key, otherwise the default is the organisation of the key.',
  }).optional(),
})

export const uploadVideo = route({
  post: ['/video/upload'],
  operationId: 'uploadVideo',
  section: 'Videos',
  access: 'user',
  cost: 'work',
  summary: 'Upload a video, or replace its source',
  description:
    'Responds immediately. The source is fetched and encoded afterwards. `id` is the id of the new video, or, for a replacement, ' +
    'the id of the media’s first video. The old files keep playing while a replacement is encoded. A `url` that is invalid by ' +
    'itself is rejected with 400. A problem that shows only after DNS resolution or a redirect fails the job with code 4004.\n\n' +
    'Instead of `url`, a `multipart/form-data` body can contain the file as its last part `file`, after the other fields. The response is ' +
    'sent when the file is stored. `organisation_id` is then required with a system key only. With an `Idempotency-Key`, a retry with ' +
    'the same fields, file name and bytes returns the first response. It sends the file again, and the repeated file is removed.',
  payload: upload,
  synonyms: { title: 'name', setting_id: 'settings_id' },
  response: z
    .object({
      id: schema.id('video'),
      status: VideoStatusResponse,
      job_id: schema.id('job'),
      action: z.enum(['new video', 'replace']).meta({ description: 'What the upload does.', example: 'new video' }),
    })
    .meta({
      example: {
        id: '42',
        status: { status: 'encoding', progress: 5, code: 2 },
        job_id: '44',
        action: 'new video',
      },
    }),
  errorCodes: {
    ...uploadErrors,
    upload_too_large: 'The file is larger than `max_bytes` of `GET /upload/config` (413).',
    too_many_uploads: 'The organisation has the maximum number of open uploads. Retry after the time in `Retry-After` (429).',
  },
  publicNames: uploadNames('url'),
  async handle({ payload }, context) {
    return uploadResponse(payload, await acceptUpload(payload, 'url', false, context))
  },
  fileForm: formBody({
    payload: uploadFields,
    async findOrganisation({ payload: { media_id, organisation_id } }, context) {
      const organisationId = requiredOrganisation(context.caller, organisation_id)
      if (media_id !== undefined) await context.services.media.getMedia({ mediaId: media_id }, context.call)
      return organisationId
    },
    async handle({ payload, file: { uploadId, organisationId, name } }, context) {
      const source = { sourceUrl: `upload://${uploadId}/${encodeURIComponent(name)}`, organisationId, startsWaiting: true }
      const accepted = await acceptSource(payload, source, context)
      return { isFileUsed: !accepted.repeatedCall, result: uploadResponse(payload, accepted) }
    },
  }),
})

export const uploadVideoByScript = route({
  get: ['/video/upload'],
  operationId: 'uploadVideoWithJsonp',
  section: 'Videos',
  access: 'system',
  resource: 'video::post',
  cost: 'work',
  readOnly: false,
  apiKeyParam: 'api_key',
  summary: 'Upload a video with JSONP',
  description: 'Works like `POST /video/upload`. The response is a script that calls the function named by `callback`.',
  query: z.object({
    data: object(upload).meta({
      type: 'string',
      description: 'Payload of `POST /video/upload` as JSON text.',
      example: '{"url":"…","organisation_id":"2"}',
    }),
    callback: callbackName.optional(),
    api_key: text(128, {}, { description: 'API key of a system user. It is a secret.' }).optional(),
  }),
  response: z
    .object({
      id: schema.id('video'),
      code: schema.int('`1`: the job is waiting.', 1),
      message: schema.text('Encoding state of the video.', waitingWord),
    })
    .meta({ description: 'JSON. With `callback`, a script: `/**/callback({…});`.' }),
  errorCodes: uploadErrors,
  publicNames: uploadNames('data.url'),
  async handle({ query }, context) {
    const { videoId } = await acceptUpload(query.data, 'data.url', true, context)
    return jsonpReply(query.callback, { id: videoId, code: waitingCode, message: waitingWord })
  },
})

function uploadNames(field: string): PublicNames {
  return { ...sourceNames(field), setting_id: 'settings_id' }
}

/** Sends an upload by URL to the catalogue. `field` is the public name of the URL's field. */
async function acceptUpload({ url, ...fields }: Upload, field: string, startsWaiting: boolean, context: Context): Promise<AcceptedUpload> {
  const organisationId = requestedOrganisation(context.caller, fields.organisation_id)
  const { sourceUrl, isUpload } = await resolveSource(field, url, organisationId, context)
  return acceptSource(fields, { sourceUrl, organisationId, startsWaiting: startsWaiting || isUpload }, context)
}

type AcceptedUpload = Pick<UploadVideoResponse, 'videoId' | 'jobId' | 'status' | 'repeatedCall'>

/** Sends an upload to the catalogue. */
async function acceptSource(
  fields: Omit<Upload, 'url' | 'organisation_id'>,
  { sourceUrl, organisationId, startsWaiting }: { sourceUrl: string; organisationId: string; startsWaiting: boolean },
  { services, call }: Context,
): Promise<AcceptedUpload> {
  if (fields.media_id !== undefined)
    return services.media.replaceSource({ mediaId: fields.media_id, sourceUrl, organisationId, startsWaiting }, call)
  const request = UploadVideoRequest.create({
    organisationId,
    sourceUrl,
    name: fields.name,
    description: fields.description,
    descriptionPrivate: fields.description_private,
    tags: fields.tags,
    visibility: fields.visibility,
    publishedWidth: fields.published_width ?? undefined,
    publishedHeight: fields.published_height ?? undefined,
    themeId: fields.theme_id,
    settingId: fields.settings_id,
    notify: fields.notify,
    lowPriority: fields.priority === 'low',
    startsWaiting,
  })
  return services.videos.uploadVideo(request, call)
}

function uploadResponse({ media_id }: Pick<Upload, 'media_id'>, { videoId, jobId, status }: AcceptedUpload) {
  const action = media_id === undefined ? ('new video' as const) : ('replace' as const)
  return { id: videoId, status: videoStatusResponse(required(status, 'status of the video')), job_id: jobId, action }
}
