import { type AddressRules, isAddressAllowed, type TokenCheck } from '@vitascope/security'
import type { AddedRendition } from './added/added-renditions.ts'
import type { CaptionSettings } from './captions/hls-captions.ts'

/** The access rules of a video or presentation, and the location of its files. */
export interface PlaybackPolicy {
  /** The video whose tokens grant access; empty if there is none. */
  videoId: string
  /** For a video: the current version first, then earlier versions that are still served to running players. */
  sets: readonly { version: string; prefix: string }[]
  tokenRequired: boolean
  allowed: AddressRules
  expires: Date | undefined
  captions: CaptionSettings
  /** Renditions that were added to one of the sets. */
  added: readonly AddedRendition[]
}

/** The object prefix if access is granted, or else the reason for the rejection. */
export type Admission =
  | { admitted: true; prefix: string; open: boolean; expires: Date | undefined }
  | { admitted: false; reason: 'not_found' | 'token_required' | 'token_refused' | 'address_refused' }

/**
 * Decides whether a request is admitted. The version must be one of the video's sets, so that
 * rotated URLs stop working. A token must be valid if one is sent, and must be present if the video
 * requires one. The address must match the IP allowlist in any case.
 */
export function admit(
  policy: PlaybackPolicy,
  request: { version: string; token: TokenCheck | undefined; address: string; now: Date },
): Admission {
  if (policy.expires && policy.expires <= request.now) return { admitted: false, reason: 'not_found' }
  const set = policy.sets.find(({ version }) => version === request.version)
  if (!set) return { admitted: false, reason: 'not_found' }
  if (request.token && !request.token.allowed) return { admitted: false, reason: 'token_refused' }
  if (policy.tokenRequired && !request.token) return { admitted: false, reason: 'token_required' }
  if (!isAddressAllowed(request.address, policy.allowed)) return { admitted: false, reason: 'address_refused' }
  const open = !policy.tokenRequired && policy.allowed.length === 0 && !request.token
  return { admitted: true, prefix: set.prefix, open, expires: policy.expires }
}
