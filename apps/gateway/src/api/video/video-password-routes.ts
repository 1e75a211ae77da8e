import { createHash } from 'node:crypto'
import { z } from 'zod'
import { Reply, route } from '../../server/route/route.ts'
import { id, text } from '../../server/schema/fields.ts'

/** Longer than any password that a person types. */
const maxLength = 1_000

export const checkVideoPassword = route({
  get: ['/video/:videoId/password/:password'],
  section: 'Videos',
  access: 'public',
  summary: 'Check a password of a video',
  description:
    'Compares the password with the one in the player settings profile of the video. For one video, an IP address may try 10 ' +
    'passwords a minute and all addresses together 100. For all videos, an IP address may try 30 a minute. A correct password does ' +
    'not open media files. Use a video token for that.',
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

export const videoPasswordRoutes = [checkVideoPassword]
