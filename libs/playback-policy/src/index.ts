/** Policies as they are stored. */
export { buildPolicy, isOpen, type StoredPolicy } from './build-policy.ts'
/** Decisions about requests. */
export {
  type Decision,
  decide,
  type FiredRule,
  type PlaybackPolicy,
  type PlaybackRequest,
  type RefusalCode,
  type TokenClaims,
  type VerifiedToken,
} from './decide.ts'
/** Domains of pages that embed videos. */
export { type DomainPattern, isSameHost, parseDomainPattern, toDomain } from './domain.ts'
/** Pages that may embed the player. */
export { frameAncestors } from './frame-ancestors.ts'
/** Rules and their fields. */
export {
  type ConditionFields,
  compileRules,
  PLAYBACK_KINDS,
  type PlaybackKind,
  RULE_LIMITS,
  type Rule,
  type RuleFields,
} from './rules.ts'
/** Tokens of viewers. */
export { verifyToken } from './token.ts'
