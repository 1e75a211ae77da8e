import type { Location, Video } from '@vitascope/proto/catalogue/v1/video'
import { z } from 'zod'
import type { PublicUrls } from '../../server/route/route.ts'
import { formatTimestamp } from '../../server/schema/dates.ts'
import { formatFlag, formatNumber, formatOptionalTimestamp, formatSeconds, required, schema } from '../../server/schema/response-format.ts'
import { ViewerContactFormResponse } from '../contact-form/contact-form-response.ts'
import { VideoOverlayResponse, videoOverlayResponse } from '../overlay/overlay-response.ts'
import { SettingResponse } from '../setting/setting-response.ts'
import { VISIBILITIES } from '../shared/visibilities.ts'
import { ThemeResponse } from '../theme/theme-response.ts'
import { guestMetadataResponse, MetadataResponse, ownMetadataResponse } from './metadata-response.ts'
import { PosterResponse, posterResponse } from './poster-response.ts'
import { VideoStatusResponse, videoStatusResponse } from './video-status.ts'
import { VideoUriResponse, videoUriResponse } from './video-uri-response.ts'

const jsonOrNull = (description: string) =>
  z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: `${description}. null if there is none.` })

const text = schema.text
const noun = (name: string) => text(`Id of the ${name}. Empty if there is none.`, '42')

/** Where a video was shot, in every response that includes it. */
export const LocationResponse = z.object({
  country: text('Country code or name.', 'NL'),
  city: text('Name of the city.', 'Utrecht'),
  postcode: text('Postcode as it was sent.', '3511 AA'),
  latitude: schema.number('Latitude in degrees.', '52.37'),
  longitude: schema.number('Longitude in degrees.', '4.9'),
})

/** The video record in the public API. */
export const VideoResponse = z
  .object({
    video_id: schema.id('video'),
    media_id: schema.id('parent media'),
    organisation_id: schema.id('organisation'),
    video_title: text('Title of this video.', 'Launch day'),
    media_title: text('Title of the media.', 'Launch day'),
    description: text('Description that viewers see.', 'The launch, from the gate to orbit.'),
    description_private: text(
      'Internal description of the organisation. It is omitted for guests.',
      'Ask the press office before you share it.',
    ).optional(),
    language: text('Language code. Empty if it is not set.', 'en-GB'),
    category: text('Category of the video. Free text.', 'News'),
    published_width: schema.number('Width in pixels. Defaults to the width of the source.', '1280'),
    published_height: schema.number('Height in pixels. Defaults to the height of the source.', '720'),
    enabled: schema.flag('`"0"` hides the video from all callers outside its organisation.'),
    visibility: z.enum(VISIBILITIES).meta({
      description: '`unlisted` videos are not in playlists and feeds for guests. `private` ones are visible to their organisation only.',
    }),
    duration: schema.number('Duration in seconds with at most 3 decimals.', '12.48'),
    age_rating: text('Age rating of the video. Free text.', '12'),
    uri: VideoUriResponse,
    poster: PosterResponse.nullable()
      .meta({ description: 'Picture that was set for the video. null if there is none. It is omitted for guests.' })
      .optional(),
    sharing: z.object({
      url: text('URL of the player page.', 'https://video.example.org/player/42'),
      text: text('Text that is used when the video is shared.', 'Watch the launch'),
      embed_within_social: schema.flag('Allows social networks to play the video inside their pages.'),
    }),
    content_expiry: z.object({
      time: z
        .string()
        .nullable()
        .meta({ description: 'Expiry time in UTC. null if the video does not expire.', example: '2030-12-31 23:59:59' }),
      message: text('Message that viewers see after the expiry.', 'This video is no longer available.'),
    }),
    tags: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Tags of the video. null if there are none.', example: ['launch'] }),
    captions: z.object({
      data: z.array(
        z.object({
          caption_id: schema.id('caption'),
          title: text('Title of the captions.', 'English'),
          language: text('Language code.', 'en-GB'),
        }),
      ),
      show_on_load: text(
        'Captions that are shown at the start. `1` selects the first caption, a language code or a title selects that caption, and `0` ' +
          'selects none. If the value is empty, the player settings profile decides.',
        '',
      ),
    }),
    overlays: z.array(VideoOverlayResponse).meta({ description: 'Overlays of the media that are not disabled, oldest first.' }),
    languages: z
      .array(z.object({ code: text('Language code.', 'en'), title: text('Name of the language.', 'English') }))
      .meta({ description: 'Audio languages.' }),
    chapters: z
      .array(z.object({ title: text('Title of the chapter.', 'Questions'), start: schema.number('Start in seconds.', '95.5') }))
      .meta({ description: 'Chapters in the order of their starts. A chapter ends at the start of the next one.' }),
    hd: z.object({ allow: schema.flag('The player offers high definition.'), auto: schema.flag('The player starts in high definition.') }),
    javascript_api: jsonOrNull('Setting for players'),
    location: LocationResponse.nullable().meta({ description: 'Place where the video was recorded. null if it is unknown.' }),
    analytics: z.null(),
    events_triggered_by_click: jsonOrNull('Setting for players'),
    presentation_id: z
      .string()
      .nullable()
      .meta({ description: 'Id of the presentation that accompanies the video. null if there is none.', example: '51' }),
    monetization: jsonOrNull('Setting for players'),
    security: z.object({
      token_required_platform: schema.bool('`true`: media files require a token.'),
      is_ip_restricted: schema.bool('`true`: media files are served only to allowed IP addresses.'),
    }),
    metadata: MetadataResponse,
    creator_id: text('Id of the user who uploaded or published the video.', '7'),
    last_modified_by_id: text('Id of the user who last changed the video.', '7'),
    created_at: schema.timestamp('Time of creation.'),
    last_modified_at: schema.timestamp('Time of the last change by a user.'),
    setting_id: noun('player settings profile'),
    theme_id: noun('theme'),
    contact_form_id: noun('contact form'),
    player_settings: SettingResponse.nullable()
      .meta({ description: 'Player settings profile of the video, if it was requested. null if there is none.' })
      .optional(),
    theme: ThemeResponse.nullable().meta({ description: 'Theme of the video, next to its profile. null if there is none.' }).optional(),
    contact_form: ViewerContactFormResponse.nullable()
      .meta({ description: 'Contact form of the video, next to its profile. null if there is none.' })
      .optional(),
    status: VideoStatusResponse,
  })
  .meta({ id: 'Video', description: 'A video: one publication of a media.' })

