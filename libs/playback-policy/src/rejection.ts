/**
 * Stable codes of rejections, with the HTTP status of each: 401 for a token that is not valid, 403 for a request that is
 * not allowed, 404 for a video that is hidden or has expired.
 */
export const REJECTIONS = {
  not_found: 404,
  token_required: 403,
  password_required: 403,
  token_malformed: 401,
  token_wrong_algorithm: 401,
  token_unknown_key: 401,
  token_bad_signature: 401,
  token_expired: 401,
  token_not_yet_valid: 401,
  token_invalid_claim: 401,
  token_wrong_video: 401,
  token_wrong_address: 401,
  token_wrong_country: 401,
  token_wrong_domain: 401,
  token_wrong_height: 403,
  token_wrong_kind: 403,
  address_refused: 403,
  rule_refused: 403,
  too_many_sessions: 403,
  session_ended: 403,
} as const

export type RejectionCode = keyof typeof REJECTIONS
