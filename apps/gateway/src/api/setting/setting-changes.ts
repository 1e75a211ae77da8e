import { Setting } from '@vitascope/proto/catalogue/v1/setting'
import { z } from 'zod'
import { clearable, flag, idField, int, jsonObject, list, object, oneOf, text } from '../../server/schema/fields.ts'
import { webAddress } from '../../server/schema/web-address.ts'

const switchField = (description: string, defaultValue: 0 | 1) =>
  flag({ description: `${description} The default is ${defaultValue}.` }).optional()
const legacy = (description: string, defaultValue: 0 | 1) => switchField(`${description} Used by older players only.`, defaultValue)
const kbits = (description: string) => int({ min: 100, max: 6_000 }, { description }).optional()
const rollIds = (description: string) => list(idField('video'), { max: 100 }, { description }).optional()

/** Payload of POST and PUT of a profile. No other field is accepted. */
export const settingChanges = z.strictObject({
  title: text(50, {}, { description: 'Title of the profile.', example: 'Newsroom' }).optional(),
  allow_sharing: switchField('The player offers sharing.', 0),
  allow_download: switchField('The player offers the largest MP4 file for download.', 0),
  lowest_quality_version: kbits('Lowest rendition rate in kbit/s. The default is 100. It must not exceed the highest rate.'),
  highest_quality_version: kbits('Highest rendition rate in kbit/s. The default is 1200.'),
  rolls: clearable(
    object(
      z.strictObject({
        pre: rollIds('Videos that play before the video.'),
        post: rollIds('Videos that play after the video.'),
        show_timer: flag({ description: 'The player shows the duration of these videos.' }).optional(),
      }),
      { description: 'An object, or its JSON text. `""` or null removes the videos.' },
    ),
  ).optional(),
  logo_asset_id: text(100, {}, { description: 'Internal asset id of the logo.' }).optional(),
  logo_destination_url: webAddress(
    2_000,
    { paths: false },
    { description: 'http or https URL that a click on the logo opens.', example: 'https://www.example.org/' },
  ).optional(),
  captions_default_on: switchField('The player shows captions from the start.', 0),
  ga_tracker_id: text(
    100,
    { pattern: /^[\w.-]*$/, message: 'must be letters, digits, dots, hyphens and underscores' },
    { description: 'Tracker id for web analytics. It has letters, digits, `.`, `-` and `_`.', example: 'UA-12345-1' },
  ).optional(),
  ga_tracker_domain: text(
    255,
    { pattern: /^[\w.:-]*$/, message: 'must be a host name' },
    { description: 'Host name for web analytics.', example: 'example.org' },
  ).optional(),
  ga_library: oneOf(['legacy', 'universal'], { description: 'Library for web analytics. The default is `legacy`.' }).optional(),
  password_protected: flag({ description: '`0` removes the password. `1` requires a password, either sent or stored.' }).optional(),
  password: text(
    40,
    { pattern: /^([0-9a-f]{40})?$/, message: 'must be the lower-case hexadecimal SHA-1 of the password: 40 characters' },
    {
      description:
        'The lower-case hexadecimal SHA-1 of the password. Do not send the password itself. If it is omitted or empty, the stored ' +
        'password is kept.',
      writeOnly: true,
    },
  ).optional(),
  monetization: jsonObject(10_000, {
    description: 'A monetization profile: an object, or its JSON text. `""` or null removes it.',
  }).optional(),
  use_https_embed: switchField('Embed codes use https.', 1),
  show_title_bar: switchField('The player shows the title.', 0),
  sharing_open_link_in_new_window: legacy('Shared links open in a new window.', 0),
  show_other_videos: legacy('The player offers other videos at the end.', 1),
  is_auto_play: switchField('Playback starts automatically.', 0),
  pre_buffer: legacy('The player loads media before playback starts.', 0),
  show_controls: switchField('The player shows controls.', 1),
  autohide_controls: switchField('The player hides the controls during playback.', 1),
  show_rss: legacy('The player offers the RSS feed.', 0),
  max_sessions: clearable(
    int(
      { min: 1, max: 100_000 },
      {
        description:
          'Maximum number of devices that may load a video with one personal token at the same time. Viewers without a personal token are counted ' +
          'together. `""` or null removes the limit.',
      },
    ),
  ).optional(),
  monetization_id: clearable(
    int({ min: 0, max: Number.MAX_SAFE_INTEGER }, { description: 'Id for monetization. `""` or null clears it.' }),
  ).optional(),
  embed_wmode: text(
    50,
    { pattern: /^[A-Za-z]*$/, message: 'must be a word of letters' },
    { description: '`wmode` of older players, as one word. The default is `direct`.', example: 'direct' },
  ).optional(),
  use_javascript_api: switchField('Pages that embed the player may control it. If it is 0, only pages of the platform itself may.', 1),
  javascript_api_allowed_domains: text(
    2_000,
    {},
    {
      description:
        'Domains whose pages may control the player, such as `www.example.org` or `*.example.org`, separated by commas, spaces or lines. If it is empty, all pages that embed the player may. Pages of the platform itself always may.',
    },
  ).optional(),
})

export type SettingChanges = z.output<typeof settingChanges>

/**
 * Returns the new values and the names of the fields that were sent, which are the same in the
 * catalogue.
 */
export function settingUpdate(settingId: string, changes: SettingChanges): { setting: Setting; mask: string[] } {
  const setting = Setting.create({
    settingId,
    title: changes.title ?? '',
    allowSharing: changes.allow_sharing ?? false,
    allowDownload: changes.allow_download ?? false,
    lowestQualityVersion: changes.lowest_quality_version ?? 0,
    highestQualityVersion: changes.highest_quality_version ?? 0,
    rolls: changes.rolls ? JSON.stringify(changes.rolls) : '',
    logoAssetId: changes.logo_asset_id ?? '',
    logoDestinationUrl: changes.logo_destination_url ?? '',
    captionsDefaultOn: changes.captions_default_on ?? false,
    gaTrackerId: changes.ga_tracker_id ?? '',
    gaTrackerDomain: changes.ga_tracker_domain ?? '',
    gaLibrary: changes.ga_library ?? '',
    passwordProtected: changes.password_protected ?? false,
    password: changes.password ?? '',
    monetization: changes.monetization ?? '',
    useHttpsEmbed: changes.use_https_embed ?? false,
    showTitleBar: changes.show_title_bar ?? false,
    sharingOpenLinkInNewWindow: changes.sharing_open_link_in_new_window ?? false,
    showOtherVideos: changes.show_other_videos ?? false,
    isAutoPlay: changes.is_auto_play ?? false,
    preBuffer: changes.pre_buffer ?? false,
    showControls: changes.show_controls ?? false,
    autohideControls: changes.autohide_controls ?? false,
    showRss: changes.show_rss ?? false,
    monetizationId: changes.monetization_id ?? undefined,
    embedWmode: changes.embed_wmode ?? '',
    useJavascriptApi: changes.use_javascript_api ?? false,
    javascriptApiAllowedDomains: changes.javascript_api_allowed_domains ?? '',
    maxSessions: changes.max_sessions ?? undefined,
  })
  return { setting, mask: Object.keys(changes) }
}
