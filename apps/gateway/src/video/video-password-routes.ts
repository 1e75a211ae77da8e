import { createHash } from 'node:crypto'
import { z } from 'zod'
import { id, text } from '../fields.ts'
import { Reply, route } from '../route.ts'

/** Longer than any that people type. */
const longest = 1_000

export const checkVideoPassword = route({
  get: ['/video/:videoId/password/:password'],
  section: 'Videos',
  access: 'public',
  summary: 'Try a password of a video',
  description:
    'The password is that of the player settings profile that the video has. At most 10 tries a minute of an address at a video, and 100 ' +
    'of everybody; and 30 of an address at all videos. A right password opens no file: that is what tokens are for.',
  params: z.object({
    videoId: id('video'),
    password: text(longest, {}, { description: 'As typed, percent-encoded: never its hash. A secret.' }),
  }),
  answer: z
    .array(z.boolean())
    .length(1)
    .meta({ description: '`[true]` for the right password; `[false]` for a wrong one, and where there is none.' }),
  refusals: {
    passwords_busy: 'too many passwords are being checked or set: `Retry-After`',
    video_expired: 'it is past its expiry; `detail` is the message for viewers',
  },
  async handle({ params: { videoId, password } }, { services, call, takePasswordTry }) {
    await takePasswordTry(videoId)
    const sha1 = createHash('sha1').update(password).digest('hex')
    const { matches } = await services.settings.checkVideoPassword({ videoId, password: sha1 }, call)
    return new Reply([matches], { headers: { 'Cache-Control': 'no-store' } })
  },
})

export const videoPasswordRoutes = [checkVideoPassword]
