/** Policies as they are stored. */
export { buildPolicy, isOpen, type StoredPolicy } from './build-policy.ts'
/** Decisions about requests. */
export {
  DECIDING_PARTS,
  type Decision,
  decide,
  type FiredRule,
  type PlaybackPolicy,
  type PlaybackRequest,
  type TokenClaims,
  type TokenRejection,
  type VerifiedToken,
} from './decide.ts'
/** Domains of pages that embed videos. */
export { type DomainPattern, isSameHost, parseDomainPattern, toDomain } from './domain.ts'
/** Pages that may embed the player. */
export { frameAncestors, intersectFrameAncestors } from './frame-ancestors.ts'
/** Keys of organisations. */
export { isTokenAlgorithm, type PlaybackKey, parsePublicKey, TOKEN_ALGORITHMS, type TokenAlgorithm } from './public-key.ts'
/** Codes of rejections. */
export { REJECTIONS, type RejectionCode } from './rejection.ts'
/** Rules and their fields. */
export {
  type ConditionFields,
  compileRules,
  findRestrictingClaims,
  PLAYBACK_KINDS,
  type PlaybackKind,
  RULE_LIMITS,
  type Rule,
  type RuleFields,
  VALUE_FAULTS,
} from './rules.ts'
/** Tokens of viewers. */
export { isTokenText, type TokenRequest, type TokenVerification, type VerifyingKeys, verifyToken } from './token.ts'
