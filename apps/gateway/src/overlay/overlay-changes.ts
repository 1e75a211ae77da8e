import { Overlay, VideoOverlay } from '@vitascope/proto/catalogue/v1/overlay'
import { z } from 'zod'
import { checked, field, refuse } from '../field.ts'
import { clearable, flag, idOrNone, int, language, object, organisationIdField, text } from '../fields.ts'
import { webAddress } from '../web-address.ts'

/** `MM:SS` as seconds. */
const minutes = (description: string) =>
  field(
    (value) => {
      const [, mm, ss] = (typeof value === 'string' && /^(\d{1,3}):([0-5]\d)$/.exec(value)) || []
      return mm === undefined ? refuse('must be a time such as 01:30, up to 999:59') : Number(mm) * 60 + Number(ss)
    },
    z.int().meta({ type: 'string', pattern: '^\\d{1,3}:[0-5]\\d$', description, example: '01:30' }),
  )

const times = checked(
  z.strictObject({ start: minutes('From when.'), end: minutes('Until when: not before `start`.') }),
  ({ start = 0, end = start }: { start?: number; end?: number }) =>
    start <= end ? [] : [{ path: [], message: 'must not end before it starts' }],
)

/** As an overlay without them reads: two empty texts. */
const isNone = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).sort().join() === 'end,start' &&
  Object.values(value).every((t) => t === '')

const during = field(
  (value) => (value === '' || isNone(value) ? null : value),
  object(times, { description: 'While the video plays; `MM` may pass 59. null, `""` or two empty texts for not at all.' }).nullable(),
)

const pixels = clearable(int({ min: 1, max: 8_192 }, { description: 'Pixels; `""` or null for its own size.' }))

const title = text(255, { min: 1 }, { description: 'Its title.', example: 'Tickets' })

/** All that can be left out. */
const others = {
  associated_with_media_id: idOrNone('media whose videos show it').optional(),
  disabled: flag({ description: '1 shows it nowhere, and lists it nowhere.' }).optional(),
  show: object(
    z.strictObject({
      at_end: flag({ description: '1 shows it when the video has ended.' }).optional(),
      during: during.optional(),
    }),
    { description: 'When it is shown.' },
  ).optional(),
  description: text(1_000, {}, { description: 'Free text.' }).optional(),
  image_path: webAddress(2_048, { paths: true }, { description: 'A path, or an http or https address.' }).optional(),
  link_text: text(255, {}, { description: 'Free text.' }).optional(),
  link_action: text(50, {}, { description: 'What a click does, in words of the player’s.' }).optional(),
  link_url: webAddress(2_048, { paths: false }, { description: 'http or https.', example: 'https://tickets.example.org/' }).optional(),
  link_target: text(50, {}, { description: 'Where the link opens.', example: '_blank' }).optional(),
  link_javascript_code: text(5_000, {}, { description: 'Kept as it comes; the player of this platform never runs it.' }).optional(),
  language: clearable(language({ description: 'Language code; `""` or null for all.' })).optional(),
  width: pixels.optional(),
  height: pixels.optional(),
}

/** What POST takes. */
export const newOverlay = z.strictObject({
  organisation_id: organisationIdField({ description: 'For system keys, where no media is named.' }).optional(),
  title,
  ...others,
})

/** What PUT takes. */
export const overlayChanges = z.strictObject({ title: title.optional(), ...others })

type Sent = z.output<typeof overlayChanges>

export function overlayMessage(sent: Sent, ids: { overlayId?: string; organisationId?: string }): Overlay {
  return Overlay.create({
    organisationId: ids.organisationId ?? '',
    mediaId: sent.associated_with_media_id ?? '',
    disabled: sent.disabled ?? false,
    shown: VideoOverlay.create({
      overlayId: ids.overlayId ?? '',
      atEnd: sent.show?.at_end ?? false,
      startSeconds: sent.show?.during?.start,
      endSeconds: sent.show?.during?.end,
      title: sent.title ?? '',
      description: sent.description ?? '',
      imagePath: sent.image_path ?? '',
      linkText: sent.link_text ?? '',
      linkAction: sent.link_action ?? '',
      linkUrl: sent.link_url ?? '',
      linkTarget: sent.link_target ?? '',
      linkJavascriptCode: sent.link_javascript_code ?? '',
      language: sent.language ?? '',
      width: sent.width ?? undefined,
      height: sent.height ?? undefined,
    }),
  })
}

/** The names of what was sent, as the catalogue knows them. */
export function overlayMask({ show, associated_with_media_id, ...others }: Sent): string[] {
  return [...Object.keys(others), ...(associated_with_media_id === undefined ? [] : ['media_id']), ...Object.keys(show ?? {})]
}

/** For refusals of the catalogue. */
export const publicOverlayNames = { media_id: 'associated_with_media_id', during: 'show.during' }
