import { invalid, isDomainError } from '@vitascope/errors'
import { type Video, VideoOrder } from '@vitascope/proto/catalogue/v1/video'
import { z } from 'zod'
import { JsonText, Reply } from '../../server/route/reply.ts'
import { type Context, route } from '../../server/route/route.ts'
import { parseTimestamp } from '../../server/schema/dates.ts'
import { id, idField, int, oneOf, organisationIdField, tag, text } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery, positionQuery, toPosition } from '../../server/schema/pagination.ts'
import { changedFields, formatOptionalTimestamp, required, schema } from '../../server/schema/response-format.ts'
import { viewerContactFormResponse } from '../contact-form/contact-form-response.ts'
import { settingResponse } from '../setting/setting-response.ts'
import { queriedOrganisation, requestedOrganisation } from '../shared/resolve-organisation.ts'
import { themeResponse } from '../theme/theme-response.ts'
import { playbackToken, tokenLifetime, viewerAddress } from './token-fields.ts'
import { uploadVideo, uploadVideoByScript } from './upload-routes.ts'
import { publicVideoNames, type VideoChanges, videoChanges, videoUpdate } from './video-changes.ts'
import { ownVideosJson } from './video-list-json.ts'
import { guestVideoResponse, ownVideoResponse, VideoResponse } from './video-response.ts'
import { stateWords, toVideoState } from './video-status.ts'

const orderWords = ['date_created', 'name'] as const

/** Other names of fields in the payload of PUT and PATCH. */
const synonyms = { title: 'video_title', settings_id: 'setting_id' }

export const listVideos = route({
  get: ['/video'],
  operationId: 'listVideos',
  section: 'Videos',
  access: 'user',
  summary: 'List videos',
  description:
    'Returns the videos of the user’s own organisation, or all videos for a system user. `organisation_id`, `q`, `tag`, `status` ' +
    'and `folder_id` filter the list. All given filters must match. `q` finds videos that have all of its words in title, media ' +
    'title, description, tags or captions. The best match is first, unless `sort_by` is given. If no ' +
    'video matches, words that no video contains also match title words that differ by one letter, or by two in long words. If more ' +
    'than 1,000 videos match, the newest 1,000 are listed.',
  query: z.object({
    sort_by: oneOf(orderWords, {
      description: 'Sort key. The default with `q` is the best match first, otherwise `date_created`.',
    }).optional(),
    sort_order: oneOf(['ascending', 'descending'], { description: 'Sort direction of `sort_by`.' }).default('ascending'),
    ...positionQuery,
    limit: int({ min: 1, max: 20 }, { description: 'Maximum number of rows.' }).default(10),
    organisation_id: organisationIdField().optional(),
    status: oneOf(stateWords, { description: 'Returns only videos in this state.' }).optional(),
    tag: tag({ description: 'Returns only videos with this tag.' }).optional(),
    q: text(200, { min: 1 }, { description: 'Search words.', example: 'rocket launch' }).optional(),
    folder_id: idField('folder', { description: 'Returns only videos in this folder.' }).optional(),
  }),
  publicNames: { query: 'q' },
  response: z.object({
    start: schema.int('`start` of the request.', 1),
    total_num_of_records: schema.int(
      'Number of rows that match the filters. With `tag` or `folder_id`, 10000 means 10,000 or more. With `q`, 1000 means 1,000 or more.',
      42,
    ),
    videos: z.array(VideoResponse),
  }),
  async handle({ query }, { caller, services, call, publicUrl, mediaUrl }) {
    const request = {
      organisationId: queriedOrganisation(caller, query.organisation_id) ?? '',
      pageSize: query.limit,
      ...toPosition(query),
      order: query.sort_by === undefined && query.q !== undefined ? VideoOrder.VIDEO_ORDER_RELEVANCE : toVideoOrder(query.sort_by),
      descending: query.sort_order === 'descending',
      state: toVideoState(query.status),
      tag: query.tag ?? '',
      query: query.q ?? '',
      folderId: query.folder_id ?? '',
      count: true,
      encoded: true,
    }
    const { totalSize, nextPageToken, ...page } = await services.videos.listVideos(request, call)
    const { start, cursor: _, limit, ...narrowed } = query
    const headers = nextLink(publicUrl, '/video', { start, limit, nextCursor: nextPageToken, query: narrowed })
    const videos = ownVideosJson(page, { publicUrl, mediaUrl })
    return new Reply(new JsonText(`{"start":${start},"total_num_of_records":${totalSize},"videos":${videos}}`), { headers })
  },
})

