import { Overlay, VideoOverlay } from '@vitascope/proto/catalogue/v1/overlay'
import { z } from 'zod'
import { checked, field, reject } from '../../server/schema/field.ts'
import { clearable, flag, idOrNone, int, language, object, organisationIdField, text } from '../../server/schema/fields.ts'
import { webAddress } from '../../server/schema/web-address.ts'

/** A time `MM:SS`, parsed to seconds. */
const timeField = (description: string) =>
  field(
    (value) => {
      const [, mm, ss] = (typeof value === 'string' && /^(\d{1,3}):([0-5]\d)$/.exec(value)) || []
      return mm === undefined ? reject('must be a time such as 01:30, up to 999:59') : Number(mm) * 60 + Number(ss)
    },
    z.int().meta({ type: 'string', pattern: '^\\d{1,3}:[0-5]\\d$', description, example: '01:30' }),
  )

const times = checked(
  z.strictObject({ start: timeField('Start time.'), end: timeField('End time. It must not be before `start`.') }),
  ({ start = 0, end = start }: { start?: number; end?: number }) =>
    start <= end ? [] : [{ path: [], message: 'must not end before it starts' }],
)

/** Two empty texts, which is how an overlay without times is returned. */
const isEmptyRange = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).sort().join() === 'end,start' &&
  Object.values(value).every((text) => text === '')

const during = field(
  (value) => (value === '' || isEmptyRange(value) ? null : value),
  object(times, {
    description: 'Time range while the video plays. `MM` may exceed 59. null, `""` or two empty texts clear it.',
  }).nullable(),
)

const pixels = clearable(int({ min: 1, max: 8_192 }, { description: 'Size in pixels. `""` or null selects the original size.' }))

const title = text(255, { min: 1 }, { description: 'Title of the overlay.', example: 'Tickets' })

/** All optional fields. */
const optionalFields = {
  associated_with_media_id: idOrNone('media whose videos show the overlay').optional(),
  disabled: flag({ description: '`1` hides the overlay in players and lists.' }).optional(),
  show: object(
    z.strictObject({
      at_end: flag({ description: '`1` shows the overlay when the video has ended.' }).optional(),
      during: during.optional(),
    }),
    { description: 'Times at which the overlay is shown.' },
  ).optional(),
  description: text(1_000, {}, { description: 'Free text.' }).optional(),
  image_path: webAddress(2_048, { paths: true }, { description: 'A path, or an http or https URL.' }).optional(),
  link_text: text(255, {}, { description: 'Text of the link.' }).optional(),
  link_action: text(50, {}, { description: 'Action of a click, as a name that the player defines.' }).optional(),
  link_url: webAddress(
    2_048,
    { paths: false },
    { description: 'http or https URL of the link.', example: 'https://tickets.example.org/' },
  ).optional(),
  link_target: text(50, {}, { description: 'Window in which the link opens.', example: '_blank' }).optional(),
  link_javascript_code: text(5_000, {}, { description: 'Stored without changes. The player of this platform does not run it.' }).optional(),
  language: clearable(language({ description: 'Language code. `""` or null selects all languages.' })).optional(),
  width: pixels.optional(),
  height: pixels.optional(),
}

/** Payload of POST. */
export const newOverlay = z.strictObject({
  organisation_id: organisationIdField({
    description: 'Id of the organisation. System keys set it if the overlay has no media.',
  }).optional(),
  title,
  ...optionalFields,
})

/** Payload of PUT. */
export const overlayChanges = z.strictObject({ title: title.optional(), ...optionalFields })

type OverlayChanges = z.output<typeof overlayChanges>

export function overlayMessage(changes: OverlayChanges, ids: { overlayId?: string; organisationId?: string }): Overlay {
  return Overlay.create({
    organisationId: ids.organisationId ?? '',
    mediaId: changes.associated_with_media_id ?? '',
    disabled: changes.disabled ?? false,
    shown: VideoOverlay.create({
      overlayId: ids.overlayId ?? '',
      atEnd: changes.show?.at_end ?? false,
      startSeconds: changes.show?.during?.start,
      endSeconds: changes.show?.during?.end,
      title: changes.title ?? '',
      description: changes.description ?? '',
      imagePath: changes.image_path ?? '',
      linkText: changes.link_text ?? '',
      linkAction: changes.link_action ?? '',
      linkUrl: changes.link_url ?? '',
      linkTarget: changes.link_target ?? '',
      linkJavascriptCode: changes.link_javascript_code ?? '',
      language: changes.language ?? '',
      width: changes.width ?? undefined,
      height: changes.height ?? undefined,
    }),
  })
}

/** Returns the catalogue's names of the fields that were sent. */
export function overlayMask({ show, associated_with_media_id, ...fields }: OverlayChanges): string[] {
  return [...Object.keys(fields), ...(associated_with_media_id === undefined ? [] : ['media_id']), ...Object.keys(show ?? {})]
}

/** Public names of fields in the catalogue's errors. */
export const publicOverlayNames = { media_id: 'associated_with_media_id', during: 'show.during' }
