import { type AddressRules, isAddressAllowed, matchesAddress, type ParsedAddress, parseAddress } from '@vitascope/security'
import { type DomainPattern, matchesDomain, parsePageUrl } from './domain.ts'
import { matchesReferrer } from './referrer.ts'
import type { RejectionCode } from './rejection.ts'
import type { Conditions, PlaybackKind, Rule } from './rules.ts'

/** Everything that decides who may watch a video. */
export interface PlaybackPolicy {
  /** From this time on, nothing of the video may be loaded. */
  expires: Date | undefined
  /** Only the organisation of the video sees it, so that its page is shown to no one. */
  isPrivate: boolean
  /** Every request needs a token, because the video requires one or its profile has a password. */
  tokenRequired: 'token' | 'password' | undefined
  /** Only these addresses may load files. Pages are not restricted. Empty: all may. */
  allowed: AddressRules
  /** Rules of the video, and then those of its organisation. The first rule whose conditions are true decides. */
  videoRules: readonly Rule[]
  organisationRules: readonly Rule[]
  /** Decision if no rule decides. */
  allowsByDefault: boolean
}

export interface PlaybackRequest {
  kind: PlaybackKind
  /** Address of the viewer. */
  address: string
  /** URL of the page that requests or embeds the video; undefined if the browser does not send it. */
  referrer: string | undefined
  /** Domain of that page, see `toDomain`. */
  domain: string | undefined
  /**
   * True if the platform's own player page requests a file. The page was only shown if its rules allowed the page that
   * embeds it, so conditions on domains and referrers are true for rules that allow, and false for others.
   */
  isOwnPage: boolean
  /** ISO 3166-1 code; undefined if unknown. */
  country: string | undefined
  /** Height in pixels of the requested rendition; undefined for other files. */
  height: number | undefined
  now: Date
  /** The verified token of the request; undefined if it has none. */
  token: VerifiedToken | undefined
}

/** A token whose signature, video and time were verified, or the reason why it is rejected. */
export type VerifiedToken = { claims: TokenClaims; rejection?: never } | { rejection: TokenRejection; claims?: never }

export interface TokenRejection {
  code: RejectionCode
  /** Claim that is missing or not valid; absent if another part of the token is not valid. */
  claim?: string
}

/** Restrictions of a token, and other claims for the conditions of rules. */
export interface TokenClaims {
  /** Domains of pages, one of which must embed the video. */
  domains?: readonly DomainPattern[]
  address?: string
  country?: string
  maxHeight?: number
  kinds?: ReadonlySet<string>
  /** Identifies the token among those of its organisation. */
  tokenId?: string
  /** Maximum number of devices that may load files with the token at the same time. */
  maxSessions?: number
  /** The token was issued for the password of the video. It is not a personal token. */
  isByPassword?: boolean
  /** By name, the texts of claims that do not restrict the token: one text, or the first 100 texts of a list. */
  custom: ReadonlyMap<string, readonly string[]>
}

/** The rule that decided. `index` is its position in its list. */
export interface FiredRule {
  list: 'video' | 'organisation'
  index: number
  name: string
}

/** The part of a policy that decided, in the order in which the parts are tried. */
export const DECIDING_PARTS = ['visibility', 'expiry', 'token', 'password', 'addresses', 'rule', 'default'] as const
type DecidingPart = (typeof DECIDING_PARTS)[number]

export interface Decision {
  allowed: boolean
  decidedBy: DecidingPart
  /** Absent if the request is allowed. */
  code?: RejectionCode
  /** The rule that decided; present if `decidedBy` is `rule`. */
  rule?: FiredRule
  /** Text of that rule for viewers. */
  message?: string
  /**
   * Claim of the token because of which the request is denied: it is not valid for the request, or an allowing rule did
   * not decide without it, although its other conditions were true.
   */
  claim?: string
  /** Rules that only report, and would have denied the request before the decision. */
  reported: readonly FiredRule[]
}

/**
 * Decides whether a request may be answered. The order is: the visibility and the expiry, the token, the allowed addresses, the rules of
 * the video, the rules of the organisation, the default.
 */
export function decide(policy: PlaybackPolicy, request: PlaybackRequest): Decision {
  const rejection = findRejection(policy, request)
  return rejection ? { allowed: false, reported: [], ...rejection } : applyRules(policy, request)
}