export const getVideo = route({
  get: ['/video/:videoId'],
  operationId: 'getVideo',
  section: 'Videos',
  access: 'public',
  summary: 'Read a video',
  description:
    'Returns a video. Keys of its organisation and system keys also receive `description_private`. Other keys see the same fields as guests. ' +
    'Guests see a private video with a token of `POST /video/{video_id}/token` that is not limited to an address.',
  params: z.object({ videoId: id('video') }),
  query: z.object({
    player_settings: oneOf(['true', 'false'], {
      description: '`true` adds the player settings profile, the theme and the contact form of the video.',
    }).default('false'),
    token: playbackToken.optional(),
  }),
  sharedByGuests: true,
  // While the video is encoded, its progress is not notified as a change. A token may expire without a change.
  guestCacheRule: ({ video_id, organisation_id, status, visibility, content_expiry: { time } }) =>
    visibility !== 'private' && (status.status === 'ok' || status.status === 'failed')
      ? { videoId: video_id, organisationId: organisation_id, expireTime: time === null ? undefined : parseTimestamp(time) }
      : undefined,
  response: VideoResponse,
  errorCodes: { video_expired: 'The video has expired. `detail` is the message for viewers.' },
  async handle({ params, query }, context) {
    const { video, toResponse } = await findVideo(params.videoId, context, query.token)
    const record = toResponse(video, context)
    // Guests cannot change a video, and their responses are cached as plain bodies.
    const toReply = <T extends object>(body: T) =>
      context.caller.kind === 'guest' ? body : new Reply(body, { updateTime: video.updateTime })
    if (query.player_settings === 'false') return toReply(record)
    const { setting, theme, contactForm } = await context.services.settings.findVideoSetting(
      { videoId: params.videoId, token: query.token ?? '' },
      context.call,
    )
    return toReply({
      ...record,
      player_settings: setting ? settingResponse(setting) : null,
      theme: theme ? themeResponse(theme) : null,
      contact_form: contactForm ? viewerContactFormResponse(contactForm) : null,
    })
  },
})

const updateResponse = z.object({
  video_id: schema.id('video'),
  status: z.object({
    action: z.literal('update_data'),
    success: z.literal(true),
    data: z.record(z.string(), z.unknown()).meta({ description: 'The changed fields with their new values.' }),
  }),
})

export const updateVideo = route({
  put: ['/video/:videoId'],
  operationId: 'updateVideoAsSystem',
  section: 'Videos',
  access: 'system',
  alternative: 'users call PATCH /v2/video/{video_id}',
  summary: 'Change a video',
  description: 'Changes only the fields that are sent.',
  params: z.object({ videoId: id('video') }),
  payload: videoChanges,
  synonyms,
  record: VideoResponse,
  isConditional: true,
  docs: { example: { video_title: 'Launch day', tags: ['launch'] } },
  response: updateResponse,
  publicNames: publicVideoNames,
  handle: ({ params, payload }, context) => changeVideo(params.videoId, payload, context),
})

export const deleteVideo = route({
  delete: ['/video/:videoId'],
  operationId: 'deleteVideo',
  section: 'Videos',
  access: 'system',
  alternative:
    'users delete a media with all its videos by DELETE /v2/media, or hide one video by PATCH /v2/video/{video_id} with enabled 0',
  summary: 'Delete one video of a media',
  description: 'Deletes one video and keeps its media. The only video of a media cannot be deleted.',
  params: z.object({ videoId: id('video') }),
  response: z.object({ id: schema.id('video'), result: z.literal(true), deleted: schema.timestamp('Time of deletion.') }),
  errorCodes: { only_publish: 'The video is the only one of its media. Delete the media instead.' },
  async handle({ params }, { services, call }) {
    const { deleteTime } = await services.videos.deleteVideo({ videoId: params.videoId }, call)
    return { id: params.videoId, result: true as const, deleted: formatOptionalTimestamp(required(deleteTime, 'time of deletion')) }
  },
})

