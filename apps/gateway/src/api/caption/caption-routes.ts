import { plainText, writeTtml, writeVtt } from '@vitascope/captions'
import { invalid } from '@vitascope/errors'
import { Caption, type CaptionLine } from '@vitascope/proto/catalogue/v1/caption'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { id, idField, language, oneOf, text } from '../../server/schema/fields.ts'
import { locationHeader, schema } from '../../server/schema/response-format.ts'
import { CaptionLineResponse, captionResponse } from './caption-response.ts'
import { checkSource, sourceFields, toCaptionSource, withSource } from './caption-source.ts'
import { readCaption, readStored } from './read-caption.ts'

const records = z.array(CaptionLineResponse).meta({ description: 'One record for each line, sorted by start time.' })
// biome-ignore lint/suspicious/noControlCharactersInRegex: the title is part of one line of an HLS playlist
const ONE_LINE = /^[^\u0000-\u001f\u007f\u2028\u2029]*$/
const fields = {
  title: text(
    255,
    { min: 1, pattern: ONE_LINE, message: 'must be one line' },
    { description: 'Title that viewers select. It is a single line.', example: 'English' },
  ),
  language: language({ description: 'Language code.' }),
  media_id: idField('media whose videos show the caption'),
}
const errorCodes = {
  caption_too_large: 'The file has more than 5 MiB or 20,000 lines, or a line has more than 10,000 characters (413).',
  caption_changed: 'Another request moved the captions. Try again.',
  captions_full: 'The media already has 100 captions.',
  captions_busy: 'Too many captions are being read. Retry after the time in `Retry-After`.',
}
const aboutFiles =
  'The byte order mark (UTF-8 or UTF-16) sets the charset. Without one, the file is read as UTF-8 if it is valid UTF-8, and ' +
  'otherwise as Windows-1252. `.sub` files are MicroDVD or SubViewer. The platform fetches the file before it responds. If that ' +
  'fails or the file has no captions, the error names `url`.'

/** Writers for every format except JSON. Each returns text. */
const WRITERS = {
  vtt: { type: 'text/vtt', write: (_: Caption, lines: readonly CaptionLine[]) => writeVtt(lines) },
  txt: { type: 'text/plain', write: (_: Caption, lines: readonly CaptionLine[]) => plainText(lines) },
  xml: { type: 'application/ttml+xml', write: (caption: Caption, lines: readonly CaptionLine[]) => writeTtml(lines, caption) },
}

export const getCaption = route({
  get: ['/caption/:id{.:format}'],
  operationId: 'getCaption',
  section: 'Captions',
  access: 'user',
  summary: 'Read a caption',
  description:
    'Returns the lines as records (`json`), WebVTT (`vtt`), text only (`txt`) or TTML (`xml`). `vtt` and `xml` include milliseconds.',
  params: z.object({
    id: id('caption'),
    format: oneOf(['json', 'vtt', 'txt', 'xml'], { description: 'Format of the response.' }).default('json'),
  }),
  response: records,
  contentTypes: ['application/json', ...Object.values(WRITERS).map(({ type }) => type)],
  async handle({ params }, context) {
    const { caption, lines } = await readCaption(params.id, context)
    if (params.format === 'json') return captionResponse(caption, lines)
    const { type, write } = WRITERS[params.format]
    return new Reply(write(caption, lines), { headers: { 'Content-Type': `${type}; charset=utf-8` } })
  },
})

export const createCaption = route({
  post: ['/caption'],
  operationId: 'createCaptions',
  section: 'Captions',
  access: 'user',
  cost: 'work',
  summary: 'Add captions to a media',
  description: `Adds a caption file to the media. Send the file as a \`url\`, or as \`content\` with its \`format\`. ${aboutFiles}`,
  payload: withSource(z.strictObject({ ...fields, ...sourceFields }), { required: true }),
  docs: {
    example: {
      media_id: '43',
      title: 'English',
      language: 'en-GB',
      format: 'srt',
      content: '1\n00:00:01,000 --> 00:00:03,000\nGood evening.\n',
    },
    responseHeaders: locationHeader('/v2/caption/45'),
  },
  response: records,
  errorCodes,
  validateRemotely: async ({ payload }, context) => checkSource(payload, context),
  async handle({ payload }, context) {
    checkSource(payload, context)
    const { title, language, media_id: mediaId } = payload
    const source = toCaptionSource(payload)
    const { captionId } = await context.services.captions.createCaption({ mediaId, title, language, source }, context.call)
    const { caption, lines } = await readStored(captionId, context)
    return new Reply(captionResponse(caption, lines), { headers: { Location: `/v2/caption/${captionId}` } })
  },
})

export const updateCaption = route({
  put: ['/caption/:captionId'],
  operationId: 'updateCaption',
  section: 'Captions',
  access: 'user',
  cost: 'work',
  summary: 'Change captions or replace their file',
  description: `Changes only the fields that are sent. Players that already show the old lines are not interrupted. ${aboutFiles}`,
  params: z.object({ captionId: id('caption') }),
  payload: withSource(
    z.strictObject({
      title: fields.title.optional(),
      language: fields.language.optional(),
      media_id: fields.media_id.optional(),
      ...sourceFields,
    }),
    { required: false },
  ),
  docs: { example: { title: 'English' } },
  response: records,
  errorCodes,
  validateRemotely: async ({ payload }, context) => checkSource(payload, context),
  async handle({ params, payload }, context) {
    checkSource(payload, context)
    const source = toCaptionSource(payload)
    const updateMask = (['title', 'language', 'media_id'] as const).filter((name) => payload[name] !== undefined)
    if (!source && updateMask.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    const changed = Caption.create({
      captionId: params.captionId,
      title: payload.title ?? '',
      language: payload.language ?? '',
      mediaId: payload.media_id ?? '',
    })
    await context.services.captions.updateCaption({ caption: changed, updateMask, source }, context.call)
    const { caption, lines } = await readStored(params.captionId, context)
    return captionResponse(caption, lines)
  },
})

export const deleteCaption = route({
  delete: ['/caption/:captionId'],
  operationId: 'deleteCaption',
  section: 'Captions',
  access: 'user',
  summary: 'Delete captions',
  description: 'Deletes the captions. The videos of the media no longer show them.',
  params: z.object({ captionId: id('caption') }),
  status: 202,
  response: z.object({
    status: z.literal('Accepted'),
    message: z.object({ caption_id: schema.id('caption'), deleted: z.literal(true) }),
  }),
  async handle({ params }, { services, call }) {
    await services.captions.deleteCaption({ captionId: params.captionId }, call)
    return { status: 'Accepted' as const, message: { caption_id: params.captionId, deleted: true as const } }
  },
})

export const captionRoutes = [getCaption, createCaption, updateCaption, deleteCaption]
