import { UploadVideoRequest } from '@vitascope/proto/catalogue/v1/video'
import { z } from 'zod'
import { flag, idField, idOrNone, object, organisationIdField, text } from '../fields.ts'
import { namedOrganisation } from '../organisation-rule.ts'
import { given, shown } from '../public-form.ts'
import { withPublicNames } from '../public-names.ts'
import { type Context, route } from '../route.ts'
import { sourceAddress } from '../source-rule.ts'
import { sourceOf } from '../upload/upload-link.ts'
import { callbackName, jsonpReply } from './jsonp.ts'
import { QUOTA_REFUSALS } from './quota-refusals.ts'
import { description, descriptionPrivate, pixels, tags } from './video-changes.ts'
import { VideoStatusShape, videoStatusView, waitingCode, waitingWord } from './video-status.ts'

const upload = z.strictObject({
  url: sourceAddress('Where the source is: http or https, and publicly reachable. It is fetched after the answer.'),
  organisation_id: organisationIdField(),
  media_id: idField('media to replace; all fields but `url` and `organisation_id` are then ignored').optional(),
  name: text(255, {}, { description: 'Title of video and media; left out or empty, the file’s name.' }).default(''),
  description: description.default(''),
  description_private: descriptionPrivate.default(''),
  tags: tags.default([]),
  published_width: pixels('Pixels; left out, the source’s.').optional(),
  published_height: pixels('Pixels; left out, the source’s.').optional(),
  theme_id: idOrNone('theme').default(''),
  settings_id: idOrNone('player settings profile').default(''),
  notify: flag({ description: 'false suppresses the e-mail of success.' }).default(true),
  priority: z
    .enum(['normal', 'low'])
    .default('normal')
    .meta({ description: '`low`: its encode begins when nothing else waits, for archives; not in the document. Of new videos.' }),
})

type Upload = z.output<typeof upload>

export const uploadVideo = route({
  post: ['/video/upload'],
  section: 'Videos',
  access: 'user',
  cost: 'work',
  summary: 'Upload a video by URL, or replace the source of a media',
  description:
    'Answers at once; fetching and encoding follow. `id` is the new video’s, of a replacement that of the media’s first publish. ' +
    'While a replacement encodes, the old files play on. What the url itself shows to be wrong is refused with 400; what only its name ' +
    'or a redirect leads to fails the job with code 4004.',
  payload: upload,
  answer: z.object({
    id: shown.id('video'),
    status: VideoStatusShape,
    job_id: shown.id('job'),
    action: z.enum(['new video', 'replace']),
  }),
  refusals: QUOTA_REFUSALS,
  async handle({ payload }, context) {
    const accepted = await acceptUpload(payload, 'url', false, context)
    const { videoId, jobId, status } = accepted
    const action = payload.media_id === undefined ? ('new video' as const) : ('replace' as const)
    return { id: videoId, status: videoStatusView(given(status, 'the status of a video')), job_id: jobId, action }
  },
})

export const uploadVideoByScript = route({
  get: ['/video/upload'],
  section: 'Videos',
  access: 'system',
  resource: 'video::post',
  cost: 'work',
  safe: false,
  keyFromQuery: 'api_key',
  summary: 'Upload a video by URL from a script element (JSONP)',
  description: 'As `POST /video/upload`; the answer calls the function that `callback` names.',
  query: z.object({
    data: object(upload).meta({
      type: 'string',
      description: 'The payload of `POST /video/upload` as JSON.',
      example: '{"url":"…","organisation_id":"2"}',
    }),
    callback: callbackName.optional(),
    api_key: text(128, {}, { description: 'A system key: a secret.' }).optional(),
  }),
  answer: z
    .object({ id: shown.id('video'), code: shown.int('1: it waits.', 1), message: shown.text('Where the video stands.', waitingWord) })
    .meta({ description: 'JSON, or with `callback` a script: `/**/callback({…});`.' }),
  refusals: QUOTA_REFUSALS,
  async handle({ query }, context) {
    const { videoId } = await acceptUpload(query.data, 'data.url', true, context)
    return jsonpReply(query.callback, { id: videoId, code: waitingCode, message: waitingWord })
  },
})

/** Hands the upload to the catalogue; `field` is where the caller wrote the address. */
async function acceptUpload(sent: Upload, field: string, startsWaiting: boolean, context: Context) {
  const { caller, services, call } = context
  const organisationId = namedOrganisation(caller, sent.organisation_id)
  const names = { source_url: field, url: field, title: 'name', setting_id: 'settings_id' }
  const { sourceUrl, isUpload } = await withPublicNames(names, sourceOf(field, sent.url, organisationId, context))
  if (sent.media_id !== undefined) {
    const request = { mediaId: sent.media_id, sourceUrl, organisationId, startsWaiting: startsWaiting || isUpload }
    return await withPublicNames(names, services.media.replaceSource(request, call))
  }
  const request = UploadVideoRequest.create({
    organisationId,
    sourceUrl,
    name: sent.name,
    description: sent.description,
    descriptionPrivate: sent.description_private,
    tags: sent.tags,
    publishedWidth: sent.published_width ?? undefined,
    publishedHeight: sent.published_height ?? undefined,
    themeId: sent.theme_id,
    settingId: sent.settings_id,
    notify: sent.notify,
    givesWay: sent.priority === 'low',
    startsWaiting: startsWaiting || isUpload,
  })
  return await withPublicNames(names, services.videos.uploadVideo(request, call))
}
