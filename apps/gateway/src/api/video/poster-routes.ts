import { invalid } from '@vitascope/errors'
import type { SetPosterRequest } from '@vitascope/proto/catalogue/v1/poster'
import { z } from 'zod'
import { withPublicNames } from '../../server/route/public-names.ts'
import { Reply } from '../../server/route/reply.ts'
import { type Context, route } from '../../server/route/route.ts'
import { decimal, id } from '../../server/schema/fields.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { sourceAddress } from '../shared/validate-source-url.ts'
import { resolveSource, sourceNames } from '../upload/upload-link.ts'
import { PosterResponse, posterResponse } from './poster-response.ts'
import { videoUriResponse } from './video-uri-response.ts'

/** How long the response waits for the conversion, which takes about a second. */
const WAIT_SECONDS = 5
/** A week, the maximum time in a video. */
const MAX_SECONDS = 604_800

const response = z.object({
  video_id: schema.id('video'),
  poster: PosterResponse,
  poster_frame: schema.text('URL of the large JPEG still that the video shows now. Empty until it exists.', ''),
  thumbnail: schema.text('URL of the small JPEG still that the video shows now. Empty until it exists.', ''),
})

export const setPoster = route({
  put: ['/video/:videoId/poster'],
  operationId: 'setVideoPoster',
  section: 'Videos',
  access: 'user',
  cost: 'work',
  summary: 'Set the poster of a video',
  description:
    'Replaces `uri.poster_frame` and `uri.thumbnail` of the video by your own picture. Send a JPEG, PNG or WebP file as the body, with ' +
    'its content type and at most 10 MiB and 50 million pixels. Or send its `url`, or the `time` of a frame of the video. The picture ' +
    'is reduced to the sizes of the images that it replaces, its orientation is applied, and its metadata is removed. It can be set ' +
    'while the video is encoded, and neither the end of the encoding nor a new source changes it. The response is sent when the ' +
    'picture is converted, but at most after about 5 s. If `poster.status` is then still `processing`, read the video later. An ' +
    'invalid picture is reported for `image`, `url` or `time`, and the video keeps its images.',
  params: z.object({ videoId: id('video') }),
  payload: z.strictObject({
    url: sourceAddress('URL of the picture. It must be a publicly reachable http or https URL, or the `tempLink` of an upload.').optional(),
    time: decimal({ min: 0, max: MAX_SECONDS }, { description: 'Time in the video in seconds. It must be encoded already.' }).optional(),
  }),
  fileAdvice: 'send the picture itself as the body, with its content type',
  status: 202,
  docs: { example: { time: 12.5 } },
  response,
  errorCodes: {
    payload_too_large: 'The picture has more than 10 MiB (413).',
    video_not_ready: '`time` is sent, but the video is not encoded yet (409).',
    poster_failed: 'The picture could not be converted at the moment (503).',
    quota_bytes: 'The `bytes` quota of the organisation is too small for the file (413).',
  },
  publicNames: { ...sourceNames('url'), at_seconds: 'time' },
  async handle({ params: { videoId }, payload: { url, time } }, context) {
    if ((url === undefined) === (time === undefined))
      throw invalid([{ field: 'url', message: 'is required unless `time` is sent, and not allowed together with it' }])
    if (url === undefined) return savePoster(videoId, { $case: 'atSeconds', value: time ?? 0 }, context)
    const { sourceUrl } = await resolveSource('url', url, await findOrganisation(videoId, context), context)
    return savePoster(videoId, { $case: 'sourceUrl', value: sourceUrl }, context)
  },
  file: {
    contentTypes: ['image/jpeg', 'image/png', 'image/webp'],
    // Encoding checks the bytes and names the formats in its error.
    accepts: (contentType) => contentType.startsWith('image/'),
    storeAt: async ({ videoId }, context) => `/picture?organisation_id=${await findOrganisation(videoId, context)}`,
    handle: ({ params: { videoId }, uploadId }, context) => {
      const source = { $case: 'sourceUrl', value: `upload://${uploadId}/picture` } as const
      return withPublicNames({ source_url: 'image' }, savePoster(videoId, source, context))
    },
  },
})

export const deletePoster = route({
  delete: ['/video/:videoId/poster'],
  operationId: 'removeVideoPoster',
  section: 'Videos',
  access: 'user',
  resource: 'video::put',
  summary: 'Remove the poster of a video',
  description: 'Removes the picture that was set. The video shows the frame again that was selected when it was encoded.',
  params: z.object({ videoId: id('video') }),
  response: z.object({ video_id: schema.id('video'), deleted: z.literal(true) }),
  async handle({ params: { videoId } }, { services, call }) {
    await services.posters.deletePoster({ videoId }, call)
    return { video_id: videoId, deleted: true as const }
  },
})

export const posterRoutes = [setPoster, deletePoster]

/** Returns the organisation of a video of the caller. Throws VIDEO_NOT_FOUND for other videos. */
async function findOrganisation(videoId: string, { services, call }: Context): Promise<string> {
  return required((await services.videos.getVideo({ videoId }, call)).video, 'video').organisationId
}

async function savePoster(videoId: string, source: SetPosterRequest['source'], { services, call, mediaUrl }: Context): Promise<Reply> {
  await services.posters.setPoster({ videoId, source, waitSeconds: WAIT_SECONDS }, call)
  const video = required((await services.videos.getVideo({ videoId }, call)).video, 'video')
  const { poster_frame, thumbnail } = videoUriResponse(video, mediaUrl)
  const body = { video_id: videoId, poster: posterResponse(required(video.poster, 'picture')), poster_frame, thumbnail }
  return new Reply(body, { status: 202 })
}
