import { type AddressRules, addressAllowed, type TokenVerdict } from '@vitascope/access'
import type { AddedRendition } from './added/added-renditions.ts'
import type { CaptionRule } from './captions/hls-captions.ts'

/** What delivery knows of a video or presentation: where its files are, and who may have them. */
export interface DeliveryRule {
  /** The video whose tokens open it; empty where there is none. */
  videoId: string
  /** Those of a video: the current version first, then those still served to viewers who have begun. */
  sets: readonly { version: string; prefix: string }[]
  tokenRequired: boolean
  allowed: AddressRules
  expires: Date | undefined
  captions: CaptionRule
  /** Renditions that were added to one of the sets. */
  added: readonly AddedRendition[]
}

/** Yes, with the prefix of the objects; or why not. */
export type Admission =
  | { admitted: true; prefix: string; open: boolean }
  | { admitted: false; reason: 'not_found' | 'token_required' | 'token_refused' | 'address_refused' }

/**
 * Decides over one request. The version must be one of the video's own, so that old addresses die when it moves; a token must be good
 * where one is sent, and must be there where the video wants one; the address must fit the rules of the video in either case.
 */
export function admit(
  rule: DeliveryRule,
  request: { version: string; token: TokenVerdict | undefined; address: string; now: Date },
): Admission {
  if (rule.expires && rule.expires <= request.now) return { admitted: false, reason: 'not_found' }
  const set = rule.sets.find(({ version }) => version === request.version)
  if (!set) return { admitted: false, reason: 'not_found' }
  if (request.token && !request.token.allowed) return { admitted: false, reason: 'token_refused' }
  if (rule.tokenRequired && !request.token) return { admitted: false, reason: 'token_required' }
  if (!addressAllowed(request.address, rule.allowed)) return { admitted: false, reason: 'address_refused' }
  return { admitted: true, prefix: set.prefix, open: !rule.tokenRequired && rule.allowed.length === 0 && !request.token }
}
