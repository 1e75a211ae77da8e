import { asFlag, asNumber, asObject } from './json-values.ts'

/** Fields of the player settings profile that the player supports. */
export interface PlayerSettings {
  autoplay: boolean
  controls: boolean
  /** If false, the controls stay visible during playback. */
  autohide: boolean
  titleBar: boolean
  captionsOn: boolean
  sharing: boolean
  /** kbit/s, as in the names of renditions: `h264_1200`. */
  lowestQuality: number
  highestQuality: number
  passwordProtected: boolean
}

/** Reads the profile. Without a profile, all features are on except those that the owner must allow. */
export function readPlayerSettings(json: unknown): PlayerSettings {
  const profile = asObject(json)
  return {
    autoplay: asFlag(profile['is_auto_play']),
    controls: asFlag(profile['show_controls'], true),
    autohide: asFlag(profile['autohide_controls'], true),
    titleBar: asFlag(profile['show_title_bar'], true),
    captionsOn: asFlag(profile['captions_default_on']),
    sharing: asFlag(profile['allow_sharing']),
    lowestQuality: asNumber(profile['lowest_quality_version']),
    highestQuality: asNumber(profile['highest_quality_version']) || Number.POSITIVE_INFINITY,
    passwordProtected: asFlag(profile['password_protected']),
  }
}
