import { asFlag, asNumber, asObject } from './json-values.ts'

/** What the player honours of the player settings profile. */
export interface PlayerSettings {
  autoplay: boolean
  controls: boolean
  /** False keeps the controls on the picture while it plays. */
  autohide: boolean
  titleBar: boolean
  captionsOn: boolean
  sharing: boolean
  /** kbit/s, as in the names of the renditions: `h264_1200`. */
  lowestQuality: number
  highestQuality: number
  passwordProtected: boolean
}

/** A video without a profile has everything but what must be allowed. */
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
