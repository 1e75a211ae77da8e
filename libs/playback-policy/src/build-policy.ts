import { parseAddressRules } from '@vitascope/security'
import type { PlaybackPolicy } from './decide.ts'
import { compileRules, type RuleFields } from './rules.ts'

/** The stored parts of a policy. */
export interface StoredPolicy {
  tokenRequired: boolean
  /** Only the organisation of the video sees it. */
  isPrivate?: boolean
  /** The player settings profile of the video has a password. */
  passwordRequired: boolean
  /** IP addresses and CIDR ranges that may load files. Empty: all may. */
  allowedIps: readonly string[]
  expireTime: Date | undefined
  videoRules: readonly RuleFields[]
  organisationRules: readonly RuleFields[]
  deniesByDefault: boolean
}

/**
 * Prepares a stored policy for decisions. Throws if a part cannot be parsed. Only valid parts are stored, and an invalid
 * one must never grant access.
 */
export function buildPolicy(stored: StoredPolicy): PlaybackPolicy {
  const addresses = parseAddressRules(stored.allowedIps)
  const [video, organisation] = [compileRules(stored.videoRules), compileRules(stored.organisationRules)]
  if (addresses.errors || video.errors || organisation.errors) throw new Error('a stored rule of a playback policy cannot be parsed')
  return {
    expires: stored.expireTime,
    isPrivate: stored.isPrivate ?? false,
    tokenRequired: stored.tokenRequired || stored.isPrivate ? 'token' : stored.passwordRequired ? 'password' : undefined,
    allowed: addresses.rules,
    videoRules: video.rules,
    organisationRules: organisation.rules,
    allowsByDefault: !stored.deniesByDefault,
  }
}

/** Returns whether the policy admits everyone until the video expires, so that caches may share the files. */
export function isOpen({ tokenRequired, allowed, videoRules, organisationRules, allowsByDefault }: PlaybackPolicy): boolean {
  const denies = [...videoRules, ...organisationRules].some((rule) => !rule.allows && !rule.reportOnly)
  return tokenRequired === undefined && allowed.length === 0 && allowsByDefault && !denies
}