export const listVideosOfOrganisation = route({
  get: ['/video/organisation/:organisationId{/:orderBy{/:orderType}}'],
  operationId: 'listOrganisationVideos',
  section: 'Videos',
  access: 'user',
  summary: 'List the videos of an organisation',
  description: 'Returns the videos of one organisation. Sort key and direction are part of the path.',
  params: z.object({
    organisationId: id('organisation'),
    orderBy: oneOf(orderWords, { description: 'Sort key.' }).default('date_created'),
    orderType: oneOf(['asc', 'desc'], { description: 'Sort direction.' }).default('desc'),
  }),
  query: z.object(pageQuery),
  response: z.array(VideoResponse),
  async handle({ params, query }, { caller, services, call, publicUrl, mediaUrl }) {
    const organisationId = requestedOrganisation(caller, params.organisationId)
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 100 }, async (page) => {
      const request = {
        organisationId,
        ...page,
        order: toVideoOrder(params.orderBy),
        descending: params.orderType === 'desc',
        state: toVideoState(undefined),
        ...{ tag: '', query: '', folderId: '' },
        count: false,
        encoded: false,
      }
      const { videos, nextPageToken } = await services.videos.listVideos(request, call)
      return { rows: videos, nextPageToken }
    })
    const path = `/video/organisation/${organisationId}/${params.orderBy}/${params.orderType}`
    const headers = nextLink(publicUrl, path, { ...query, nextCursor })
    return new Reply(
      rows.map((video) => ownVideoResponse(video, { publicUrl, mediaUrl })),
      { headers },
    )
  },
})

export const patchVideo = route({
  patch: ['/video/:videoId'],
  operationId: 'updateVideo',
  section: 'Videos',
  access: 'user',
  resource: 'video::put',
  summary: 'Change a video of your organisation',
  description: 'Works like `PUT /video/{video_id}` and also accepts keys of users for videos of their own organisation.',
  params: z.object({ videoId: id('video') }),
  payload: videoChanges,
  synonyms,
  record: VideoResponse,
  isConditional: true,
  docs: { example: { video_title: 'Launch day', tags: ['launch'] } },
  response: updateResponse,
  publicNames: publicVideoNames,
  handle: ({ params, payload }, context) => changeVideo(params.videoId, payload, context),
})

export const createVideoToken = route({
  post: ['/video/:videoId/token'],
  operationId: 'createVideoToken',
  section: 'Videos',
  access: 'user',
  summary: 'Sign a token for a protected video',
  description: 'Returns a token that lets a viewer load the files of a protected video until it expires.',
  params: z.object({ videoId: id('video') }),
  payload: z.strictObject({
    expires_in: tokenLifetime,
    ip: viewerAddress,
  }),
  status: 201,
  response: z.object({
    token: schema.text('The token. It is a secret and is safe in a URL path.', 'AbC3…'),
    expires: schema.timestamp('Time from which the token is rejected.'),
  }),
  publicNames: { expires_in_seconds: 'expires_in', address: 'ip' },
  async handle({ params, payload }, { services, call }) {
    const request = { videoId: params.videoId, expiresInSeconds: payload.expires_in, address: payload.ip }
    const { token, expireTime } = await services.videos.createVideoToken(request, call)
    return { token, expires: formatOptionalTimestamp(required(expireTime, 'time of expiry')) }
  },
})

export const videoRoutes = [
  listVideos,
  getVideo,
  updateVideo,
  deleteVideo,
  listVideosOfOrganisation,
  uploadVideo,
  uploadVideoByScript,
  patchVideo,
  createVideoToken,
]

/**
 * Returns a video. `toResponse` maps all fields for its own organisation and for system keys, and
 * the public ones for everyone else.
 */
export async function findVideo(videoId: string, { caller, services, call }: Context, token = '') {
  const ownVideo = caller.kind === 'guest' ? undefined : await getOwnVideo()
  if (ownVideo) return { video: ownVideo, toResponse: ownVideoResponse }
  const { video } = await services.videos.findPublicVideo({ videoId, token }, call)
  return { video: required(video, 'video'), toResponse: guestVideoResponse }

  async function getOwnVideo(): Promise<Video | undefined> {
    try {
      return (await services.videos.getVideo({ videoId }, call)).video
    } catch (error) {
      if (isDomainError(error) && error.kind === 'not_found') return undefined
      throw error
    }
  }
}

async function changeVideo(videoId: string, changes: VideoChanges, { services, call, publicUrl, mediaUrl }: Context) {
  const { video: values, updateMask } = videoUpdate(videoId, changes)
  if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
  const response = await services.videos.updateVideo({ video: values, updateMask }, call)
  const video = required(response.video, 'video')
  const data = { ...changedFields(ownVideoResponse(video, { publicUrl, mediaUrl }), Object.keys(changes)) }
  // The record only shows whether addresses are restricted. The response to a change shows which.
  const security = changes.security?.allowed_ips && data.security ? { ...data.security, allowed_ips: video.allowedIps } : data.security
  return {
    video_id: videoId,
    status: { action: 'update_data' as const, success: true as const, data: security ? { ...data, security } : data },
  }
}

function toVideoOrder(word: (typeof orderWords)[number] | undefined): VideoOrder {
  return word === 'name' ? VideoOrder.VIDEO_ORDER_TITLE : VideoOrder.VIDEO_ORDER_CREATE_TIME
}
