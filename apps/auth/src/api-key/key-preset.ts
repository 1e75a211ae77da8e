/** A permission that exists. */
export interface GrantableResource {
  name: string
  /** If false, an uploader cannot have it. */
  openToUsers: boolean
}

/** A named set of permissions. */
export type KeyPreset = 'upload' | 'playback' | 'read' | 'admin'

const UPLOAD = ['upload::get', 'upload::post', 'video::get', 'video::post', 'video::put', 'media::get', 'caption::post', 'job::get']
const PLAYBACK = [
  ...['video::get', 'playlist::get', 'caption::get', 'metadata::get', 'presentation::get', 'embed::get'],
  // Tokens, download URLs, explanations of decisions, and events of players.
  ...['video::post', 'download::post', 'security::post', 'analytics::post'],
]
/** Reads that return secrets, or remove what they return. */
const SENSITIVE_READS = new Set(['apikey::get', 'oauth::get', 'queue-job::get'])

/**
 * Returns the names of a preset's permissions among those that exist and that the user's type may have. The preset
 * `admin` has all permissions, also those of later versions, and is not a list.
 */
export function selectPreset(preset: Exclude<KeyPreset, 'admin'>, resources: readonly GrantableResource[], isUploader: boolean): string[] {
  const names = { upload: new Set(UPLOAD), playback: new Set(PLAYBACK) }
  const isIncluded = (name: string) => (preset === 'read' ? name.endsWith('::get') && !SENSITIVE_READS.has(name) : names[preset].has(name))
  return resources.filter(({ name, openToUsers }) => isIncluded(name) && (openToUsers || !isUploader)).map(({ name }) => name)
}
