import type { Payload } from '@vitascope/sdk'
import type { Profile } from './use-profiles.ts'

/** Switches of a profile, in the order of the form. */
export const SWITCHES = [
  ...(['show_controls', 'autohide_controls', 'show_title_bar', 'captions_default_on'] as const),
  ...(['is_auto_play', 'allow_sharing', 'allow_download', 'use_javascript_api'] as const),
] as const
type SwitchName = (typeof SWITCHES)[number]

/** Fields of the form. Numbers are texts, as the API returns them. */
export interface ProfileForm extends Record<SwitchName, boolean> {
  title: string
  lowest_quality_version: string
  highest_quality_version: string
  /** Empty: no limit. */
  max_sessions: string
  javascript_api_allowed_domains: string
  password_protected: boolean
  /** Empty: the stored password is kept. */
  password: string
}

/** A new profile, with the defaults of the API. */
export const NEW_PROFILE: ProfileForm = {
  ...{ title: '', lowest_quality_version: '100', highest_quality_version: '1200', max_sessions: '' },
  ...{ show_controls: true, autohide_controls: true, show_title_bar: false, captions_default_on: false },
  ...{ is_auto_play: false, allow_sharing: false, allow_download: false, use_javascript_api: true },
  ...{ javascript_api_allowed_domains: '', password_protected: false, password: '' },
}

export function toProfileForm(profile: Profile): ProfileForm {
  const { title, lowest_quality_version, highest_quality_version, max_sessions, javascript_api_allowed_domains } = profile
  const switches = Object.fromEntries(SWITCHES.map((name) => [name, profile[name] === '1'])) as Record<SwitchName, boolean>
  return {
    ...{ title, lowest_quality_version, highest_quality_version, max_sessions, javascript_api_allowed_domains },
    ...switches,
    password_protected: profile.password_protected === '1',
    password: '',
  }
}

/** Returns the fields of a request for the changed fields of the form. */
export async function toProfilePayload(changes: Partial<ProfileForm>): Promise<Payload<'updateSetting'>> {
  const { lowest_quality_version, highest_quality_version, max_sessions, password, ...same } = changes
  return {
    ...same,
    ...(lowest_quality_version !== undefined && { lowest_quality_version: Number(lowest_quality_version) }),
    ...(highest_quality_version !== undefined && { highest_quality_version: Number(highest_quality_version) }),
    ...(max_sessions !== undefined && { max_sessions: max_sessions === '' ? null : Number(max_sessions) }),
    ...(password && { password_protected: true, password: await hashPassword(password) }),
  }
}

/** Returns the fields that the player reads, for the preview. */
export function toPreview(form: ProfileForm): object {
  return Object.fromEntries(SWITCHES.map((name) => [name, form[name] ? '1' : '0']))
}

/** True if the browser can hash passwords, which it does only on https pages. */
export const canHash = typeof crypto.subtle?.digest === 'function'

/** The API accepts the SHA-1 of a password. It stores a slow hash of that value. */
async function hashPassword(password: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(password))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
