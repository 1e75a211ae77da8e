import { normaliseAddress } from '@vitascope/access'
import { invalid, isDomainError } from '@vitascope/errors'
import { type Video, VideoOrder } from '@vitascope/proto/catalogue/v1/video'
import { z } from 'zod'
import { id, idField, int, oneOf, organisationIdField, tag, text } from '../fields.ts'
import { namedOrganisation, queriedOrganisation } from '../organisation-rule.ts'
import { collectRows, nextLink, pageQuery, placeNames, placeOf, placeQuery } from '../pages.ts'
import { changedFields, given, shown, timestampText } from '../public-form.ts'
import { withPublicNames } from '../public-names.ts'
import { type Context, Reply, route } from '../route.ts'
import { settingView } from '../setting/setting-record.ts'
import { themeView } from '../theme/theme-record.ts'
import { uploadVideo, uploadVideoByScript } from './upload-routes.ts'
import { publicVideoNames, type VideoChanges, videoChanges, videoUpdate } from './video-changes.ts'
import { VideoRecord } from './video-record.ts'
import { stateOf, stateWords } from './video-status.ts'
import { guestVideoView, ownVideoView } from './video-view.ts'

const orderWords = ['date_created', 'name'] as const

export const listVideos = route({
  get: ['/video'],
  section: 'Videos',
  access: 'user',
  summary: 'List videos',
  description:
    'A user sees its own organisation’s, the system all; `organisation_id`, `q`, `tag`, `status` and `folder_id` narrow, all together. ' +
    '`q` finds videos that have all of its words in title, media title, description, tags or captions, the best match first unless ' +
    '`sort_by` says otherwise; where none has them, a word that no video has is read as one of a title that differs by a letter ' +
    '(two in long words). Of more than 1,000 matches, the newest 1,000 are listed.',
  query: z.object({
    sort_by: oneOf(orderWords, { description: 'What orders the list: `date_created`, or with `q` the best match first.' }).optional(),
    sort_order: oneOf(['ascending', 'descending'], { description: 'The direction of `sort_by`.' }).default('ascending'),
    ...placeQuery,
    limit: int({ min: 1, max: 20 }, { description: 'Rows at most.' }).default(10),
    organisation_id: organisationIdField().optional(),
    status: oneOf(stateWords, { description: 'Only those in this state.' }).optional(),
    tag: tag({ description: 'Only those with this tag.' }).optional(),
    q: text(200, { min: 1 }, { description: 'Words to search for.', example: 'rocket launch' }).optional(),
    folder_id: idField('folder', { description: 'Only those in this folder.' }).optional(),
  }),
  answer: z.object({
    start: shown.int('As asked.', 1),
    total_num_of_records: shown.int(
      'All rows that the filters leave; with tag or folder_id, 10000 stands for 10,000 or more; with q, 1000 for 1,000 or more.',
      42,
    ),
    videos: z.array(VideoRecord),
  }),
  async handle({ query }, { caller, services, call, publicUrl }) {
    const request = {
      organisationId: queriedOrganisation(caller, query.organisation_id) ?? '',
      pageSize: query.limit,
      ...placeOf(query),
      order: query.sort_by === undefined && query.q !== undefined ? VideoOrder.VIDEO_ORDER_RELEVANCE : orderOf(query.sort_by),
      descending: query.sort_order === 'descending',
      state: stateOf(query.status),
      tag: query.tag ?? '',
      query: query.q ?? '',
      folderId: query.folder_id ?? '',
      count: true,
    }
    const { videos, totalSize, nextPageToken } = await withPublicNames(placeNames, services.videos.listVideos(request, call))
    const { start, cursor: _, limit, ...narrowed } = query
    const headers = nextLink(publicUrl, '/video', { start, limit, more: nextPageToken, query: narrowed })
    const body = { start, total_num_of_records: totalSize, videos: videos.map((video) => ownVideoView(video, publicUrl)) }
    return new Reply(body, { headers })
  },
})

export const getVideo = route({
  get: ['/video/:videoId'],
  section: 'Videos',
  access: 'public',
  summary: 'Read a video',
  description: '`description_private` is there for keys of its organisation and system keys; other keys see what a guest sees.',
  params: z.object({ videoId: id('video') }),
  query: z.object({
    player_settings: oneOf(['true', 'false'], { description: 'true adds the player settings profile and the theme that it has.' }).default(
      'false',
    ),
  }),
  answer: VideoRecord,
  refusals: { video_expired: 'it is past its expiry; `detail` is the message for viewers' },
  async handle({ params, query }, context) {
    const { video, view } = await findVideo(params.videoId, context)
    const record = view(video, context.publicUrl)
    if (query.player_settings === 'false') return record
    const { setting, theme } = await context.services.settings.findVideoSetting({ videoId: params.videoId }, context.call)
    return { ...record, player_settings: setting ? settingView(setting) : null, theme: theme ? themeView(theme) : null }
  },
})

const updateAnswer = z.object({
  video_id: shown.id('video'),
  status: z.object({
    action: z.literal('update_data'),
    success: z.literal(true),
    data: z.record(z.string(), z.unknown()).meta({ description: 'The fields that were sent, as the video record has them now.' }),
  }),
})

export const updateVideo = route({
  put: ['/video/:videoId'],
  section: 'Videos',
  access: 'system',
  summary: 'Change a video',
  description: 'Takes any of the fields; those left out stay as they are.',
  params: z.object({ videoId: id('video') }),
  payload: videoChanges,
  answer: updateAnswer,
  handle: ({ params, payload }, context) => changeVideo(params.videoId, payload, context),
})

