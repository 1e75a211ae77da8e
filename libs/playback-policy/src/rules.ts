import type { FieldError } from '@vitascope/errors'
import { type AddressRules, parseAddressRules } from '@vitascope/security'
import { isCountryCode } from './country-codes.ts'
import { type DomainPattern, parseDomainPattern } from './domain.ts'
import { parseReferrerPattern, type ReferrerPattern } from './referrer.ts'

/**
 * What a viewer requests. `page` is the player page, `manifest` the master playlist and the playlists
 * below it, `download` the source and files that are saved.
 */
export const PLAYBACK_KINDS = ['page', 'manifest', 'segment', 'mp4', 'image', 'caption', 'slide', 'download'] as const
export type PlaybackKind = (typeof PLAYBACK_KINDS)[number]

/** Conditions of a rule as they are stored. All of them must be true. An absent or empty condition is always true. */
export interface ConditionFields {
  /** Domains of the page that embeds the player, such as `example.com` or `*.example.com`. */
  domain: readonly string[]
  /** URLs of the page. A final `*` matches any rest, such as in `https://example.com/courses/*`. */
  referrer: readonly string[]
  /** ISO 3166-1 codes of countries, such as `DE`. */
  country: readonly string[]
  /** Whether the country condition is true if the country is unknown. */
  unknownCountry?: boolean | undefined
  /** Addresses and networks. */
  cidr: readonly string[]
  /** Claims of the token. Each must have one of its values. */
  claim: readonly { name: string; values: readonly string[] }[]
  kind: readonly string[]
  /** The condition is true from this time on. */
  from?: Date | undefined
  /** The condition is true until this time, exclusively. */
  until?: Date | undefined
}

/** A rule as it is stored. */
export interface RuleFields {
  /** Name for explanations and reports. */
  name: string
  when?: ConditionFields | undefined
  allows: boolean
  /** Text for viewers that the rule denies. */
  message: string
  /** The rule decides nothing. It only counts the requests that it would deny. */
  reportOnly: boolean
}

/** A rule that requests are compared with. */
export interface Rule {
  name: string
  allows: boolean
  message: string
  reportOnly: boolean
  conditions: Conditions
}

export interface Conditions {
  domains: readonly DomainPattern[]
  referrers: readonly ReferrerPattern[]
  countries: ReadonlySet<string>
  unknownCountry: boolean
  addresses: AddressRules
  claims: readonly { name: string; values: ReadonlySet<string> }[]
  kinds: ReadonlySet<string>
  from: number
  until: number
}

/** Maximum numbers in one list of rules. */
export const RULE_LIMITS = { rules: 100, values: 100, nameLength: 100, messageLength: 500, claimLength: 100 } as const

/** Claims that restrict a token by themselves. A condition on one of them is never true. */
export const RESTRICTING_CLAIMS: ReadonlySet<string> = new Set([
  ...['sub', 'exp', 'nbf', 'iat', 'aud', 'ip', 'country', 'max_height', 'max_sessions', 'kinds'],
])

const KINDS: ReadonlySet<string> = new Set(PLAYBACK_KINDS)

/** By condition: functions that return the fault of one value, or undefined if the value is valid. */
export const VALUE_FAULTS = {
  domain: (text: string) => (parseDomainPattern(text) ? undefined : 'must be a domain such as example.com or *.example.com'),
  referrer: (text: string) => (parseReferrerPattern(text) ? undefined : 'must be an http or https URL, whose path may end with *'),
  country: (text: string) => (isCountryCode(text) ? undefined : 'must be a country code of ISO 3166-1, such as DE'),
  cidr: (text: string) => parseAddressRules([text]).errors?.[0]?.message,
} as const

/**
 * Compiles rules. Returns an error for each invalid field, named like `rules[2].when.cidr[0]`. The fields have the names
 * of the REST interface.
 */
export function compileRules(
  rules: readonly RuleFields[],
  field = 'rules',
): { rules: readonly Rule[]; errors?: never } | { errors: readonly FieldError[]; rules?: never } {
  if (rules.length > RULE_LIMITS.rules) return { errors: [{ field, message: `must have at most ${RULE_LIMITS.rules} rules` }] }
  const errors: FieldError[] = []
  const compiled = rules.map((rule, index) => compileRule(rule, `${field}[${index}]`, errors))
  return errors.length > 0 ? { errors } : { rules: compiled }
}

