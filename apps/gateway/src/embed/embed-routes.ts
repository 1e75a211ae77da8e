import { DomainError } from '@vitascope/errors'
import { z } from 'zod'
import { id, oneOf } from '../fields.ts'
import { route } from '../route.ts'
import { findVideo } from '../video/video-routes.ts'
import { type Embedded, frameCode, scriptCode } from './embed-code.ts'
import { frameQuery, placeQuery, slidesQuery } from './embed-fields.ts'
import { findEmbedded, type Picture, pictureOf } from './find-embedded.ts'
import { frameSize } from './frame-size.ts'

const code = z
  .array(z.string())
  .length(1)
  .meta({ description: 'One HTML string, to be put into a page as it is.', example: ['<iframe src="…"></iframe>'] })

const expired = { video_expired: 'it is past its expiry; `detail` is the message for viewers' }

export const getEmbedCode = route({
  get: ['/embed/:id{/:type}'],
  section: 'Embed codes',
  access: 'public',
  summary: 'Get the code that puts a video or playlist into a page',
  description: 'Guests get the codes of public videos; keys also those of all videos of their organisation.',
  params: z.object({
    id: id('video or playlist'),
    type: oneOf(['js', 'iframe'], { description: '`js` is a script that makes the frame, `iframe` the frame itself.' }).default('js'),
  }),
  query: z.object({ ...frameQuery, ...placeQuery, ...slidesQuery }),
  answer: code,
  refusals: expired,
  async handle({ params, query }, context) {
    const { title, picture } = await findEmbedded(params.id, context)
    const presentation = params.type === 'js' && query.show_presentation === true
    const embedded = embed(params.id, title, presentation ? beside(picture) : picture, query)
    if (params.type === 'iframe') return [frameCode(embedded, context.publicUrl)]
    return [scriptCode(embedded, { ...scriptOptions(query), presentation }, context.publicUrl)]
  },
})

export const getPresentationCode = route({
  get: ['/embed/presentation/:videoId'],
  section: 'Embed codes',
  access: 'public',
  summary: 'Get the code that puts a video with the slides of its presentation into a page',
  description: 'Of a video that has a presentation.',
  params: z.object({ videoId: id('video') }),
  query: z.object({ ...frameQuery, ...placeQuery }),
  answer: code,
  refusals: { ...expired, presentation_not_found: 'the video has no presentation' },
  async handle({ params, query }, context) {
    const { video } = await findVideo(params.videoId, context)
    if (video.presentationId === '') throw new DomainError('not_found', 'PRESENTATION_NOT_FOUND', 'this video has no presentation')
    const embedded = embed(params.videoId, video.title, beside(pictureOf(video)), query)
    return [scriptCode(embedded, { ...scriptOptions(query), presentation: true }, context.publicUrl)]
  },
})

export const embedRoutes = [getEmbedCode, getPresentationCode]

type FrameQuery = z.output<z.ZodObject<typeof frameQuery>>
type PlaceQuery = z.output<z.ZodObject<typeof placeQuery>>

function embed(id: string, title: string, picture: Picture, { width, height, token }: FrameQuery): Embedded {
  return { id, title, size: frameSize({ width, height }, picture), token }
}

function scriptOptions({ element_id, referrer_url, player }: PlaceQuery) {
  return { elementId: element_id, referrerUrl: referrer_url, player }
}

/** Slides stand beside the video, as large as it is. */
function beside({ width, height }: Picture): Picture {
  return { width: 2 * width, height }
}