export const deleteVideo = route({
  delete: ['/video/:videoId'],
  section: 'Videos',
  access: 'system',
  summary: 'Delete one publish of a media',
  params: z.object({ videoId: id('video') }),
  answer: z.object({ id: shown.id('video'), result: z.literal(true), deleted: shown.timestamp('When.') }),
  refusals: { only_publish: 'it is the only publish of its media: delete the media instead' },
  async handle({ params }, { services, call }) {
    const { deleteTime } = await services.videos.deleteVideo({ videoId: params.videoId }, call)
    return { id: params.videoId, result: true as const, deleted: timestampText(given(deleteTime, 'a time of deletion')) }
  },
})

export const listVideosOfOrganisation = route({
  get: ['/video/organisation/:organisationId{/:orderBy{/:orderType}}'],
  section: 'Videos',
  access: 'user',
  summary: 'List the videos of an organisation',
  params: z.object({
    organisationId: id('organisation'),
    orderBy: oneOf(orderWords, { description: 'What orders the list.' }).default('date_created'),
    orderType: oneOf(['asc', 'desc'], { description: 'The direction.' }).default('desc'),
  }),
  query: z.object(pageQuery),
  answer: z.array(VideoRecord),
  async handle({ params, query }, { caller, services, call, publicUrl }) {
    const organisationId = namedOrganisation(caller, params.organisationId)
    const { rows, more } = await collectRows({ ...query, part: 100 }, async (page) => {
      const request = {
        organisationId,
        ...page,
        order: orderOf(params.orderBy),
        descending: params.orderType === 'desc',
        state: stateOf(undefined),
        ...{ tag: '', query: '', folderId: '' },
        count: false,
      }
      const { videos, nextPageToken } = await services.videos.listVideos(request, call)
      return { rows: videos, nextPageToken }
    })
    const path = `/video/organisation/${organisationId}/${params.orderBy}/${params.orderType}`
    const headers = nextLink(publicUrl, path, { ...query, more })
    return new Reply(
      rows.map((video) => ownVideoView(video, publicUrl)),
      { headers },
    )
  },
})

export const patchVideo = route({
  patch: ['/video/:videoId'],
  section: 'Added',
  access: 'user',
  resource: 'video::put',
  summary: 'Change a video of your organisation',
  description: 'As `PUT /video/{video_id}`, for user keys too.',
  params: z.object({ videoId: id('video') }),
  payload: videoChanges,
  answer: updateAnswer,
  handle: ({ params, payload }, context) => changeVideo(params.videoId, payload, context),
})

export const createVideoToken = route({
  post: ['/video/:videoId/token'],
  section: 'Added',
  access: 'user',
  summary: 'Sign a token with which a protected video is watched',
  params: z.object({ videoId: id('video') }),
  payload: z.strictObject({
    expires_in: int({ min: 1, max: 86_400 }, { description: 'Seconds from now.', example: 3_600 }),
    ip: text(45, {}, { description: 'The only address that may use it; left out or empty, any.', example: '192.0.2.7' })
      .refine((address) => address === '' || normaliseAddress(address) !== undefined, 'must be an IPv4 or IPv6 address')
      .default(''),
  }),
  status: 201,
  answer: z.object({ token: shown.text('A secret, safe in a path.'), expires: shown.timestamp('From then on it is refused.') }),
  async handle({ params, payload }, { services, call }) {
    const request = { videoId: params.videoId, expiresInSeconds: payload.expires_in, address: payload.ip }
    const names = { expires_in_seconds: 'expires_in', address: 'ip' }
    const { token, expireTime } = await withPublicNames(names, services.videos.createVideoToken(request, call))
    return { token, expires: timestampText(given(expireTime, 'a time of expiry')) }
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

/** Its own organisation and the system see all of a video; everybody else, keys of other organisations too, what a guest sees. */
export async function findVideo(videoId: string, { caller, services, call }: Context) {
  const own = caller.kind === 'guest' ? undefined : await getOwnVideo()
  if (own) return { video: own, view: ownVideoView }
  const { video } = await services.videos.findPublicVideo({ videoId }, call)
  return { video: given(video, 'video'), view: guestVideoView }

  async function getOwnVideo(): Promise<Video | undefined> {
    try {
      return (await services.videos.getVideo({ videoId }, call)).video
    } catch (error) {
      if (isDomainError(error) && error.kind === 'not_found') return undefined
      throw error
    }
  }
}

async function changeVideo(videoId: string, sent: VideoChanges, { services, call, publicUrl }: Context) {
  const { video: values, updateMask } = videoUpdate(videoId, sent)
  if (updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
  const answered = await withPublicNames(publicVideoNames, services.videos.updateVideo({ video: values, updateMask }, call))
  const video = given(answered.video, 'video')
  const data = { ...changedFields(ownVideoView(video, publicUrl), Object.keys(sent)) }
  // The record tells only whether addresses are bound; who changes them is told which.
  const security = sent.security?.allowed_ips && data.security ? { ...data.security, allowed_ips: video.allowedIps } : data.security
  return {
    video_id: videoId,
    status: { action: 'update_data' as const, success: true as const, data: security ? { ...data, security } : data },
  }
}

function orderOf(word: (typeof orderWords)[number] | undefined): VideoOrder {
  return word === 'name' ? VideoOrder.VIDEO_ORDER_TITLE : VideoOrder.VIDEO_ORDER_CREATE_TIME
}