/** Returns the rejection by another part of the policy than its rules. */
function findRejection(policy: PlaybackPolicy, request: PlaybackRequest): Pick<Decision, 'code' | 'claim' | 'decidedBy'> | undefined {
  const { token, kind, now } = request
  if (policy.isPrivate && kind === 'page') return { code: 'not_found', decidedBy: 'visibility' }
  if (policy.expires && policy.expires <= now) return { code: 'not_found', decidedBy: 'expiry' }
  if (token?.rejection) return { ...token.rejection, decidedBy: 'token' }
  const wrongClaim = token && findWrongClaim(token.claims, request)
  if (wrongClaim) return { ...wrongClaim, decidedBy: 'token' }
  // The page shows the password form, or the message for viewers without a token or in other networks.
  if (kind !== 'page') {
    if (policy.tokenRequired === 'token' && (!token || token.claims.isByPassword)) return { code: 'token_required', decidedBy: 'token' }
    if (policy.tokenRequired === 'password' && !token) return { code: 'password_required', decidedBy: 'password' }
    if (!isAddressAllowed(request.address, policy.allowed)) return { code: 'address_refused', decidedBy: 'addresses' }
  }
  return undefined
}

function findWrongClaim(claims: TokenClaims, request: PlaybackRequest): TokenRejection | undefined {
  const { domains, address, country, maxHeight, kinds } = claims
  if (address !== undefined && address !== request.address) return { code: 'token_wrong_address', claim: 'ip' }
  if (country !== undefined && country !== request.country) return { code: 'token_wrong_country', claim: 'country' }
  const { domain, isOwnPage } = request
  if (domains && !isOwnPage && !(domain !== undefined && domains.some((pattern) => matchesDomain(domain, pattern))))
    return { code: 'token_wrong_domain', claim: 'aud' }
  // The page is needed to play any kind of file.
  if (kinds && request.kind !== 'page' && !kinds.has(request.kind)) return { code: 'token_wrong_kind', claim: 'kinds' }
  if (maxHeight !== undefined && request.height !== undefined && request.height > maxHeight)
    return { code: 'token_wrong_height', claim: 'max_height' }
  return undefined
}

function applyRules(policy: PlaybackPolicy, request: PlaybackRequest): Decision {
  const reported: FiredRule[] = []
  let claim: string | undefined
  // Parsed once, because a list may have a hundred rules.
  const parsed = { address: parseAddress(request.address), page: parsePageUrl(request.referrer) }
  const lists = [
    ['video', policy.videoRules],
    ['organisation', policy.organisationRules],
  ] as const
  for (const [list, rules] of lists) {
    for (const [index, rule] of rules.entries()) {
      if (!matchesRequest(rule, request, parsed)) continue
      const missing = findMissingClaim(rule.conditions, request)
      if (missing !== undefined) {
        if (rule.allows) claim ??= missing
        continue
      }
      const fired = { list, index, name: rule.name }
      if (rule.reportOnly) reported.push(fired)
      else if (rule.allows) return { allowed: true, decidedBy: 'rule', rule: fired, reported }
      else return reject({ decidedBy: 'rule', rule: fired, message: rule.message })
    }
  }
  return policy.allowsByDefault ? { allowed: true, decidedBy: 'default', reported } : reject({ decidedBy: 'default' })

  function reject(by: Pick<Decision, 'decidedBy' | 'rule' | 'message'>): Decision {
    return { allowed: false, code: 'rule_refused', ...by, ...(claim !== undefined && { claim }), reported }
  }
}

interface ParsedRequest {
  address: ParsedAddress | undefined
  page: URL | undefined
}

/** Returns whether all conditions except those on claims are true. */
function matchesRequest({ conditions, allows }: Rule, request: PlaybackRequest, { address, page }: ParsedRequest): boolean {
  const { countries, unknownCountry, addresses, kinds, from, until } = conditions
  if (kinds.size > 0 && !kinds.has(request.kind)) return false
  const time = request.now.getTime()
  if (time < from || time >= until) return false
  if (countries.size > 0 && !(request.country === undefined ? unknownCountry : countries.has(request.country))) return false
  if (!(request.isOwnPage ? allows || !hasPage(conditions) : matchesPage(conditions, request.domain, page))) return false
  return addresses.length === 0 || matchesAddress(address, addresses)
}

function hasPage({ domains, referrers }: Conditions): boolean {
  return domains.length > 0 || referrers.length > 0
}

function matchesPage({ domains, referrers }: Conditions, domain: string | undefined, page: URL | undefined): boolean {
  if (domains.length > 0 && !(domain !== undefined && domains.some((pattern) => matchesDomain(domain, pattern)))) return false
  return referrers.length === 0 || (page !== undefined && referrers.some((pattern) => matchesReferrer(page, pattern)))
}

/** Returns the first claim of the conditions that the token does not have, or has with another value. */
function findMissingClaim({ claims }: Conditions, { token }: PlaybackRequest): string | undefined {
  return claims.find(({ name, values }) => !token?.claims?.custom.get(name)?.some((value) => values.has(value)))?.name
}
