import { DomainError } from '@vitascope/errors'
import { z } from 'zod'
import { route } from '../../server/route/route.ts'
import { id, oneOf } from '../../server/schema/fields.ts'
import { findVideo } from '../video/video-routes.ts'
import { type EmbedContent, frameCode, scriptCode } from './embed-code.ts'
import { frameQuery, positionQuery, slidesQuery } from './embed-fields.ts'
import { findEmbedded, type Picture, resolvePicture } from './find-embedded.ts'
import { frameSize } from './frame-size.ts'

const code = z
  .array(z.string())
  .length(1)
  .meta({ description: 'One HTML string, ready to be pasted into a page.', example: ['<iframe src="…"></iframe>'] })

const expired = { video_expired: 'The video has expired. `detail` is the message for viewers.' }

export const getEmbedCode = route({
  get: ['/embed/:id{/:type}'],
  section: 'Embed codes',
  access: 'public',
  summary: 'Read an embed code',
  description:
    'Returns the HTML that embeds a video or playlist in a page. Guests can read the codes of public videos. Keys can also read ' +
    'those of all videos of their organisation.',
  params: z.object({
    id: id('video or playlist'),
    type: oneOf(['js', 'iframe'], { description: '`js` is a script that creates the frame. `iframe` is the frame.' }).default('js'),
  }),
  query: z.object({ ...frameQuery, ...positionQuery, ...slidesQuery }),
  response: code,
  errorCodes: expired,
  async handle({ params, query }, context) {
    const { title, picture } = await findEmbedded(params.id, context)
    const presentation = params.type === 'js' && query.show_presentation === true
    const embedded = embed(params.id, title, presentation ? withSlidePanel(picture) : picture, query)
    if (params.type === 'iframe') return [frameCode(embedded, context.publicUrl)]
    return [scriptCode(embedded, { ...scriptOptions(query), presentation }, context.publicUrl)]
  },
})

export const getPresentationCode = route({
  get: ['/embed/presentation/:videoId'],
  section: 'Embed codes',
  access: 'public',
  summary: 'Read the embed code with slides',
  description: 'Returns the HTML that embeds a video with the slides of its presentation.',
  params: z.object({ videoId: id('video') }),
  query: z.object({ ...frameQuery, ...positionQuery }),
  response: code,
  errorCodes: { ...expired, presentation_not_found: 'The video has no presentation.' },
  async handle({ params, query }, context) {
    const { video } = await findVideo(params.videoId, context)
    if (video.presentationId === '') throw new DomainError('not_found', 'PRESENTATION_NOT_FOUND', 'this video has no presentation')
    const embedded = embed(params.videoId, video.title, withSlidePanel(resolvePicture(video)), query)
    return [scriptCode(embedded, { ...scriptOptions(query), presentation: true }, context.publicUrl)]
  },
})

export const embedRoutes = [getEmbedCode, getPresentationCode]

type FrameQuery = z.output<z.ZodObject<typeof frameQuery>>
type PositionQuery = z.output<z.ZodObject<typeof positionQuery>>

function embed(id: string, title: string, picture: Picture, { width, height, token }: FrameQuery): EmbedContent {
  return { id, title, size: frameSize({ width, height }, picture), token }
}

function scriptOptions({ element_id, referrer_url, player }: PositionQuery) {
  return { elementId: element_id, referrerUrl: referrer_url, player }
}

/** Returns the size with slides next to the video, at the same size. */
function withSlidePanel({ width, height }: Picture): Picture {
  return { width: 2 * width, height }
}
