import { asFlag, asObject, asText } from '../video/json-values.ts'
import { readPlayerSettings } from '../video/player-settings.ts'
import { readTheme } from '../video/theme.ts'
import type { VideoRecord } from '../video/video-record.ts'

/** A theme and a profile that are not stored yet. Without one of them, that of the video applies. */
export interface PreviewedLook {
  /** JSON of a theme as in the API. */
  theme?: unknown
  /** JSON of a player settings profile as in the API. */
  player_settings?: unknown
}

/** Returns the record as it is with the theme and the profile. */
export function withLook(record: VideoRecord, { theme, player_settings }: PreviewedLook): VideoRecord {
  return {
    ...record,
    ...(theme !== undefined && { theme: readTheme(theme), skin: asText(asObject(theme)['skin']) }),
    ...(player_settings !== undefined && {
      settings: readPlayerSettings(player_settings),
      // The record has a link only if the stored profile allows downloads.
      downloadLink: asFlag(asObject(player_settings)['allow_download']) ? record.downloadLink || record.mp4 : '',
    }),
  }
}
