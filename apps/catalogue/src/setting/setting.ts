/** The player settings that users set. The names are those of the columns, in camel case. */
export interface SettingFields {
  title: string
  allowSharing: boolean
  allowDownload: boolean
  /** kbit/s, as in the names of renditions. */
  lowestQualityVersion: number
  highestQualityVersion: number
  /** A JSON object, or empty. */
  rolls: string
  logoAssetId: string
  logoDestinationUrl: string
  captionsDefaultOn: boolean
  gaTrackerId: string
  gaTrackerDomain: string
  gaLibrary: string
  /** A JSON object, or empty. */
  monetization: string
  useHttpsEmbed: boolean
  showTitleBar: boolean
  sharingOpenLinkInNewWindow: boolean
  showOtherVideos: boolean
  isAutoPlay: boolean
  preBuffer: boolean
  showControls: boolean
  autohideControls: boolean
  showRss: boolean
  monetizationId: number | undefined
  embedWmode: string
  useJavascriptApi: boolean
  javascriptApiAllowedDomains: string
  /** Maximum number of devices that load a video with one personal token at the same time. Undefined without a limit. */
  maxSessions: number | undefined
}

/** A player settings profile. */
export interface Setting extends SettingFields {
  settingId: string
  organisationId: string
  passwordProtected: boolean
  createdByUserId: string
  lastModifiedByUserId: string
  createTime: Date
  updateTime: Date
}

export const DEFAULT_SETTING: SettingFields = {
  title: '',
  allowSharing: false,
  allowDownload: false,
  lowestQualityVersion: 100,
  highestQualityVersion: 1_200,
  rolls: '',
  logoAssetId: '',
  logoDestinationUrl: '',
  captionsDefaultOn: false,
  gaTrackerId: '',
  gaTrackerDomain: '',
  gaLibrary: 'legacy',
  monetization: '',
  useHttpsEmbed: true,
  showTitleBar: false,
  sharingOpenLinkInNewWindow: false,
  showOtherVideos: true,
  isAutoPlay: false,
  preBuffer: false,
  showControls: true,
  autohideControls: true,
  showRss: false,
  monetizationId: undefined,
  embedWmode: 'direct',
  useJavascriptApi: true,
  javascriptApiAllowedDomains: '',
  maxSessions: undefined,
}

/** Maps the names in masks, columns and the public API to fields, in a fixed order: `ga_library` is `gaLibrary`. */
export const SETTING_PATHS: ReadonlyMap<string, keyof SettingFields> = new Map(
  // `Object.keys` returns strings; the object has exactly these keys.
  (Object.keys(DEFAULT_SETTING) as (keyof SettingFields)[]).map((key) => [key.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), key]),
)
