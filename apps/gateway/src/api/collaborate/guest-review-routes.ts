import { Clip } from '@vitascope/proto/collaboration/v1/clip'
import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { id, int, pathPart } from '../../server/schema/fields.ts'
import { formatOptionalTimestamp, formatSeconds, required, schema } from '../../server/schema/response-format.ts'
import { clipFields, toTimes } from './clip-fields.ts'
import { ClipResponse, clipResponse } from './collaborate-response.ts'

const section = 'Collaboration'
const entryParams = z.object({ collaborateId: id('collaboration entry') })
const token = pathPart({ description: 'Token of the link. It is a secret.', example: 'q9f2…' })
const clipParams = z.object({ token, clipId: id('clip') })
const errorCodes = { review_not_found: 'The link has ended, or its token is wrong.' }
const DAY_SECONDS = 86_400

export const setGuestLink = route({
  put: ['/collaborate/item/:collaborateId/link'],
  operationId: 'setGuestLink',
  section,
  access: 'user',
  summary: 'Create the guest link of a collaboration entry',
  description: `Returns a link with which a person without a user watches the video, reads the clips of this entry, adds clips and deletes
them. An earlier link of the entry ends. Only a hash of the token is stored, so the link cannot be read later.`,
  params: entryParams,
  payload: z.strictObject({
    expires_in: int(
      { min: 60, max: 90 * DAY_SECONDS },
      { description: 'Seconds until the link ends, from a minute to 90 days. Default: 14 days.', example: 7 * DAY_SECONDS },
    ).default(14 * DAY_SECONDS),
  }),
  payloadOptional: true,
  docs: { example: { expires_in: 604_800 } },
  publicNames: { expires_in_seconds: 'expires_in' },
  response: z.object({
    updated: schema.id('collaboration entry'),
    url: schema.text('Address of the page for the guest. It is a secret.', 'https://videos.example.org/console/review#q9f2…'),
    token: schema.text('The token of the link. It is a secret.', 'q9f2…'),
    expires: schema.timestamp('Time from which the link is rejected.'),
  }),
  async handle({ params, payload }, { services, call, publicUrl }) {
    const request = { collaborationId: params.collaborateId, expiresInSeconds: payload.expires_in }
    const { token, expireTime } = await services.guestReviews.setGuestLink(request, call)
    const expires = formatOptionalTimestamp(required(expireTime, 'time of expiry'))
    // A fragment is not sent to servers, so the token is in no access log.
    return { updated: params.collaborateId, url: `${publicUrl}/console/review#${token}`, token, expires }
  },
})

export const deleteGuestLink = route({
  delete: ['/collaborate/item/:collaborateId/link'],
  operationId: 'deleteGuestLink',
  section,
  access: 'user',
  summary: 'End the guest link of a collaboration entry',
  description:
    'The link is rejected from now on. The entry and its clips remain. Playback that has started may continue for up to 4 hours.',
  params: entryParams,
  response: z.object({ deleted: schema.id('collaboration entry') }),
  async handle({ params: { collaborateId } }, { services, call }) {
    await services.guestReviews.deleteGuestLink({ collaborationId: collaborateId }, call)
    return { deleted: collaborateId }
  },
})

export const getGuestReview = route({
  get: ['/review/:token'],
  operationId: 'getGuestReview',
  section,
  access: 'public',
  summary: 'Read the review of a guest link',
  description: 'Returns the video and the clips of a guest link. The token takes the place of a key.',
  params: z.object({ token }),
  response: z.object({
    video_id: schema.id('video'),
    video_title: schema.text('Title of the video.', 'Launch day'),
    duration: schema.text('Duration of the video in seconds. Empty while it is unknown.', '12.48'),
    email: schema.text('Email address of the guest. Empty if the entry has none.', 'ann@example.org'),
    expires: schema.timestamp('Time from which the link is rejected.'),
    player_url: schema.text(
      'Address of the player page, with a token for the video that is valid for at most 4 hours.',
      'https://videos.example.org/player/42?token=…',
    ),
    clips: z.array(ClipResponse).meta({ description: 'Clips in order.' }),
  }),
  errorCodes,
  async handle({ params }, { services, call, publicUrl }) {
    const { entry, expireTime, videoTitle, durationSeconds, playbackToken } = await services.guestReviews.getGuestReview(params, call)
    const { videoId, email, clips } = required(entry, 'entry')
    // Views of reviewers are not counted.
    const query = new URLSearchParams({ events: '0', token: playbackToken })
    return {
      video_id: videoId,
      video_title: videoTitle,
      duration: durationSeconds === undefined ? '' : formatSeconds(durationSeconds),
      email,
      expires: formatOptionalTimestamp(required(expireTime, 'time of expiry')),
      player_url: `${publicUrl}/player/${videoId}?${query}`,
      clips: clips.map(clipResponse),
    }
  },
})

export const createGuestClip = route({
  post: ['/review/:token/clip'],
  operationId: 'createGuestClip',
  section,
  access: 'public',
  summary: 'Add a clip by a guest link',
  description: 'Adds a clip at the end of the entry of the link. An entry has at most 200 clips.',
  params: z.object({ token }),
  payload: clipFields.omit({ preview: true, resolved: true, type: true }),
  status: 201,
  response: z.object({ data: ClipResponse, id: schema.id('clip') }),
  errorCodes: { ...errorCodes, clips_full: 'The entry already has 200 clips.' },
  async handle({ params: { token }, payload }, { services, call }) {
    const clip = Clip.fromPartial({ comments: payload.comments, type: 'video', ...toTimes(payload) })
    const created = required((await services.guestReviews.createGuestClip({ token, clip }, call)).clip, 'clip')
    return { data: clipResponse(created), id: created.clipId }
  },
})

export const deleteGuestClip = route({
  delete: ['/review/:token/clip/:clipId'],
  operationId: 'deleteGuestClip',
  section,
  access: 'public',
  summary: 'Delete a clip by a guest link',
  description: 'Deletes a clip of the entry of the link. The later clips move up.',
  params: clipParams,
  response: z.object({ deleted: schema.id('clip'), original_data: ClipResponse.meta({ description: 'The clip before it was deleted.' }) }),
  errorCodes,
  async handle({ params }, { services, call }) {
    const clip = required((await services.guestReviews.deleteGuestClip(params, call)).clip, 'clip')
    return { deleted: clip.clipId, original_data: clipResponse(clip) }
  },
})

export const guestReviewRoutes = [setGuestLink, deleteGuestLink, getGuestReview, createGuestClip, deleteGuestClip]
