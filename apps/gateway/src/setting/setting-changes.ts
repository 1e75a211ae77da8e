import { Setting } from '@vitascope/proto/catalogue/v1/setting'
import { z } from 'zod'
import { clearable, flag, idField, int, jsonObject, list, object, oneOf, text } from '../fields.ts'
import { webAddress } from '../web-address.ts'

const onOff = (description: string, byDefault: 0 | 1) => flag({ description: `${description} ${byDefault} unless said.` }).optional()
const legacy = (description: string, byDefault: 0 | 1) => onOff(`${description} For older players.`, byDefault)
const kbits = (description: string) => int({ min: 100, max: 6_000 }, { description }).optional()
const rollIds = (description: string) => list(idField('video'), { max: 100 }, { description }).optional()

/** What POST and PUT of a profile take; no other field may be written. */
export const settingChanges = z.strictObject({
  title: text(50, {}, { description: 'Its title.', example: 'Newsroom' }).optional(),
  allow_sharing: onOff('Offers sharing.', 0),
  allow_download: onOff('Offers the largest MP4 for download.', 0),
  lowest_quality_version: kbits('kbit/s; 100 unless said, and not above the highest.'),
  highest_quality_version: kbits('kbit/s; 1200 unless said.'),
  rolls: clearable(
    object(
      z.strictObject({
        pre: rollIds('Before the video.'),
        post: rollIds('After it.'),
        show_timer: flag({ description: 'Shows how long they last.' }).optional(),
      }),
      { description: 'An object, or its JSON text; `""` or null for none.' },
    ),
  ).optional(),
  logo_asset_id: text(100, {}, { description: 'Internal asset id of the logo.' }).optional(),
  logo_destination_url: webAddress(
    2_000,
    { paths: false },
    { description: 'Where a click on the logo leads: http or https.', example: 'https://www.example.org/' },
  ).optional(),
  captions_default_on: onOff('Shows captions from the start.', 0),
  ga_tracker_id: text(
    100,
    { pattern: /^[\w.-]*$/, message: 'must be letters, digits, dots, hyphens and underscores' },
    { description: 'Of web analytics: letters, digits, `.`, `-`, `_`.', example: 'UA-12345-1' },
  ).optional(),
  ga_tracker_domain: text(
    255,
    { pattern: /^[\w.:-]*$/, message: 'must be a host name' },
    { description: 'Of web analytics: a host name.', example: 'example.org' },
  ).optional(),
  ga_library: oneOf(['legacy', 'universal'], { description: 'Of web analytics; `legacy` unless said.' }).optional(),
  password_protected: flag({ description: '0 removes the password; 1 needs one, sent or stored.' }).optional(),
  password: text(
    40,
    { pattern: /^([0-9a-f]{40})?$/, message: 'must be the lower-case hexadecimal SHA-1 of the password: 40 characters' },
    {
      description: 'The lower-case hexadecimal SHA-1 of the password, never the password itself; left out or empty, the stored one stays.',
      writeOnly: true,
    },
  ).optional(),
  monetization: jsonObject(10_000, {
    description: 'A monetization profile: an object, or its JSON text; `""` or null for none.',
  }).optional(),
  use_https_embed: onOff('Embeds by https.', 1),
  show_title_bar: legacy('Shows the title.', 0),
  sharing_open_link_in_new_window: legacy('Opens shared links in a window of their own.', 0),
  show_other_videos: legacy('Offers other videos at the end.', 1),
  is_auto_play: legacy('Plays at once.', 0),
  pre_buffer: legacy('Loads before it plays.', 0),
  show_controls: legacy('Shows the controls.', 1),
  autohide_controls: legacy('Hides the controls while it plays.', 1),
  show_rss: legacy('Offers the feed.', 0),
  monetization_id: clearable(int({ min: 0, max: Number.MAX_SAFE_INTEGER }, { description: '`""` or null for none.' })).optional(),
  embed_wmode: text(
    50,
    { pattern: /^[A-Za-z]*$/, message: 'must be a word of letters' },
    { description: 'For older players: a word; `direct` unless said.', example: 'direct' },
  ).optional(),
  use_javascript_api: legacy('Takes calls of the page.', 1),
  javascript_api_allowed_domains: text(2_000, {}, { description: 'For older players: whose pages may call.' }).optional(),
})

export type SettingChanges = z.output<typeof settingChanges>

/** The new values, and the names of those that were sent, which are the catalogue's own. */
export function settingUpdate(settingId: string, sent: SettingChanges): { setting: Setting; mask: string[] } {
  const setting = Setting.create({
    settingId,
    title: sent.title ?? '',
    allowSharing: sent.allow_sharing ?? false,
    allowDownload: sent.allow_download ?? false,
    lowestQualityVersion: sent.lowest_quality_version ?? 0,
    highestQualityVersion: sent.highest_quality_version ?? 0,
    rolls: sent.rolls ? JSON.stringify(sent.rolls) : '',
    logoAssetId: sent.logo_asset_id ?? '',
    logoDestinationUrl: sent.logo_destination_url ?? '',
    captionsDefaultOn: sent.captions_default_on ?? false,
    gaTrackerId: sent.ga_tracker_id ?? '',
    gaTrackerDomain: sent.ga_tracker_domain ?? '',
    gaLibrary: sent.ga_library ?? '',
    passwordProtected: sent.password_protected ?? false,
    password: sent.password ?? '',
    monetization: sent.monetization ?? '',
    useHttpsEmbed: sent.use_https_embed ?? false,
    showTitleBar: sent.show_title_bar ?? false,
    sharingOpenLinkInNewWindow: sent.sharing_open_link_in_new_window ?? false,
    showOtherVideos: sent.show_other_videos ?? false,
    isAutoPlay: sent.is_auto_play ?? false,
    preBuffer: sent.pre_buffer ?? false,
    showControls: sent.show_controls ?? false,
    autohideControls: sent.autohide_controls ?? false,
    showRss: sent.show_rss ?? false,
    monetizationId: sent.monetization_id ?? undefined,
    embedWmode: sent.embed_wmode ?? '',
    useJavascriptApi: sent.use_javascript_api ?? false,
    javascriptApiAllowedDomains: sent.javascript_api_allowed_domains ?? '',
  })
  return { setting, mask: Object.keys(sent) }
}
