import { z } from 'zod'
import { MetadataShape } from '../metadata/metadata-view.ts'
import { VideoOverlayRecord } from '../overlay/overlay-view.ts'
import { shown } from '../public-form.ts'
import { SettingRecord } from '../setting/setting-record.ts'
import { ThemeRecord } from '../theme/theme-record.ts'
import { VideoStatusShape } from './video-status.ts'
import { VideoUri } from './video-uri.ts'

const jsonOrNull = (description: string) =>
  z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: `${description}; null for none.` })

const text = shown.text
const noun = (name: string) => text(`Id of the ${name}; empty for none.`, '42')

/** Where a video was shot, in every answer that tells it. */
export const LocationRecord = z.object({
  country: text('Code or name.', 'NL'),
  city: text('Name.'),
  postcode: text('As written.'),
  latitude: shown.number('Degrees.', '52.37'),
  longitude: shown.number('Degrees.', '4.9'),
})

/** The video record, as the public API shows it everywhere. */
export const VideoRecord = z
  .object({
    video_id: shown.id('video (publish)'),
    media_id: shown.id('parent media'),
    organisation_id: shown.id('organisation'),
    video_title: text('Title of this publish.', 'Launch day'),
    media_title: text('Title of the media.', 'Launch day'),
    description: text('For viewers.'),
    description_private: text('For the organisation: not there for guests.').optional(),
    language: text('Language code, or empty.', 'en-GB'),
    category: text('Free text.'),
    published_width: shown.number('Pixels; as published, else of the source.', '1280'),
    published_height: shown.number('Pixels; as published, else of the source.', '720'),
    enabled: shown.flag('`"0"` hides it from everybody but its organisation.'),
    duration: shown.number('Seconds, at most 3 decimals.', '12.48'),
    age_rating: text('Free text.'),
    uri: VideoUri,
    sharing: z.object({
      url: text('The player page.'),
      text: text('Text for sharing.'),
      embed_within_social: shown.flag('Whether social sites may play it in place.'),
    }),
    content_expiry: z.object({
      time: z
        .string()
        .nullable()
        .meta({ description: 'UTC; from then on it is not found. null for never.', example: '2030-12-31 23:59:59' }),
      message: text('What viewers read afterwards.'),
    }),
    tags: z
      .array(z.string())
      .nullable()
      .meta({ description: 'null for none.', example: ['launch'] }),
    captions: z.object({
      data: z.array(z.object({ caption_id: shown.id('caption'), title: z.string(), language: z.string() })),
      show_on_load: text(
        'Which captions show at the start: `1` the first, a language code or a title those, `0` none; empty as the profile says.',
      ),
    }),
    overlays: z.array(VideoOverlayRecord).meta({ description: 'Those of its media that are not disabled, oldest first.' }),
    languages: z
      .array(z.object({ code: text('Language code.', 'en'), title: text('Its name.', 'English') }))
      .meta({ description: 'Of the sound.' }),
    hd: z.object({ allow: shown.flag('Offers high definition.'), auto: shown.flag('Starts with it.') }),
    javascript_api: jsonOrNull('For players'),
    location: LocationRecord.nullable().meta({ description: 'Where it was shot; null if unknown.' }),
    analytics: z.null(),
    events_triggered_by_click: jsonOrNull('For players'),
    presentation_id: z.string().nullable().meta({ description: 'The presentation beside it; null for none.' }),
    monetization: jsonOrNull('For players'),
    security: z.object({
      token_required_platform: shown.bool('True: its files are had with a token only.'),
      is_ip_restricted: shown.bool('True: its files are had from some addresses only.'),
    }),
    metadata: MetadataShape,
    creator_id: text('Who uploaded or published it.', '7'),
    last_modified_by_id: text('Who changed it last.', '7'),
    created_at: shown.timestamp('When it was created.'),
    last_modified_at: shown.timestamp('When people changed it last.'),
    setting_id: noun('player settings profile'),
    theme_id: noun('theme'),
    contact_form_id: noun('contact form'),
    player_settings: SettingRecord.nullable()
      .meta({ description: 'The player settings profile that it has, when asked for; null for none.' })
      .optional(),
    theme: ThemeRecord.nullable().meta({ description: 'The theme that it has, beside the profile; null for none.' }).optional(),
    status: VideoStatusShape,
  })
  .meta({ id: 'Video', description: 'A video (publish).' })
