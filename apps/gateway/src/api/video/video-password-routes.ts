import { createHash } from 'node:crypto'
import { invalid } from '@vitascope/errors'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { id, text } from '../../server/schema/fields.ts'
import { required, schema } from '../../server/schema/response-format.ts'

/** Longer than any password that a person types. */
const maxLength = 1_000

export const checkVideoPassword = route({
  get: ['/video/:videoId/password/:password'],
  operationId: 'checkVideoPassword',
  section: 'Videos',
  access: 'public',
  summary: 'Check a password of a video',
  description:
    'Compares the password with the one in the player settings profile of the video. For one video, an IP address may try 10 ' +
    'passwords a minute and all addresses together 100. For all videos, an IP address may try 30 a minute. A correct password does ' +
    'not open media files. `POST /v2/video/{video_id}/access` returns a token for that.',
  params: z.object({
    videoId: id('video'),
    password: text(maxLength, {}, { description: 'The password in plain text, percent-encoded. Do not send its hash. It is a secret.' }),
  }),
  response: z
    .array(z.boolean())
    .length(1)
    .meta({ description: '`[true]` for the correct password. `[false]` for a wrong password, or if the video has no password.' }),
  errorCodes: {
    passwords_busy: 'Too many passwords are being checked or set. Retry after the time in `Retry-After`.',
    video_expired: 'The video has expired. `detail` is the message for viewers.',
  },
  async handle({ params: { videoId, password } }, { services, call, countPasswordAttempt }) {
    await countPasswordAttempt(videoId)
    const sha1 = createHash('sha1').update(password).digest('hex')
    const { matches } = await services.settings.checkVideoPassword({ videoId, password: sha1 }, call)
    return new Reply([matches], { headers: { 'Cache-Control': 'no-store' } })
  },
})

export const openVideo = route({
  post: ['/video/:videoId/access'],
  operationId: 'createAccessToken',
  section: 'Videos',
  access: 'public',
  summary: 'Exchange a password for a token',
  description:
    'Returns a token for the files of a video whose player settings profile has a password. It is valid for 15 minutes, and `token` ' +
    'instead of `password` exchanges it for a new one. Attempts are limited as in `GET /v2/video/{video_id}/password/{password}`. ' +
    'Append `?token=` with the token to a URL of a file. The playlists then contain it.',
  params: z.object({ videoId: id('video') }),
  payload: z.strictObject({
    password: text(maxLength, { min: 1 }, { description: 'The password in plain text. It is a secret.' }).optional(),
    token: text(maxLength, { min: 1 }, { description: 'A token of an earlier response. It is a secret.' }).optional(),
  }),
  audited: false,
  docs: { example: { password: 'correct horse battery staple' } },
  response: z.object({
    token: schema.text('The token.', 'eyJhbGciOiJIUzI1NiJ9…'),
    expires: schema.int('Time from which the token is invalid, in seconds since 1970.', 1_900_000_000),
  }),
  errorCodes: {
    no_password: 'The video has no password. Its files need no token for that reason.',
    password_wrong: 'The password is wrong, or the token is not valid for the current password.',
    passwords_busy: 'Too many passwords are being checked or set. Retry after the time in `Retry-After`.',
    video_expired: 'The video has expired. `detail` is the message for viewers.',
  },
  async handle({ params: { videoId }, payload: { password, token } }, { services, call, countPasswordAttempt }) {
    if ((password === undefined) === (token === undefined))
      throw invalid([{ field: 'password', message: 'is required unless `token` is sent, and not allowed together with it' }])
    if (password !== undefined) await countPasswordAttempt(videoId)
    const sha1 = password === undefined ? '' : createHash('sha1').update(password).digest('hex')
    const access = await services.settings.createAccessToken({ videoId, password: sha1, token: token ?? '' }, call)
    const expires = Math.floor(required(access.expireTime, 'expire_time').getTime() / 1_000)
    return new Reply({ token: access.token, expires }, { headers: { 'Cache-Control': 'no-store' } })
  },
})

export const videoPasswordRoutes = [checkVideoPassword, openVideo]
