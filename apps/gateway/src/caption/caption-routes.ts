import { plainText, writeTtml, writeVtt } from '@vitascope/captions'
import { invalid } from '@vitascope/errors'
import { Caption, type CaptionLine } from '@vitascope/proto/catalogue/v1/caption'
import { z } from 'zod'
import { id, idField, language, oneOf, text } from '../fields.ts'
import { shown } from '../public-form.ts'
import { Reply, route } from '../route.ts'
import { checkSource, sourceFields, sourceOf, withSource } from './caption-source.ts'
import { CaptionLineRecord, captionView } from './caption-view.ts'
import { readCaption, readStored } from './read-caption.ts'

const records = z.array(CaptionLineRecord).meta({ description: 'A record for each line, in the order of their beginnings.' })
// biome-ignore lint/suspicious/noControlCharactersInRegex: it stands in a line of a playlist
const oneLine = /^[^\u0000-\u001f\u007f\u2028\u2029]*$/
const fields = {
  title: text(
    255,
    { min: 1, pattern: oneLine, message: 'must be one line' },
    { description: 'What viewers choose by: one line.', example: 'English' },
  ),
  language: language({ description: 'Language code.' }),
  media_id: idField('media whose videos show it'),
}
const refusals = {
  caption_too_large: 'the file has more than 5 MiB or 20,000 lines, or a line more than 10,000 characters: 413',
  captions_full: 'the media has 100 captions already',
  captions_busy: 'too many captions are being read just now: `Retry-After`',
}
const aboutFiles =
  'The charset is that of the byte order mark (UTF-8, UTF-16), else UTF-8 if it is that, else Windows-1252. `.sub` is MicroDVD or SubViewer. ' +
  'The file is fetched before the answer: `url` is what is wrong when it cannot be had, or has no captions in it.'

/** Every format but JSON, as text. */
const WRITERS = {
  vtt: { type: 'text/vtt', write: (_: Caption, lines: readonly CaptionLine[]) => writeVtt(lines) },
  txt: { type: 'text/plain', write: (_: Caption, lines: readonly CaptionLine[]) => plainText(lines) },
  xml: { type: 'application/ttml+xml', write: (caption: Caption, lines: readonly CaptionLine[]) => writeTtml(lines, caption) },
}

export const getCaption = route({
  get: ['/caption/:id{.:format}'],
  section: 'Captions',
  access: 'user',
  summary: 'Read a caption',
  description: '`json` has records; `vtt` is WebVTT, `txt` the words alone, `xml` TTML. `vtt` and `xml` have the milliseconds.',
  params: z.object({
    id: id('caption'),
    format: oneOf(['json', 'vtt', 'txt', 'xml'], { description: 'What it is written in.' }).default('json'),
  }),
  answer: records,
  types: ['application/json', ...Object.values(WRITERS).map(({ type }) => type)],
  async handle({ params }, context) {
    const { caption, lines } = await readCaption(params.id, context)
    if (params.format === 'json') return captionView(caption, lines)
    const { type, write } = WRITERS[params.format]
    return new Reply(write(caption, lines), { headers: { 'Content-Type': `${type}; charset=utf-8` } })
  },
})

export const createCaption = route({
  post: ['/caption'],
  section: 'Captions',
  access: 'user',
  cost: 'work',
  summary: 'Add captions to a media',
  description: `The file comes by \`url\`, or as \`content\` with its \`format\`. ${aboutFiles}`,
  payload: withSource(z.strictObject({ ...fields, ...sourceFields }), { required: true }),
  answer: records,
  refusals,
  judge: async ({ payload }, context) => checkSource(payload, context),
  async handle({ payload }, context) {
    checkSource(payload, context)
    const { title, language, media_id: mediaId } = payload
    const source = sourceOf(payload)
    const { captionId } = await context.services.captions.createCaption({ mediaId, title, language, source }, context.call)
    const { caption, lines } = await readStored(captionId, context)
    return captionView(caption, lines)
  },
})

export const updateCaption = route({
  put: ['/caption/:captionId'],
  section: 'Captions',
  access: 'user',
  cost: 'work',
  summary: 'Change captions, or replace their file',
  description: `Takes any of the fields; those left out stay as they are. Players that show the old lines are not disturbed. ${aboutFiles}`,
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
  answer: records,
  refusals,
  judge: async ({ payload }, context) => checkSource(payload, context),
  async handle({ params, payload }, context) {
    checkSource(payload, context)
    const source = sourceOf(payload)
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
    return captionView(caption, lines)
  },
})

export const deleteCaption = route({
  delete: ['/caption/:captionId'],
  section: 'Captions',
  access: 'user',
  summary: 'Delete captions',
  params: z.object({ captionId: id('caption') }),
  status: 202,
  answer: z.object({
    status: z.literal('Accepted'),
    message: z.object({ caption_id: shown.id('caption'), deleted: z.literal(true) }),
  }),
  async handle({ params }, { services, call }) {
    await services.captions.deleteCaption({ captionId: params.captionId }, call)
    return { status: 'Accepted' as const, message: { caption_id: params.captionId, deleted: true as const } }
  },
})

export const captionRoutes = [getCaption, createCaption, updateCaption, deleteCaption]