/**
 * Returns an error for each condition on a claim of RESTRICTING_CLAIMS. `compileRules` accepts these conditions, because
 * such rules may be stored.
 */
export function findRestrictingClaims(rules: readonly RuleFields[]): FieldError[] {
  return rules.flatMap(({ when }, index) =>
    (when?.claim ?? []).flatMap(({ name }) =>
      RESTRICTING_CLAIMS.has(name)
        ? [{ field: `rules[${index}].when.claim.${name}`, message: 'cannot be a condition: this claim restricts the token by itself' }]
        : [],
    ),
  )
}

function compileRule({ name, when, allows, message, reportOnly }: RuleFields, field: string, errors: FieldError[]): Rule {
  const report = (path: string, text: string) => errors.push({ field: `${field}.${path}`, message: text })
  if (name.length > RULE_LIMITS.nameLength) report('name', `must have at most ${RULE_LIMITS.nameLength} characters`)
  if (message.length > RULE_LIMITS.messageLength) report('message', `must have at most ${RULE_LIMITS.messageLength} characters`)
  if (allows && message !== '') report('message', 'must be empty for a rule that allows')
  if (allows && reportOnly) report('report_only', 'must be false for a rule that allows')
  return { name, allows, message, reportOnly, conditions: compileConditions(when, report) }
}

function compileConditions(when: ConditionFields | undefined, report: (path: string, text: string) => void): Conditions {
  const lists = { domain: when?.domain, referrer: when?.referrer, country: when?.country, cidr: when?.cidr, kind: when?.kind }
  for (const [name, values] of Object.entries(lists)) {
    if ((values?.length ?? 0) > RULE_LIMITS.values) report(`when.${name}`, `must have at most ${RULE_LIMITS.values} values`)
  }
  for (const [index, kind] of (when?.kind ?? []).entries())
    if (!KINDS.has(kind)) report(`when.kind[${index}]`, `must be one of ${PLAYBACK_KINDS.join(', ')}`)
  for (const name of ['domain', 'referrer', 'country', 'cidr'] as const) {
    for (const [index, text] of (when?.[name] ?? []).entries()) {
      const fault = VALUE_FAULTS[name](text)
      if (fault !== undefined) report(`when.${name}[${index}]`, fault)
    }
  }
  const countries = when?.country ?? []
  if (countries.length > 0 && when?.unknownCountry === undefined)
    report('when.unknown_country', 'must be true or false: it decides for viewers whose country is unknown')
  const [from, until] = [when?.from?.getTime() ?? Number.NEGATIVE_INFINITY, when?.until?.getTime() ?? Number.POSITIVE_INFINITY]
  if (from >= until) report('when.time.until', 'must be after `from`')
  return {
    domains: (when?.domain ?? []).flatMap((text) => parseDomainPattern(text) ?? []),
    referrers: (when?.referrer ?? []).flatMap((text) => parseReferrerPattern(text) ?? []),
    countries: new Set(countries),
    unknownCountry: when?.unknownCountry ?? false,
    addresses: parseAddressRules(when?.cidr ?? []).rules ?? [],
    claims: compileClaims(when?.claim ?? [], report),
    kinds: new Set(when?.kind ?? []),
    from,
    until,
  }
}

function compileClaims(claims: ConditionFields['claim'], report: (path: string, text: string) => void): Conditions['claims'] {
  if (claims.length > RULE_LIMITS.values) report('when.claim', `must have at most ${RULE_LIMITS.values} claims`)
  for (const { name, values } of claims) {
    const path = `when.claim.${name}`
    if (name === '' || name.length > RULE_LIMITS.claimLength)
      report('when.claim', `names must have 1 to ${RULE_LIMITS.claimLength} characters`)
    if (values.length === 0 || values.length > RULE_LIMITS.values) report(path, `must have 1 to ${RULE_LIMITS.values} values`)
    if (values.some((value) => value.length > RULE_LIMITS.claimLength))
      report(path, `values must have at most ${RULE_LIMITS.claimLength} characters`)
  }
  return claims.map(({ name, values }) => ({ name, values: new Set(values) }))
}
