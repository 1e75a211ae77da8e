import { type EmbedApiSettings, readDomains } from './embed-api-settings.ts'
import { asFlag, asNumber, asObject, asText } from './json-values.ts'

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
  rolls: Rolls
  embedApi: EmbedApiSettings
}

/**
 * Reads the profile. Without a profile, all features are on except those that the owner must allow.
 */
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
    rolls: readRolls(profile['rolls']),
    embedApi: {
      isEnabled: asFlag(profile['use_javascript_api'], true),
      domains: readDomains(asText(profile['javascript_api_allowed_domains'])),
    },
  }
}

/** Videos that are played before and after the video. */
export interface Rolls {
  pre: string[]
  post: string[]
  /** Shows the remaining seconds. */
  showTimer: boolean
}

/** Reads the rolls, which are JSON text. */
function readRolls(value: unknown): Rolls {
  const { pre, post, show_timer } = asObject(parseJson(asText(value)))
  const readIds = (ids: unknown) => (Array.isArray(ids) ? ids.map(String) : [])
  return { pre: readIds(pre), post: readIds(post), showTimer: asFlag(show_timer) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
