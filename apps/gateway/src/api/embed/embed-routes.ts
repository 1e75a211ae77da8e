import { DomainError } from '@vitascope/errors'
import { z } from 'zod'
import { invalidField } from '../../server/payload/field-errors.ts'
import { route } from '../../server/route/route.ts'
import { id, oneOf } from '../../server/schema/fields.ts'
import { findVideo } from '../video/video-routes.ts'
import { type EmbedContent, facadeCode, frameCode, responsiveCode, scriptCode } from './embed-code.ts'
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
  operationId: 'getEmbedCode',
  section: 'Embed codes',
  access: 'public',
  summary: 'Read an embed code',
  description:
    'Returns the HTML that embeds a video or playlist in a page. Guests can read the codes of public videos. Keys can also read ' +
    'those of all videos of their organisation.',
  params: z.object({
    id: id('video or playlist'),
    type: oneOf(['js', 'iframe', 'responsive', 'facade'], {
      description:
        '`js` is a script that creates the frame. `iframe` is the frame. `responsive` is a frame that fills its container. `facade` ' +
        'shows the poster and a play button, and loads the player after a click.',
    }).default('js'),
  }),
  query: z.object({ ...frameQuery, ...positionQuery, ...slidesQuery }),
  response: code,
  errorCodes: expired,
  async handle({ params, query }, context) {
    const { title, picture } = await findEmbedded(params.id, context)
    const presentation = SCRIPT_TYPES.has(params.type) && query.show_presentation === true
    const isResponsive = RESPONSIVE_TYPES.has(params.type)
    if (isResponsive && query.height !== undefined) {
      throw invalidField('height', 'must be absent, because the height of this code follows from its width')
    }
    const size = isResponsive ? { ...query, width: query.width ?? '100%' } : query
    const embedded = embed(params.id, title, presentation ? withSlidePanel(picture) : picture, size)
    const options = { ...scriptOptions(query), presentation }
    if (params.type === 'iframe') return [frameCode(embedded, context.publicUrl)]
    if (params.type === 'responsive') return [responsiveCode(embedded, context.publicUrl)]
    if (params.type === 'facade') return [facadeCode(embedded, options, context.publicUrl)]
    return [scriptCode(embedded, options, context.publicUrl)]
  },
})

/** Types whose player is created by the script. */
const SCRIPT_TYPES: ReadonlySet<string> = new Set(['js', 'facade'])
/** Types without a fixed height. */
const RESPONSIVE_TYPES: ReadonlySet<string> = new Set(['responsive', 'facade'])

export const getPresentationCode = route({
  get: ['/embed/presentation/:videoId'],
  operationId: 'getPresentationEmbedCode',
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
type ContentQuery = FrameQuery & Pick<PositionQuery, 'player'>

function embed(id: string, title: string, picture: Picture, { width, height, token, player }: ContentQuery): EmbedContent {
  return { id, title, size: frameSize({ width, height }, picture), token, player }
}

function scriptOptions({ element_id, referrer_url }: PositionQuery) {
  return { elementId: element_id, referrerUrl: referrer_url }
}

/** Returns the size with slides next to the video, at the same size. */
function withSlidePanel({ width, height }: Picture): Picture {
  return { width: 2 * width, height }
}