type VideoBody = z.input<typeof VideoResponse>

/** Returns the video as guests see it. */
export function guestVideoResponse(video: Video, { publicUrl, mediaUrl }: PublicUrls): VideoBody {
  const set = video.renditions
  return {
    video_id: video.videoId,
    media_id: video.mediaId,
    organisation_id: video.organisationId,
    video_title: video.title,
    media_title: video.mediaTitle,
    description: video.description,
    language: video.language,
    category: video.category,
    published_width: formatNumber(video.publishedWidth ?? (set?.width || undefined)),
    published_height: formatNumber(video.publishedHeight ?? (set?.height || undefined)),
    enabled: formatFlag(video.enabled),
    // Empty from a catalogue of the previous release, during an upgrade.
    visibility: VISIBILITIES.find((known) => known === video.visibility) ?? 'public',
    duration: set ? formatSeconds(set.durationSeconds) : '',
    age_rating: video.ageRating,
    uri: videoUriResponse(video, mediaUrl),
    sharing: {
      url: `${publicUrl}/player/${video.videoId}`,
      text: video.sharing?.text ?? '',
      embed_within_social: formatFlag(video.sharing?.embedWithinSocial),
    },
    content_expiry: {
      time: video.contentExpiry?.expireTime ? formatTimestamp(video.contentExpiry.expireTime) : null,
      message: video.contentExpiry?.message ?? '',
    },
    tags: video.tags.length > 0 ? video.tags : null,
    captions: {
      data: video.captions.map(({ captionId, title, language }) => ({ caption_id: captionId, title, language })),
      show_on_load: video.captionsShowOnLoad,
    },
    overlays: video.overlays.map(videoOverlayResponse),
    languages: video.languages.map(({ code, title }) => ({ code, title })),
    chapters: video.chapters.map(({ title, startMs }) => ({ title, start: formatSeconds(startMs / 1_000) })),
    hd: { allow: formatFlag(video.hd?.allow), auto: formatFlag(video.hd?.auto) },
    javascript_api: parseStoredJson(video.javascriptApiJson),
    location: video.location ? locationResponse(video.location) : null,
    analytics: null,
    events_triggered_by_click: parseStoredJson(video.eventsTriggeredByClickJson),
    presentation_id: video.presentationId || null,
    monetization: parseStoredJson(video.monetizationJson),
    security: { token_required_platform: video.tokenRequired, is_ip_restricted: video.ipRestricted },
    metadata: guestMetadataResponse(video.metadata),
    creator_id: video.creatorId,
    last_modified_by_id: video.lastModifiedById,
    created_at: formatOptionalTimestamp(video.createTime),
    last_modified_at: formatOptionalTimestamp(video.updateTime),
    setting_id: video.settingId,
    theme_id: video.themeId,
    contact_form_id: video.contactFormId,
    status: videoStatusResponse(required(video.status, 'status of the video')),
  }
}

/** Returns the video as its own organisation and system keys see it. */
export function ownVideoResponse(video: Video, urls: PublicUrls): VideoBody {
  return {
    ...guestVideoResponse(video, urls),
    description_private: video.descriptionPrivate,
    poster: video.poster ? posterResponse(video.poster) : null,
    metadata: ownMetadataResponse(video.metadata),
  }
}

export function locationResponse(location: Location) {
  return {
    country: location.country,
    city: location.city,
    postcode: location.postcode,
    latitude: formatNumber(location.latitude),
    longitude: formatNumber(location.longitude),
  }
}

/** Parses stored JSON. Only objects serialised by this platform are stored. */
function parseStoredJson(text: string): Record<string, unknown> | null {
  return text === '' ? null : (JSON.parse(text) as Record<string, unknown>)
}
